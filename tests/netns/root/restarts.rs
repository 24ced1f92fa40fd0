//! What was counted before a restart is neither lost nor counted, or told, again.

use std::time::Duration;

use hostint_testing::netns::{Host, Lab, await_that, await_that_or};
use hostint_testing::scratch::Folder;
use nix::sys::signal::Signal;
use serde_json::Value;

/// All packets from node 1 to node 2 in the history.
fn packets(host: &Host, store: &str) -> i64 {
    let text = host.hostint(&format!("history pairs --json --store {store}"));
    let answer: Value = serde_json::from_str(&text).unwrap();
    answer["pairs"][0]["measured"]["packets"]
        .as_i64()
        .unwrap_or(0)
}

#[test]
fn the_history_has_the_packets_of_a_pause_of_its_collector_once() {
    let lab = Lab::new();
    let folder = Folder::create();
    let store = folder.name("history.db");
    let collect = format!("collect --listen 127.0.0.1 --output /dev/null --store {store}");
    let mut collector = lab.b.start(&collect, "collecting");
    let _b = lab.b.sink(
        "--dev b0 --node-id 2 --collector 127.0.0.1 --allow 10.9.1.0/24 --summary-period 1s --loss-timeout 100ms",
    );
    let _a = lab.a.sink("--dev a0 --node-id 1");
    lab.a.hostint("source attach --dev a0 --encap over-tcp-udp");
    lab.a.hostint("source add-dest --static 10.9.2.1");
    let (from, _to) = (lab.a.udp("10.9.1.1:5000"), lab.b.udp("10.9.2.1:6000"));
    let send = |packets: u64, in_all: u64| {
        for _ in 0..packets {
            from.send_to(&[7; 100], "10.9.2.1:6000").unwrap();
            std::thread::sleep(Duration::from_millis(1));
        }
        await_that("they are stripped", || {
            lab.b.count("sink", "received") == in_all
        });
    };
    let known = |wanted: i64| {
        await_that_or(
            || packets(&lab.b, &store) == wanted,
            || format!("{} packets, not {wanted}", packets(&lab.b, &store)),
        );
    };
    // The first one finds the way.
    send(1, 1);
    send(99, 100);
    known(100);
    collector.signal(Signal::SIGTERM);
    assert_eq!(collector.wait(), Some(0), "{}", collector.stderr());
    let told = lab.b.daemon_count("summaries_sent");
    send(50, 150);
    await_that("summaries are told while no collector runs", || {
        lab.b.daemon_count("summaries_sent") > told
    });
    let _collector = lab.b.start(&collect, "collecting");
    // Totals are told again when they change.
    send(1, 151);
    known(151);
    send(1, 152);
    known(152);
}

#[test]
fn troubles_before_the_daemon_began_are_over_and_new_ones_are_not() {
    let lab = Lab::new();
    let mut daemon = lab.a.sink("--dev a0 --node-id 1");
    lab.a.hostint("source attach --dev a0");
    // No sink is there, so there is no lease.
    lab.a.hostint("source add-dest 10.9.2.1");
    let from = lab.a.udp("10.9.1.1:5000");
    let send = |packets: u64, in_all: u64| {
        for _ in 0..packets {
            from.send_to(&[7; 100], "10.9.2.1:6000").unwrap();
        }
        await_that("they leave untagged", || {
            lab.a.count("source", "no_lease") == in_all
        });
    };
    let reason = || {
        let status = lab.a.status();
        let why = status["why"].as_array().unwrap().iter();
        let mut why = why.filter(|one| one["counter"] == "no_lease");
        why.next().unwrap_or(&status).clone()
    };
    send(20, 20);
    assert_eq!(reason()["recent"], 20, "{}", reason());
    let text = || lab.a.hostint("status");
    assert!(
        text().contains("20 packets to a host without a lease in the last "),
        "{}",
        text()
    );

    assert_eq!(daemon.end(), Some(0), "{}", daemon.stderr());
    assert_eq!(reason()["count"], 20);
    assert_eq!(reason()["recent"], Value::Null, "no daemon tells");
    let _daemon = lab.a.sink("--dev a0 --node-id 1");
    await_that("the new daemon knows the counters", || {
        reason()["recent"] == 0
    });
    assert!(!text().contains("without a lease"), "{}", text());
    let all = lab.a.hostint("status --all");
    assert!(
        all.contains("20 packets to a host without a lease, none in the last "),
        "{all}"
    );
    send(3, 23);
    assert_eq!(reason()["recent"], 3, "{}", reason());
}
