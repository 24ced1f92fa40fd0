//! Every kind of report, sent through the engine into a table and compared with the row.

use std::collections::HashSet;

use hostint::engines::clickhouse::ClickHouse;
use hostint::engines::{Engine, FedBatch, FedReport, Parcel, RunId};
use hostint::model::*;

use crate::clickhouse_queries::named;
use crate::fed_reports::{fed, numbered};
use crate::path_samples::path_parts;
use crate::report_samples;

#[path = "clickhouse_hosts.rs"]
mod hosts;

pub fn parcel(number: u64, reports: impl IntoIterator<Item = (Report, Option<Arrival>)>) -> Parcel {
    let reports = reports.into_iter().zip(1..);
    let entries = reports.map(|((report, arrival), number)| FedReport {
        class: Some("storage".into()),
        drop_reason: Some("acl deny".into()),
        ..numbered(number, report, arrival)
    });
    let entries: Vec<_> = entries.collect();
    let run = RunId(u64::MAX);
    Parcel::of(
        number,
        FedBatch {
            run,
            entries,
            bytes: 0,
        },
    )
}

/// Delivers samples into a table that is empty.
pub fn check(engine: &mut ClickHouse, ask: &dyn Fn(&str) -> String) {
    let records = report_samples::all();
    let reports: Vec<_> = records
        .into_iter()
        .filter_map(|record| Some((record.report().ok()?, record.arrival())))
        .collect();
    assert!(reports.len() > 100);
    engine.deliver(&parcel(1, reports.iter().cloned())).unwrap();
    let address = |column: &str| format!("replaceOne(IPv6NumToString({column}), '::ffff:', '')");
    let rows = ask(&format!(
        "SELECT number, kind, version, {}, report_seq, source_node, sink_node, flow_hash, {}, {}, sport, latency_ns, \
         lost, seq, drop_reason, flow_packets, length(hops.node), class, drop_reason_name, if(received = 1, time_ns, 0), \
         length(flow_histogram) FROM hostint.reports ORDER BY number",
        address("exporter"),
        address("src"),
        address("dst")
    ));
    assert_eq!(rows.lines().count(), reports.len());
    let mut kinds = HashSet::new();
    for (n, (row, (report, arrival))) in rows.lines().zip(&reports).enumerate() {
        let record = Record::new(report, *arrival);
        let observed = ReportFacts::new(report, *arrival, || 0);
        let maybe = |value: Option<i64>| value.map_or("\\N".to_owned(), |value| value.to_string());
        let node = |node: Option<NodeId>| maybe(node.map(|node| node.0.into()));
        let flow = record.flow;
        let seq = match observed.shown {
            SequenceEvidence::Number(seq) | SequenceEvidence::Missing { last: seq, .. } => {
                Some(seq.into())
            }
            _ => None,
        };
        let version = serde_json::to_value(record.version).unwrap();
        let hops = match (record.int.first(), record.transit.len()) {
            (Some(int), _) => int.hops.len(),
            (None, 0) => 0,
            (None, transit) => transit + 2,
        };
        let (packets, slots) = match &report.observation.body {
            Body::Summary(part) if part.is_whole() => (part.totals.packets, LATENCY_SLOTS),
            Body::Summary(part) => (part.totals.packets, 0),
            _ => (0, 0),
        };
        let expected = [
            (n + 1).to_string(),
            record.kind.to_string(),
            version.as_str().unwrap().to_owned(),
            record
                .exporter
                .map_or("::".to_owned(), |from| from.to_string()),
            record.report_seq.to_string(),
            node(observed.source),
            node(observed.sink),
            flow.map_or(0, |flow| FlowHash::of(&flow).0).to_string(),
            flow.map_or("::".to_owned(), |flow| flow.src.to_string()),
            flow.map_or("::".to_owned(), |flow| flow.dst.to_string()),
            flow.map_or(0, |flow| flow.sport).to_string(),
            maybe(observed.latency_ns),
            observed.lost.to_string(),
            maybe(seq),
            maybe(report.observation.drop_reason().map(i64::from)),
            packets.to_string(),
            hops.to_string(),
            "storage".to_owned(),
            "acl deny".to_owned(),
            record.received_ns.unwrap_or(0).to_string(),
            slots.to_string(),
        ];
        assert_eq!(row.split('\t').collect::<Vec<_>>(), expected, "{record:?}");
        kinds.insert(record.kind);
    }
    assert_eq!(kinds.len(), 13, "{kinds:?}");
    check_paths(engine, ask);
    hosts::check(engine, ask);
}

/// Parts of paths, which a collector adds up, and the query about them.
fn check_paths(engine: &mut ClickHouse, ask: &dyn Fn(&str) -> String) {
    let slots: Vec<_> = path_parts()[0].1.latency.slots().collect();
    let entries = path_parts().into_iter().zip(100_000..);
    let entries = entries.map(|((part, added), number)| FedReport {
        number,
        added: Some(Box::new(added)),
        ..fed(Body::PathPart(Box::new(part)))
    });
    let batch = FedBatch {
        run: RunId(u64::MAX),
        entries: entries.collect(),
        bytes: 0,
    };
    engine.deliver(&Parcel::of(2, batch)).unwrap();
    let query = named("segments-of-paths");
    let query = query.replace("$since", "1699999999");
    let found = ask(&query.replace("$until", "1700000001"));
    let hop = format!(
        "hop\t28673\t2\t28673\t3\t3\t21000\t{}\t{}\t0\t0\n",
        slots[1].0, slots[2].0
    );
    let queue = "queue\t28673\t3\t28673\t3\t0\t\\N\t\\N\t\\N\t100\t7\n";
    assert_eq!(found, format!("{queue}{hop}"));
}
