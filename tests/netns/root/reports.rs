//! Reports reach collectors, packet senders and logs.

use hostint_testing::netns::{Daemon, Lab, await_that};
use nix::sys::signal::Signal;
use serde_json::Value;

use crate::exchange::exchange_udp;

#[test]
fn collector_gets_every_report_numbered_and_reports_are_never_tagged() {
    let lab = Lab::new();
    lab.b.sh("ip addr add fd00::1/64 dev lo");
    let _a = lab
        .a
        .sink("--dev a0 --node-id 1 --collector 10.9.2.1 --report-period 50ms");
    lab.a.hostint("source attach --dev a0 --encap over-tcp-udp");
    lab.a.hostint("source add-dest --static 10.9.2.1");
    let mut sender_side = lab
        .a
        .start("collect --json --listen 10.9.1.1", "collecting");
    let mut collect = lab.b.start("collect --json", "collecting on [::]");
    let log = std::env::temp_dir().join(format!("{}.log", lab.b.ns));
    let mut b = lab.b.sink(&format!(
        "--dev b0 --node-id 2 --collector 127.0.0.1 --collector [fd00::1]:32766 --report-to-sender \
         --report-log {} --report-period 20ms",
        log.display()
    ));
    // Tagged both ways: b's answers are measured by a's sink, whose reports travel to b.
    lab.b.hostint("source attach --dev b0 --encap over-tcp-udp");
    lab.b.hostint("source add-dest --static 10.9.1.1");
    let (x, y) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
    lab.drop_packets("udp dport 6000 numgen random mod 10 < 1");
    for _ in 0..3000 {
        x.send_to(&[1; 32], "10.9.2.1:6000").unwrap();
        y.send_to(&[2; 32], "10.9.1.1:5000").unwrap();
    }
    let dropped = lab.dropped();
    x.send_to(&[1; 32], "10.9.2.1:6000").unwrap();
    let gaps = |lines: &str| -> u64 {
        lines
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .filter(|line| line["exporter"] == "127.0.0.1")
            .filter_map(|line| line["gap"]["count"].as_u64())
            .sum()
    };
    await_that("the drop reports add up to what was dropped", || {
        gaps(&collect.stdout()) == dropped
    });
    assert_eq!(b.end(), Some(0));
    let sent = lab.b.daemon_count("reports_sent");
    let lines = |of: &Daemon, exporter: &str| -> Vec<Value> {
        let mut lines = of.json_lines();
        lines.retain(|line| line["schema"] == "hostint.report/1" && line["exporter"] == exporter);
        lines
    };
    await_that("three destinations got all reports", || {
        lines(&collect, "127.0.0.1").len()
            + lines(&collect, "fd00::1").len()
            + lines(&sender_side, "10.9.2.1").len()
            == sent as usize
    });
    let reports = lines(&collect, "127.0.0.1");
    for (i, report) in reports.iter().enumerate() {
        assert_eq!(
            report["report_seq"],
            i + 1,
            "reports are numbered without a gap"
        );
    }
    let latency = reports
        .iter()
        .find(|report| report["kind"] == "latency")
        .unwrap();
    assert_eq!(latency["source"]["node"], 1);
    assert_eq!(latency["sink"]["node"], 2);
    assert_eq!(latency["flow"]["dport"], 6000);
    let ns = latency["latency_ns"].as_i64().unwrap();
    assert!((0..2_000_000_000).contains(&ns), "latency of {ns} ns");
    assert_eq!(
        std::fs::read_to_string(&log).unwrap().lines().count(),
        reports.len(),
        "the log has each report too"
    );
    assert!(
        lab.a.count("source", "report") > 0,
        "a's reports met the source"
    );
    assert!(
        !lines(&collect, "10.9.1.1").is_empty(),
        "a's reports, sent to a watched destination, can be read"
    );
    assert_eq!(collect.end(), Some(0));
    assert!(
        collect.stderr().contains(" 0 lost on the way"),
        "{}",
        collect.stderr()
    );
    assert_eq!(sender_side.end(), Some(0));
    let _ = std::fs::remove_file(&log);
}

#[test]
fn report_log_is_reopened_on_sigusr1_and_written_in_both_forms() {
    for (format, first) in [
        ("host-int", "Seq: 1 Time: "),
        ("json", "{\"schema\":\"hostint.report/1\""),
    ] {
        let lab = Lab::new();
        let log = std::env::temp_dir().join(format!("{}-{format}.log", lab.b.ns));
        let _a = lab.a.sink("--dev a0 --node-id 1");
        let b = lab.b.sink(&format!(
            "--dev b0 --node-id 2 --report-log {} --log-format {format} --report-period 10ms",
            log.display()
        ));
        lab.a.hostint("source attach --dev a0 --encap over-tcp-udp");
        lab.a.hostint("source add-dest --static 10.9.2.1");
        let (from, to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
        let read = || std::fs::read_to_string(&log).unwrap_or_default();
        exchange_udp(&from, &to, 1, 100);
        await_that("the first report is logged", || !read().is_empty());
        assert!(read().starts_with(first), "{}", read());
        std::fs::remove_file(&log).unwrap();
        b.signal(Signal::SIGUSR1);
        await_that("a new file is written", || {
            exchange_udp(&from, &to, 1, 100);
            !read().is_empty()
        });
        std::fs::remove_file(&log).unwrap();
    }
}
