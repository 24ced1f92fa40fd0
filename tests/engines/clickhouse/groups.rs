//! Rows without figures of hosts go without the columns of those, and each row is in the table as with all columns.

use hostint::engines::clickhouse::{COLUMNS, ClickHouse, RowGroup, append_rows};
use hostint::engines::http::HttpClient;
use hostint::engines::{Accepted, Engine, FedReport, Parcel, Trouble};
use hostint::model::{Arrival, Record, Report};
use hostint_testing::clickhouse::PLAIN;
use hostint_testing::clickhouse_rows::parcel;
use hostint_testing::http_server::{HttpServer, Reply, Request};
use hostint_testing::report_samples;

use super::troubles::{exception, good, inserts, is_question, ok, token};

const HOSTS: [&str; 4] = ["host-drop", "host-drop-sum", "host-hop", "queue"];

/// Samples of all kinds, each with its arrival.
fn samples() -> impl Iterator<Item = (Report, Option<Arrival>)> {
    let records = report_samples::all().into_iter();
    records.filter_map(|record| Some((record.report().ok()?, Some(record.arrival()?))))
}

fn rows<'a>(
    parcel: &Parcel,
    entries: impl Iterator<Item = &'a FedReport>,
    group: RowGroup,
) -> Vec<u8> {
    let mut rows = Vec::new();
    append_rows(parcel.run(), entries, &group.columns(), 0, &mut rows);
    rows
}

#[test]
fn only_rows_of_hosts_have_values_in_the_columns_of_hosts() {
    let of_hosts = COLUMNS.iter().filter(|column| column.is_of_hosts());
    let nothing = of_hosts.flat_map(|column| column.value.nothing());
    let nothing: Vec<u8> = nothing.copied().collect();
    let parcel = parcel(1, samples());
    let mut of_groups = 0;
    for group in RowGroup::ALL {
        for entry in group.entries(&parcel) {
            of_groups += 1;
            let kind = Record::new(&entry.report, entry.arrival).kind;
            let is_host = HOSTS.contains(&&*kind);
            assert_eq!(group == RowGroup::Hosts, is_host, "{kind}");
            let row = |group| rows(&parcel, std::iter::once(entry), group);
            let short = row(RowGroup::Measurements);
            let whole = row(RowGroup::Hosts);
            let is_empty = whole == [&short[..], &nothing].concat();
            assert_eq!(is_empty, !is_host, "{kind}: {entry:?}");
        }
    }
    assert_eq!(of_groups, parcel.len(), "each report is in one group");
}

/// Two packets, and what a host drops, forwards and queues.
fn mixed() -> Parcel {
    let of_kind = |kind: &str| {
        let found = samples().find(|(report, arrival)| Record::new(report, *arrival).kind == kind);
        found.unwrap_or_else(|| panic!("{kind}"))
    };
    parcel(
        1,
        ["host-drop", "latency", "queue", "latency", "host-hop"].map(of_kind),
    )
}

#[test]
fn each_group_of_a_parcel_is_delivered_once_and_counted_for_what_became_of_it() {
    let full = || exception(500, 252, "TOO_MANY_PARTS");
    let unreadable = || exception(400, 33, "CANNOT_READ_ALL_DATA");
    // A sentence; the answers to INSERTs; the groups that were sent; and how many of two packets and three of hosts are refused.
    let (packets, hosts) = (RowGroup::Measurements, RowGroup::Hosts);
    let cases = [
        ("all well", vec![], vec![packets, hosts], 0),
        (
            "the second waits, and the first is not sent again",
            vec![ok(), full(), Reply::Close],
            vec![packets, hosts, hosts, hosts],
            0,
        ),
        (
            "it took the first, but nobody heard of it",
            vec![Reply::Half],
            vec![packets, packets, hosts],
            0,
        ),
        (
            "the second is refused",
            vec![ok(), unreadable()],
            vec![packets, hosts],
            3,
        ),
        (
            "the first is refused, and the second waits",
            vec![unreadable(), full()],
            vec![packets, hosts, hosts],
            2,
        ),
        (
            "both are refused",
            vec![full(), unreadable(), unreadable()],
            vec![packets, packets, hosts],
            5,
        ),
    ];
    let parcel = mixed();
    for (name, script, sent, refused) in cases {
        let server = HttpServer::scripted(script, |request| !is_question(request), good);
        let mut engine = ClickHouse::new(&server.url, "hostint", "reports", None).unwrap();
        let outcome = loop {
            match engine.deliver(&parcel) {
                Err(Trouble::Later(_)) => {}
                outcome => break outcome,
            }
        };
        match outcome {
            Err(Trouble::Refused(why)) => assert!(refused == 5 && why.contains("33"), "{name}"),
            Ok(Accepted { refused: some, why }) => {
                assert_eq!((some, why.is_some()), (refused, refused > 0), "{name}");
            }
            Err(other) => panic!("{name}: {other:?}"),
        }
        let requests = inserts(&server);
        let group_of = |request: &Request| match request.target.contains("in_interface") {
            true => hosts,
            false => packets,
        };
        let groups: Vec<_> = requests.iter().map(group_of).collect();
        assert_eq!(groups, sent, "{name}");
        for (request, group) in requests.iter().zip(sent) {
            let expected = rows(&parcel, group.entries(&parcel), group);
            assert_eq!(request.unpacked(), expected, "{name}");
            // By the first report of the rows.
            let number = if group == packets { 2 } else { 1 };
            assert_eq!(token(request), format!("{:016x}-{number}", u64::MAX));
        }
    }
}

/// These need programs that `packaging/install-build-deps.sh --test` installs.
mod tools {
    use super::*;

    #[test]
    fn a_row_that_goes_without_columns_is_in_the_table_as_with_all() {
        let server = super::super::loopback("groups");
        server.run(PLAIN);
        let parcel = parcel(1, samples());
        let client = HttpClient::new(&server.url, Vec::new()).unwrap();
        let post = |query: &str, body: &[u8]| {
            let answer = client.post(query, "application/octet-stream", body);
            let answer = answer.unwrap();
            assert_eq!(answer.status, 200, "{}", answer.said());
            answer.body
        };
        // Addresses are no text, and no answer may be long.
        let row = |number: usize| {
            let query = format!("SELECT * FROM hostint.reports WHERE number = {number}");
            String::from_utf8_lossy(&post("", query.as_bytes())).into_owned()
        };
        let table = || {
            let rows: Vec<String> = (1..=parcel.len()).map(row).collect();
            server.ask("TRUNCATE TABLE hostint.reports");
            rows
        };
        let mut engine = super::super::engine(&server.url, "reports");
        engine.deliver(&parcel).unwrap();
        let grouped = table();
        let names: Vec<_> = COLUMNS.iter().map(|column| column.name).collect();
        let insert = format!(
            "?query=INSERT%20INTO%20hostint.reports%20({})%20FORMAT%20RowBinary",
            names.join(",")
        );
        let whole = rows(&parcel, parcel.entries(), RowGroup::Hosts);
        post(&insert, &whole);
        let with_all = table();
        for (grouped, with_all) in grouped.iter().zip(&with_all) {
            assert_eq!(grouped.lines().count(), 1);
            assert_eq!(grouped, with_all);
        }
    }
}
