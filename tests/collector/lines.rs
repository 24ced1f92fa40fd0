//! Which reports become lines: losses and changes unless more is asked for, and those of a kind, a node or a flow.

use std::collections::BTreeSet;

use hostint::model::{REPORT_KINDS, Record, Report};
use hostint_testing::harness::{hostint, text};
use hostint_testing::report_samples as samples;
use hostint_testing::scratch::TempFile;
use serde_json::Value;

/// A report of each kind, as lines of JSON.
fn reports() -> Vec<u8> {
    let mut lines = Vec::new();
    for record in samples::all() {
        record.append_line(&mut lines).unwrap();
    }
    let others: Vec<Report> = [samples::host_hops(), samples::connections()]
        .concat()
        .into_iter()
        .chain(samples::queue_episodes())
        .chain(samples::host_drops())
        .chain(samples::summaries())
        .collect();
    for report in &others {
        Record::new(report, None).append_line(&mut lines).unwrap();
    }
    lines
}

fn read(file: &TempFile, args: &[&str]) -> Vec<String> {
    let output = hostint(&[&["collect", "--read", file.path()], args].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout).lines().map(str::to_owned).collect()
}

fn json(file: &TempFile, args: &[&str]) -> Vec<Value> {
    let lines = read(file, &[&["--json"], args].concat());
    let parsed = lines.iter().map(|line| serde_json::from_str(line).unwrap());
    parsed.collect()
}

fn kind(line: &Value) -> String {
    line["kind"].as_str().unwrap().to_owned()
}

#[test]
fn totals_are_lines_only_where_they_are_asked_for() {
    let file = TempFile::new("kinds.jsonl", reports());
    let all = json(&file, &[]);
    let kinds = BTreeSet::from_iter(all.iter().map(kind));
    let known = BTreeSet::from(REPORT_KINDS.map(str::to_owned));
    assert_eq!(kinds, known, "each kind has a sample, and can be chosen");
    assert_eq!(read(&file, &["--all"]).len(), all.len());
    let repeated = ["flow-summary", "group-summary", "host-hop", "tcp"];
    let news = |line: &&Value| !repeated.contains(&&*kind(line));
    let shown = read(&file, &[]);
    assert_eq!(shown.len(), all.iter().filter(news).count(), "{shown:#?}");
    assert!(shown.iter().all(|line| !line.contains("summary")));
    assert_eq!(json(&file, &["--all"]), all, "JSON has them in any case");
}

#[test]
fn lines_are_chosen_by_kind_node_and_flow() {
    let file = TempFile::new("chosen.jsonl", reports());
    let all = json(&file, &[]);
    for of in REPORT_KINDS {
        let expected = all.iter().filter(|line| kind(line) == of).count();
        assert_eq!(json(&file, &["--kind", of]).len(), expected, "{of}");
        assert_eq!(read(&file, &["--kind", of]).len(), expected, "{of}");
    }
    let two = all
        .iter()
        .filter(|line| ["tcp", "latency"].contains(&&*kind(line)));
    assert_eq!(json(&file, &["--kind", "tcp,latency"]).len(), two.count());

    let latency = all.iter().find(|line| kind(line) == "latency").unwrap();
    let node = latency["source"]["node"].to_string();
    let of_node = json(&file, &["--node", &node]);
    assert!(of_node.contains(latency) && of_node.len() < all.len());
    let named = format!("{node}=web-3");
    let by_name = json(&file, &["--name", &named, "--node", "nobody,web-3"]);
    assert_eq!(by_name.len(), of_node.len(), "a node has its id and a name");
    assert_eq!(read(&file, &["--node", "nobody"]), [""; 0]);

    let flow = &latency["flow"];
    let port = format!("{}", flow["sport"]);
    let end = format!("{}:{port} >", flow["src"].as_str().unwrap());
    for words in [&*port, &end, "no.such.flow,udp", "TCP"] {
        let chosen = json(&file, &["--flow", words]);
        let every = !chosen.is_empty() && chosen.len() < all.len();
        assert!(every, "{words}: {} of {}", chosen.len(), all.len());
    }
    assert_eq!(read(&file, &["--flow", "192.0.2.254"]), [""; 0]);
}
