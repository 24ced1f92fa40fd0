//! A real Kafka broker, tansu, holds every report although it is killed, cut off, and asks for a password.

use std::time::{Duration, Instant};

use hostint_testing::collecting::Collecting;
use hostint_testing::wire::Wire;
use serde_json::Value;

use super::consumed::{Consumed, windows};
use super::tansu::{self, Tansu};

const PARTITIONS: usize = 12;
const REPORTS: &str = "hostint.reports.v1";
const CLOCKS: &str = "hostint.clocks.v1";

fn with_topics(name: &str) -> Tansu {
    let tansu = Tansu::new(name);
    tansu.create(&[REPORTS, CLOCKS].map(|topic| format!("{topic}:{PARTITIONS}")));
    tansu
}

/// Sends reports in four parts: while all is well, while the broker is gone, when it is back, and while nothing gets
/// through to it.
fn through_outages(tansu: &mut Tansu, wire: &Wire) -> hostint_testing::collecting::Sent {
    let (part, away) = match std::env::var_os("HOSTINT_LONG") {
        Some(_) => (250_000, Duration::from_secs(60)),
        None => (2_500, Duration::from_secs(1)),
    };
    let flags = ["--kafka", tansu::ADDRESS, "--queue", "1G"];
    let room = ["--engine-queue", "2G"];
    let mut collecting = Collecting::start(&[&flags[..], &room].concat());
    let meanwhile = |collecting: &mut Collecting| {
        let begin = Instant::now();
        collecting.send(part);
        collecting.await_status("it says why", |status| {
            begin.elapsed() >= away && status["engines"][0]["trouble"].is_string()
        });
    };
    collecting.send(part);
    // Some of that is not delivered yet.
    tansu.kill();
    meanwhile(&mut collecting);
    tansu.restart();
    collecting.send(part);
    wire.cut([tansu::PORT].into_iter());
    meanwhile(&mut collecting);
    wire.mend();
    collecting.await_delivery("kafka");
    let engine = collecting.engine("kafka");
    assert_eq!(engine["trouble"], Value::Null, "{engine}");
    let sent = collecting.sent.clone();
    collecting.collector.end();
    sent
}

/// These need root.
mod root {
    use super::*;

    #[test]
    fn a_real_broker_has_every_report_although_it_was_killed_and_cut_off() {
        let wire = Wire::new("tansu");
        wire.within(|| {
            let mut tansu = with_topics("outages");
            let sent = through_outages(&mut tansu, &wire);
            let got = Consumed::of(&tansu.consume(REPORTS), PARTITIONS);
            assert_eq!(got.sums(), sent);
            assert_eq!(windows(&tansu.consume(CLOCKS)), got.windows());
            println!("{} messages for {} reports", got.messages, sent.reports);
        });
    }

    #[test]
    fn a_real_broker_is_shown_who_it_is_by_scram() {
        let wire = Wire::new("scram");
        wire.within(|| {
            let mut tansu = with_topics("scram");
            tansu.authenticate();
            for (secret, right) in [("something else", false), (tansu::PASSWORD, true)] {
                let file = tansu.secret(secret);
                let mut collecting = Collecting::start(&[
                    "--kafka",
                    tansu::ADDRESS,
                    "--kafka-user",
                    tansu::USER,
                    "--kafka-password-file",
                    &file,
                ]);
                collecting.send(1000);
                if right {
                    collecting.await_delivery("kafka");
                } else {
                    collecting.await_status("it says why", |status| {
                        let engine = &status["engines"][0];
                        engine["delivered"] == 0 && engine["trouble"].is_string()
                    });
                    let trouble = collecting.engine("kafka")["trouble"].to_string();
                    assert!(trouble.contains("user"), "{trouble}");
                }
            }
            let got = Consumed::of(&tansu.consume(REPORTS), PARTITIONS);
            assert_eq!(got.reports.len(), 1000);
        });
    }
}
