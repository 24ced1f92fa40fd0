//! A host that only sends tells collectors which host it is, and is missed when it falls silent.

use std::process::Command;

use hostint::datapath::host::settings_status;
use hostint::datapath::kernel::pins::Pins;
use hostint_testing::collector::Collector;
use hostint_testing::netns::{Host, Lab, await_that_or};
use hostint_testing::scratch::Folder;
use serde_json::Value;

/// A collector on this host, which takes reports at this address too. Its HTTP is reached from inside.
fn collector(host: &Host, address: &str, store: &str) -> Collector {
    let args = ["--listen", address, "--store", store];
    host.enter(|| Collector::start_with(Command::new(&host.binary), &args))
}

/// Each host that the collector knows: node, name, whether it reports.
fn known(status: &Value) -> Vec<(u64, String, bool)> {
    let exporters = status["exporters"].as_array().unwrap().iter();
    let known = exporters.map(|one| {
        let name = one["name"].as_str().unwrap_or_default().to_owned();
        (
            one["node"].as_u64().unwrap(),
            name,
            one["reporting"] == true,
        )
    });
    known.collect()
}

/// Waits until the collector knows one host, in this state.
fn await_host(host: &Host, collector: &Collector, expected: (u64, &str, bool)) {
    let (node, name, reports) = expected;
    let expected = vec![(node, name.to_owned(), reports)];
    let mut status = Value::Null;
    let holds = || {
        status = host.enter(|| collector.status());
        known(&status) == expected && status["hosts_known"] == 1
    };
    await_that_or(holds, || {
        let found = known(&host.enter(|| collector.status()));
        format!("never {expected:?}, but {found:?}")
    });
}

#[test]
fn a_source_without_a_sink_is_known_by_name_and_missed_within_a_minute() {
    let lab = Lab::new();
    let folder = Folder::create();
    let store = folder.file("history.db").display().to_string();
    let collector = collector(&lab.b, "10.9.2.1:32766", &store);
    let to = "--collector 10.9.2.1";
    let line =
        format!("source --dev a0 --node-id 1 --force --node-name web-1 --label rack=r7 {to}");
    let mut source = lab.a.start(&line, "source attached");
    await_host(&lab.b, &collector, (1, "web-1", true));
    let metrics = || lab.b.enter(|| collector.get("/metrics"));
    await_that_or(
        || {
            let metrics = metrics();
            let mut lines = metrics.lines();
            let info = lines.find(|line| line.starts_with("hostint_node_info{"));
            let told = [r#"name="web-1""#, r#"label_rack="r7""#];
            info.is_some_and(|info| told.iter().all(|text| info.contains(text)))
        },
        || format!("the metrics have no name: {}", metrics()),
    );

    source.kill();
    await_host(&lab.b, &collector, (1, "web-1", false));
    await_that_or(
        || metrics().contains("hostint_collect_hosts{state=\"silent\"} 1\n"),
        || format!("the metrics show no silent host: {}", metrics()),
    );
    let history = || lab.b.hostint(&format!("history pairs --store {store}"));
    await_that_or(
        || history().contains("0 of 1 host reports; web-1 (1) silent since"),
        || format!("the history shows no silent host: {}", history()),
    );

    lab.b.enter(|| collector.end());
    let again = self::collector(&lab.b, "10.9.2.1:32766", &store);
    await_host(&lab.b, &again, (1, "web-1", false));
}

#[test]
fn one_daemon_of_a_host_tells_collectors_of_it() {
    let lab = Lab::new();
    let collector = collector(&lab.b, "10.9.2.1:32766", "none");
    let to = "--collector 10.9.2.1";
    let source = format!("source --dev a0 --node-id 1 --force --node-name as-source {to}");
    let sink = format!("sink --dev a0 --node-id 1 --node-name as-sink {to}");
    let mut daemon = lab.a.start(&source, "source attached");
    await_host(&lab.b, &collector, (1, "as-source", true));
    let refused = lab.a.try_hostint(&sink);
    let why = String::from_utf8(refused.stderr).unwrap();
    assert!(why.contains("or hostint source does"), "{why}");

    assert_eq!(daemon.end(), Some(0));
    let mut daemon = lab.a.start(&sink, "sink attached");
    await_host(&lab.b, &collector, (1, "as-sink", true));
    let refused = lab.a.try_hostint(&source);
    let why = String::from_utf8(refused.stderr).unwrap();
    assert!(
        why.contains("a hostint sink serves this host already"),
        "{why}"
    );

    // The sink's program works on, and the source's daemon serves the host.
    assert_eq!(daemon.end(), Some(0));
    let source = format!("source --dev a0 --node-name as-source {to}");
    let _daemon = lab.a.start(&source, "source attached");
    await_host(&lab.b, &collector, (1, "as-source", true));
}

#[test]
fn collectors_of_a_source_follow_its_config_file() {
    let lab = Lab::new();
    let [first, second] =
        ["10.9.2.1:32766", "10.9.2.1:9000"].map(|at| collector(&lab.b, at, "none"));
    let folder = Folder::create();
    let file = folder.file("hostint.toml");
    let configure = |collectors: &str, name: &str| {
        let text = format!(
            "[source]\ndev = [\"a0\"]\nforce = true\nnode-id = 1\nnode-name = \"{name}\"\ncollector = [{collectors}]\n"
        );
        std::fs::write(&file, text).unwrap();
    };
    configure("\"10.9.2.1\"", "before");
    let line = format!("source --config {}", file.display());
    let daemon = lab.a.start(&line, "source attached");
    await_host(&lab.b, &first, (1, "before", true));

    configure("\"10.9.2.1:9000\"", "after");
    daemon.signal(nix::sys::signal::Signal::SIGHUP);
    await_host(&lab.b, &second, (1, "after", true));
    let pins = lab
        .a
        .enter(|| Pins::of_this_host(lab.a.bpffs.as_deref(), false));
    let host = settings_status::read_host(&pins.unwrap().unwrap()).unwrap();
    assert_eq!(host.unwrap().report_ports, [9000, 32766], "never tagged");
}
