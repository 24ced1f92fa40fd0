//! Kafka as an engine, with a real broker: the one that HOSTINT_KAFKA_BROKER names (host:port). It gets two topics, which
//! stay. HOSTINT_KAFKA_RESTART is a shell line that starts it anew in the middle of it all.

use std::process::Command;

use rskafka::client::ClientBuilder;

#[path = "kafka/cluster.rs"]
#[allow(dead_code)] // the mock cluster
mod cluster;
#[path = "support/collecting.rs"]
#[allow(dead_code)]
mod collecting;
#[path = "kafka/consumed.rs"]
#[allow(dead_code)]
mod consumed;
#[path = "cli/harness.rs"]
#[allow(dead_code)]
mod harness;
#[path = "support/random.rs"]
#[allow(dead_code)]
mod random;
#[path = "support/synthetic.rs"]
#[allow(dead_code)]
mod synthetic;

use cluster::consume;
use collecting::Collecting;
use consumed::{Consumed, windows};

const PARTITIONS: usize = 12;

fn create(broker: &str, topics: &[&str]) {
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().unwrap();
    runtime.block_on(async {
        let client = ClientBuilder::new(vec![broker.to_owned()]).build().await;
        let controller = client.unwrap().controller_client().unwrap();
        for topic in topics {
            let created = controller.create_topic(*topic, PARTITIONS as i32, 1, 10_000);
            created.await.unwrap();
        }
    });
}

#[test]
fn a_real_broker_has_every_report_whatever_becomes_of_it() {
    let broker = std::env::var("HOSTINT_KAFKA_BROKER").expect("names a broker: host:port");
    let restart = std::env::var("HOSTINT_KAFKA_RESTART").unwrap_or_default();
    let reports = match std::env::var_os("HOSTINT_LONG") {
        Some(_) => 500_000,
        None => 10_000,
    };
    let run = std::process::id();
    let (topic, clocks) = (format!("hostint-{run}"), format!("hostint-{run}-clocks"));
    create(&broker, &[&topic, &clocks]);
    let mut collecting = Collecting::start(&[
        "--kafka",
        &broker,
        "--kafka-topic",
        &topic,
        "--kafka-clock-topic",
        &clocks,
        "--engine-queue",
        "2G",
    ]);
    collecting.send(reports);
    let restarted = Command::new("sh").args(["-ec", &restart]).status();
    assert!(restarted.unwrap().success(), "{restart}");
    collecting.send(reports);
    collecting.await_delivery("kafka");
    let sent = collecting.sent.clone();
    let daemon = collecting.daemon;
    daemon.signal(nix::sys::signal::Signal::SIGTERM);
    let (code, says) = daemon.end();
    assert_eq!(code, Some(0), "{says}");
    let consumed = |topic| consume(Command::new("kcat"), &broker, topic);
    let got = Consumed::of(&consumed(&topic), PARTITIONS);
    assert_eq!(got.sums(), sent);
    assert_eq!(windows(&consumed(&clocks)), got.windows());
}
