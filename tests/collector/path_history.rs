//! Reports with transit hops become a history of paths, which `hostint history` tells as text and JSON.

use hostint::model::*;
use hostint_testing::harness::{hostint, text};
use hostint_testing::path_samples::two_hops;
use hostint_testing::scratch::Folder;
use serde_json::Value;

/// The first report's arrival: 2023-11-14T22:13:20Z.
const BEGIN_NS: u64 = 1_700_000_000_000_000_000;

/// A store of 100 reports whose ends have one clock; the second hop held one packet for 5 ms.
fn stored(folder: &Folder) -> String {
    let mut lines = Vec::new();
    for n in 0..100 {
        let mut way = two_hops();
        if n == 50 {
            way.hops[1].stay_ns = 5_002_000;
        }
        let sample = way.sample(n, 5000, BEGIN_NS + u64::from(n) * 1_000_000_000);
        let whole = i64::from(way.whole_ns());
        let clocks = CorrectedLatency::new(whole, 0, 900, [-1_000, 1_000]);
        let record = Record::new(&sample.report, Some(sample.arrival)).with_clocks(clocks.into());
        record.append_line(&mut lines).unwrap();
    }
    let file = folder.file("lines.jsonl");
    std::fs::write(&file, lines).unwrap();
    let store = folder.file("history.db").display().to_string();
    let read = file.display().to_string();
    let output = hostint(&["collect", "--read", &read, "--store", &store]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    store
}

fn asked(store: &str, question: &[&str]) -> String {
    let span = [
        "--since",
        "2023-11-14T22:00:00Z",
        "--until",
        "2023-11-14T23:00:00Z",
    ];
    let rest = ["--store", store];
    let output = hostint(&[&["history"], question, &span, &rest].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn a_path_is_told_as_text_and_as_json() {
    let folder = Folder::create();
    let store = stored(&folder);
    for question in [
        &["path", "--from", "1", "--to", "2"][..],
        &["path", "--flow", "1"],
    ] {
        let told = asked(&store, question);
        let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in [
            "1 -> 28673 -> 28674 -> 2 path a6db0ac871f20758, 100 reports, 2023-11-14 22:13:20 to 2023-11-14 22:15:00 UTC",
            "wire 1 port 7 -> 28673 port 2 ? ? ? ?",
            "hop 28673 port 2 -> 3 1.0 us 1.0 us 1.0 us 1% █",
            "hop 28674 port 4 -> 5 52.0 us 2.0 us 2.0 us 63%",
            "segments marked ? take 30.0 us in all (mean)",
            "the slowest 1 of 100 reports took 5.0 ms more than the median: 100% of it in hop 28674 port 4 -> 5",
        ] {
            assert!(told.contains(part), "{told} does not say: {part}");
        }
        let json = asked(&store, &[question, &["--json"]].concat());
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["schema"], "hostint.path/1");
        let path = &json["paths"][0];
        assert_eq!(path["nodes"], serde_json::json!([1, 28673, 28674, 2]));
        assert_eq!(path["segments"][3]["kind"], "hop");
        assert_eq!(path["segments"][3]["latency"]["max_ns"], 5_002_000);
        assert_eq!(path["segments"][0]["latency"], Value::Null);
    }
    let segments = asked(&store, &["segments", "--limit", "2"]);
    let rows: Vec<_> = segments.lines().skip(2).take(2).collect();
    assert!(
        rows[0].starts_with("hop      28674 port 4 -> 5") && rows.len() == 2,
        "{segments}"
    );
    let csv = asked(&store, &["segments", "--csv"]);
    assert!(
        csv.starts_with("kind,from_node,from_port,to_node,to_port,reports,"),
        "{csv}"
    );
    let none = asked(&store, &["path", "--from", "2", "--to", "1"]);
    assert!(
        none.contains("no report names a transit hop in this time"),
        "{none}"
    );
    let unknown = hostint(&["history", "path", "--flow", "99", "--store", &store]);
    assert_eq!(unknown.status.code(), Some(3), "a flow that never was");
    let said = text(&unknown.stderr);
    assert!(said.contains("no such flow"), "{said}");
    assert!(unknown.stdout.is_empty(), "{}", text(&unknown.stdout));
}

#[test]
fn a_question_names_a_pair_or_a_flow() {
    for question in [
        &["path"][..],
        &["path", "--from", "1"],
        &["path", "--to", "1"],
        &["path", "--from", "1", "--to", "2", "--flow", "3"],
        &["segments", "--sort", "loss"],
    ] {
        let output = hostint(&[&["history"], question].concat());
        assert_eq!(output.status.code(), Some(2), "{question:?}");
    }
}
