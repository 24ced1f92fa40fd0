//! A collector corrects latencies by what sinks tell of their clocks.

use hostint_testing::boot_id::with_another_boot_id;
use hostint_testing::load::Load;
use hostint_testing::netns::{Daemon, Lab, await_that};
use hostint_testing::scratch::Folder;
use serde_json::Value;

/// The latency reports with a bound, so far.
fn bounded(collect: &Daemon) -> Vec<Value> {
    let mut lines = collect.json_lines();
    lines.retain(|line| line["latency_bound_ns"].is_array());
    lines
}

fn number(value: &Value) -> i64 {
    value
        .as_i64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

/// Two sinks that tell a collector at b what they know of clocks; a's flows are tagged.
struct Told {
    lab: Lab,
    folder: Folder,
    collect: Daemon,
    _sinks: [Daemon; 2],
}

impl Told {
    /// With the kernel's real number, or as if b ran another kernel.
    fn new(is_one_kernel: bool) -> Self {
        let lab = Lab::new();
        let folder = Folder::create();
        let store = folder.file("history.db").display().to_string();
        let collect = lab.b.start(
            &format!("collect --json --listen 10.9.2.1 --store {store}"),
            "collecting",
        );
        let a = lab
            .a
            .leasing_sink("--dev a0 --node-id 1 --collector 10.9.2.1");
        let binary = match is_one_kernel {
            true => lab.b.binary.clone(),
            false => with_another_boot_id(&folder, &lab.b.binary),
        };
        let b = lab.b.with_binary(binary).leasing_sink(
            "--dev b0 --node-id 2 --collector 10.9.2.1 --report-period 100ms --summary-period 1s",
        );
        lab.a.hostint("source attach --dev a0");
        lab.a.hostint("source add-dest 10.9.2.1");
        Self {
            lab,
            folder,
            collect,
            _sinks: [a, b],
        }
    }

    fn pairs(&self, form: &str) -> String {
        let store = self.folder.file("history.db").display().to_string();
        let b = &self.lab.b;
        b.hostint(&format!("history pairs {form} --store {store}"))
    }
}

#[test]
fn hosts_with_one_kernel_have_the_latency_that_stamps_tell() {
    let mut told = Told::new(true);
    // Datagrams in one direction only.
    let from = told.lab.a.udp("10.9.1.1:5000");
    let _to = told.lab.b.udp("10.9.2.1:6000");
    await_that("ten latencies have a bound", || {
        from.send_to(&[1; 100], "10.9.2.1:6000").unwrap();
        bounded(&told.collect).len() >= 10
    });
    assert_eq!(told.collect.end(), Some(0));
    for line in bounded(&told.collect) {
        let raw = number(&line["latency_ns"]);
        let corrected = number(&line["latency_corrected_ns"]);
        let error = number(&line["latency_error_ns"]);
        let [low, high] = [0, 1].map(|end| number(&line["latency_bound_ns"][end]));
        assert!((low..=high).contains(&raw), "{line}");
        // Before Linux 6.1, each host measures an offset of its own.
        assert!((corrected - raw).abs() <= 2_000 && error <= 2_000, "{line}");
        assert!(high - low < 100_000, "{line}");
    }
}

#[test]
fn the_interval_of_each_latency_holds_between_hosts_whose_clocks_agree() {
    let mut told = Told::new(false);
    let load = Load::start(&told.lab.a, &told.lab.b, "10.9.1.1", "10.9.2.1");
    await_that("ten latencies have a bound", || {
        bounded(&told.collect).len() >= 10
    });
    await_that("the history has a mean with its error", || {
        told.pairs("").contains(" ± ")
    });
    drop(load);
    assert_eq!(told.collect.end(), Some(0));
    for line in bounded(&told.collect) {
        let raw = number(&line["latency_ns"]);
        let [low, high] = [0, 1].map(|end| number(&line["latency_bound_ns"][end]));
        assert!(
            (low..=high).contains(&raw),
            "both hosts have one clock, so the stamps tell the truth: {line}"
        );
        let corrected = number(&line["latency_corrected_ns"]);
        assert!((low..=high).contains(&corrected), "{line}");
        assert!(
            (1..20_000_000).contains(&(high - low)),
            "packets tell something: {line}"
        );
        assert_eq!(line.get("clock"), None, "{line}");
    }
    let json: Value = serde_json::from_str(&told.pairs("--json")).unwrap();
    let corrected = &json["pairs"][0]["measured"]["corrected"];
    let mean = number(&corrected["mean_ns"]);
    let [low, high] = [0, 1].map(|end| number(&corrected["bound_ns"][end]));
    assert!((low..=high).contains(&mean), "{corrected}");
    let first = told.collect.stdout().lines().next().unwrap().to_owned();
    let first: Value = serde_json::from_str(&first).unwrap();
    assert_eq!(
        first["clock"], "unknown",
        "nobody had told by then: {first}"
    );
}
