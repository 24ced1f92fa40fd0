//! A collector corrects latencies by what sinks tell of their clocks.

use hostint_testing::load::Load;
use hostint_testing::netns::{Daemon, Lab, await_that};
use hostint_testing::scratch::Folder;
use serde_json::Value;

/// The latency reports with a bound, so far.
fn bounded(collect: &Daemon) -> Vec<Value> {
    let lines = collect.stdout();
    let lines = lines
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    let lines = lines.filter(|line: &Value| line["latency_bound_ns"].is_array());
    lines.collect()
}

fn number(value: &Value) -> i64 {
    value
        .as_i64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn the_interval_of_each_latency_holds_between_hosts_with_one_clock() {
    let lab = Lab::new();
    let folder = Folder::create();
    let store = folder.file("history.db").display().to_string();
    let mut collect = lab.b.start(
        &format!("collect --json --listen 10.9.2.1 --store {store}"),
        "collecting",
    );
    let _a = lab
        .a
        .leasing_sink("--dev a0 --node-id 1 --collector 10.9.2.1");
    let _b = lab.b.leasing_sink(
        "--dev b0 --node-id 2 --collector 10.9.2.1 --report-period 100ms --summary-period 1s",
    );
    lab.a.hostint("source attach --dev a0");
    lab.a.hostint("source add-dest 10.9.2.1");
    let load = Load::start(&lab.a, &lab.b, "10.9.1.1", "10.9.2.1");
    await_that("ten latencies have a bound", || {
        bounded(&collect).len() >= 10
    });
    let pairs = |form| {
        lab.b
            .hostint(&format!("history pairs {form} --store {store}"))
    };
    await_that("the history has a mean with its error", || {
        pairs("").contains(" ± ")
    });
    drop(load);
    assert_eq!(collect.end(), Some(0));
    for line in bounded(&collect) {
        let raw = number(&line["latency_ns"]);
        let [low, high] = [0, 1].map(|end| number(&line["latency_bound_ns"][end]));
        assert!(
            (low..=high).contains(&raw),
            "both hosts have one clock, so the stamps tell the truth: {line}"
        );
        let corrected = number(&line["latency_corrected_ns"]);
        assert!((low..=high).contains(&corrected), "{line}");
        assert!(high - low < 20_000_000, "it says something: {line}");
        assert_eq!(line.get("clock"), None, "{line}");
    }
    let json: Value = serde_json::from_str(&pairs("--json")).unwrap();
    let corrected = &json["pairs"][0]["measured"]["corrected"];
    let mean = number(&corrected["mean_ns"]);
    let [low, high] = [0, 1].map(|end| number(&corrected["bound_ns"][end]));
    assert!((low..=high).contains(&mean), "{corrected}");
    let first = collect.stdout().lines().next().unwrap().to_owned();
    let first: Value = serde_json::from_str(&first).unwrap();
    assert_eq!(
        first["clock"], "unknown",
        "nobody had told by then: {first}"
    );
}
