//! The history knows the coverage of each pair and class, over runs of the collector, and tells it.

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use hostint::model::coverage::{CoverageGrowth, CoverageRow};
use hostint::model::*;
use hostint::store::*;
use hostint_testing::places;
use serde_json::Value;

use crate::disk::*;

fn grown(
    sink: Option<u32>,
    class: Option<&str>,
    reason: Option<&'static str>,
    packets: i64,
) -> CoverageGrowth {
    CoverageGrowth {
        source: NodeId(1),
        sink: sink.map(NodeId),
        class: class.map(str::to_owned),
        reason,
        packets,
        bytes: (reason != Some("no_sink_told")).then_some(100 * packets),
    }
}

/// What a collector adds in a run that ends in order.
fn add(disk: &Disk, grown: Vec<CoverageGrowth>) {
    let store = OpenedStore::open(disk.settings()).unwrap();
    let store = store
        .start(Box::new(|trouble| panic!("{trouble}")))
        .unwrap();
    store.keeper().add_coverage(grown);
}

fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(since.unwrap().as_nanos()).unwrap()
}

fn rows(disk: &Disk, span: Span) -> Vec<CoverageRow> {
    let mut reader = HistoryReader::open(&disk.file(), decoder()).unwrap();
    reader.coverage(span).unwrap()
}

#[test]
fn runs_add_up_and_other_times_are_left_out() {
    const HOUR: u64 = 3_600_000_000_000;
    let disk = Disk::new();
    let now = now_ns();
    let span = |since_ns, until_ns| Span { since_ns, until_ns };
    let hour = span(now - HOUR, now + HOUR);
    drop(OpenedStore::open(disk.settings()).unwrap());
    assert_eq!(rows(&disk, hour), [], "a store without the table");
    for _ in 0..2 {
        add(
            &disk,
            vec![
                grown(Some(2), None, None, 90),
                grown(Some(2), None, Some("too_long"), 7),
                grown(Some(2), None, Some("no_lease"), 3),
                grown(Some(2), Some("web"), None, 50),
                grown(None, None, Some("no_lease"), 1_000),
                grown(Some(3), None, Some("tagged"), 70),
                grown(Some(3), None, Some("no_sink_told"), 40),
                grown(Some(4), None, Some("tagged"), 80),
                grown(Some(4), None, None, 80),
            ],
        );
    }
    // In the first run no sink told of these, and in the second one it told.
    add(
        &disk,
        vec![
            grown(Some(3), None, None, 35),
            grown(Some(3), None, Some("no_sink_told"), -35),
            grown(Some(4), None, Some("no_sink_told"), 6),
            grown(Some(4), None, Some("no_sink_told"), -6),
        ],
    );
    let row =
        |sink: Option<u32>, class: Option<&str>, measured: Option<u64>, missed: &[(&str, u64)]| {
            CoverageRow {
                tagged: None,
                tagged_bytes: None,
                measured_bytes: measured.map(|packets| 100 * packets),
                missed_bytes: missed
                    .iter()
                    .map(|(why, packets)| {
                        let is_known = *why != "no_sink_told";
                        ((*why).to_owned(), is_known.then_some(100 * packets))
                    })
                    .collect(),
                source: NodeId(1),
                sink: sink.map(NodeId),
                class: class.map(str::to_owned),
                measured,
                missed: missed
                    .iter()
                    .map(|(why, packets)| ((*why).to_owned(), *packets))
                    .collect(),
            }
        };
    let expected = [
        row(None, None, None, &[("no_lease", 2_000)]),
        row(
            Some(2),
            None,
            Some(180),
            &[("no_lease", 6), ("too_long", 14)],
        ),
        row(Some(2), Some("web"), Some(100), &[]),
    ];
    let tagged = |sink, packets, measured, missed| CoverageRow {
        tagged: Some(packets),
        tagged_bytes: Some(100 * packets),
        ..row(Some(sink), None, Some(measured), missed)
    };
    let [elsewhere, two, web] = expected;
    let expected = [
        elsewhere,
        tagged(3, 140, 35, &[("no_sink_told", 45)]),
        two,
        web,
        tagged(4, 160, 160, &[]),
    ];
    assert_eq!(rows(&disk, hour), expected);
    assert_eq!(rows(&disk, span(now - 3 * HOUR, now - 2 * HOUR)), []);
    assert_eq!(rows(&disk, span(now + 2 * HOUR, now + 3 * HOUR)), []);

    // The same as text, JSON and CSV.
    let told = |format: &[&str]| {
        let output = Command::new(places::hostint())
            .args(["history", "coverage", "--store"])
            .arg(disk.file())
            .args(format)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let text = told(&[]);
    let line = text
        .lines()
        .find(|line| line.starts_with("1 -> 2  ") && !line.contains("web"));
    let words: Vec<_> = line.unwrap_or(&text).split_whitespace().collect();
    let expected = "1 -> 2 - 180 20 90.00% 18,000 2,000 90.00% too_long 14, no_lease 6";
    assert_eq!(words.join(" "), expected, "{text}");
    let json: Value = serde_json::from_str(&told(&["--json"])).unwrap();
    let of_three = &json["coverage"][1];
    assert_eq!(
        (&of_three["tagged"], &of_three["measured"]),
        (&140.into(), &35.into())
    );
    assert_eq!(of_three["missed"]["no_sink_told"], 45);
    assert_eq!(of_three["missed_bytes"]["no_sink_told"], Value::Null);
    assert_eq!(json["coverage"][2]["measured"], 180);
    assert_eq!(json["coverage"][2]["measured_bytes"], 18_000);
    assert_eq!(json["coverage"][2]["missed_bytes"]["too_long"], 1_400);
    assert_eq!(json["coverage"][2]["missed"]["too_long"], 14);
    let csv = told(&["--csv"]);
    assert!(
        csv.starts_with("source,sink,class,reason,packets,bytes,source_name,sink_name\n"),
        "{csv}"
    );
    assert!(csv.contains("\n1,2,,too_long,14,1400,,\n"), "{csv}");
    assert!(csv.contains("\n1,2,web,,100,10000,,\n"), "{csv}");
    assert!(csv.contains("\n1,3,,no_sink_told,45,,,\n"), "{csv}");
    assert!(
        !csv.contains(",tagged,"),
        "these packets are measured, or not for a reason: {csv}"
    );
}

#[test]
fn bytes_are_known_where_all_of_them_were_told() {
    let disk = Disk::new();
    let now = now_ns();
    let hour = Span {
        since_ns: now - 3_600_000_000_000,
        until_ns: now + 3_600_000_000_000,
    };
    let without_bytes = |reason, packets| CoverageGrowth {
        bytes: None,
        ..grown(Some(2), None, reason, packets)
    };
    add(
        &disk,
        vec![without_bytes(None, 90), without_bytes(Some("too_long"), 7)],
    );
    let told = || {
        let rows = rows(&disk, hour);
        assert_eq!(rows.len(), 1, "{rows:?}");
        let (missed, bytes) = (&rows[0].missed, &rows[0].missed_bytes);
        let missed = missed.clone().into_iter();
        let missed: Vec<_> = missed
            .map(|(why, packets)| (packets, bytes[&why]))
            .collect();
        (rows[0].measured, rows[0].measured_bytes, missed)
    };
    assert_eq!(told(), (Some(90), None, vec![(7, None)]), "none was told");
    // Of the same ten minutes, and for a reason that had no packets there before.
    add(
        &disk,
        vec![
            grown(Some(2), None, None, 10),
            grown(Some(2), None, Some("no_lease"), 3),
        ],
    );
    assert_eq!(
        told(),
        (Some(100), None, vec![(3, Some(300)), (7, None)]),
        "packets go on, and bytes are known where all were told"
    );
}
