//! While brokers are away, Kafka's messages and the collector's counts together make up what was sent.

use std::time::{Duration, Instant};

use hostint_testing::collecting::Collecting;
use hostint_testing::wire::Wire;
use serde_json::Value;

use super::cluster::Cluster;
use super::consumed::{Consumed, windows};
use super::{CLOCK_TOPIC, TOPIC};

fn long() -> bool {
    std::env::var_os("HOSTINT_LONG").is_some()
}

/// No more than the queue to the decoder has room for.
fn send(collecting: &mut Collecting, reports: u64) {
    const STEP: u64 = 50_000;
    for sent in (0..reports).step_by(STEP as usize) {
        collecting.send(STEP.min(reports - sent));
    }
}

fn count(engine: &Value, what: &str) -> u64 {
    engine[what].as_u64().unwrap()
}

fn port_of(address: &str) -> u16 {
    let (_, port) = address.rsplit_once(':').unwrap();
    port.parse().unwrap()
}

/// Ends the collector, which delivers what is left.
fn end(collecting: Collecting) {
    collecting.collector.end();
}

/// These need root.
mod root {
    use super::*;

    #[test]
    fn a_wire_that_is_cut_loses_no_report() {
        let wire = Wire::new("kafka");
        let (reports, cut, partitions) = match long() {
            true => (500_000, Duration::from_secs(60), 64),
            false => (5000, Duration::from_secs(1), 64),
        };
        let cluster = wire.within(|| Cluster::start(2, &["hostint.reports.v1:64"]));
        let brokers = cluster.brokers.as_str();
        // Reports are sent within that network.
        let sent = wire.within(|| {
            let flags = ["--kafka", brokers, "--kafka-clock-topic", "none"];
            let room = ["--engine-queue", "2G"];
            let mut collecting = Collecting::start(&[&flags[..], &room].concat());
            send(&mut collecting, reports);
            wire.cut(brokers.split(',').map(port_of));
            let begin = Instant::now();
            send(&mut collecting, reports);
            collecting.await_status("it says why", |status| {
                begin.elapsed() >= cut && status["engines"][0]["trouble"].is_string()
            });
            wire.mend();
            collecting.await_delivery("kafka");
            let sent = collecting.sent.clone();
            end(collecting);
            sent
        });
        let messages = wire.within(|| cluster.consume(TOPIC));
        assert_eq!(Consumed::of(&messages, partitions).sums(), sent);
    }
}

/// These need programs that `packaging/install-build-deps.sh --test` installs.
mod tools {
    use super::*;

    #[test]
    fn a_cluster_has_all_that_was_sent_while_brokers_go_and_come() {
        let (topics, partitions) = (["hostint.reports.v1:16", "hostint.clocks.v1:4"], 16);
        let mut cluster = Cluster::start(3, &topics);
        let mut collecting = Collecting::start(&["--kafka", &cluster.brokers]);
        for round in 0..6 {
            // Each order comes in the middle of deliveries.
            collecting.send(2500);
            match round {
                0 => cluster.tell("down 1"),
                1 => cluster.tell("up 1"),
                2 => cluster.tell("error 6 5"),
                3 => cluster.tell("rtt 2 200"),
                4 => (1..=3).for_each(|broker| cluster.tell(&format!("down {broker}"))),
                _ => (1..=3).for_each(|broker| cluster.tell(&format!("up {broker}"))),
            }
        }
        collecting.await_delivery("kafka");
        let engine = collecting.engine("kafka");
        assert_eq!(engine["trouble"], Value::Null, "{engine}");
        let sent = collecting.sent.clone();
        end(collecting);
        let consumed = Consumed::of(&cluster.consume(TOPIC), partitions);
        assert_eq!(consumed.sums(), sent);
        assert_eq!(windows(&cluster.consume(CLOCK_TOPIC)), consumed.windows());
    }

    #[test]
    fn what_waits_too_long_is_dropped_and_counted_to_the_last_report() {
        let mut cluster = Cluster::start(1, &["hostint.reports.v1:8"]);
        let mut collecting = Collecting::start(&[
            "--kafka",
            &cluster.brokers,
            "--kafka-clock-topic",
            "none",
            "--engine-queue",
            "1M",
        ]);
        collecting.send(1000);
        collecting.await_delivery("kafka");
        cluster.tell("down 1");
        send(&mut collecting, if long() { 1_000_000 } else { 10_000 });
        let drops = |status: &Value| count(&status["engines"][0], "queue_drops") > 0;
        collecting.await_status("the queue is full", drops);
        collecting.await_status("it says why", |status| {
            status["engines"][0]["trouble"].is_string()
        });
        cluster.tell("up 1");
        // What comes from now on is delivered.
        collecting.await_status("what waited is delivered", |status| {
            count(&status["engines"][0], "waiting") == 0
        });
        collecting.send(1000);
        let sent = collecting.sent.reports;
        collecting.await_status("all is delivered or counted", |status| {
            let engine = &status["engines"][0];
            count(engine, "delivered") + count(engine, "queue_drops") == sent
        });
        let engine = collecting.engine("kafka");
        end(collecting);
        let consumed = Consumed::of(&cluster.consume(TOPIC), 8);
        assert_eq!(consumed.reports.len() as u64, count(&engine, "delivered"));
        let last = consumed.reports.keys().next_back().unwrap().1;
        assert_eq!(last, sent, "numbers that are missing were dropped");
    }
}
