//! Single deliveries to brokers that work and brokers that fail: each report is delivered once or counted.

use std::io::Write;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use hostint::engines::kafka::{Compression, Kafka, KafkaSettings};
use hostint::engines::*;
use hostint_testing::fed_reports::numbered;
use hostint_testing::synthetic::Synthetic;

use super::cluster::Cluster;
use super::consumed::{Consumed, windows};
use super::{CLOCK_TOPIC, TOPIC};

const TIME_NS: u64 = 1_800_000_000_000_000_000;
const LATE: Duration = Duration::from_secs(60);

pub fn settings(brokers: &str) -> KafkaSettings {
    KafkaSettings {
        brokers: brokers.split(',').map(str::to_owned).collect(),
        topic: TOPIC.to_owned(),
        clock_topic: None,
        compression: Compression::Lz4,
        tls: None,
        login: None,
        warn: |_| {},
    }
}

pub fn parcel(number: u64, reports: usize) -> Parcel {
    let mut synthetic = Synthetic::new(number, 8, 100);
    let entries = (0..reports).map(|n| {
        let sample = synthetic.report(n % 100, TIME_NS + n as u64 * 50_000_000);
        numbered(
            number * 1_000_000 + n as u64,
            sample.report,
            Some(sample.arrival),
        )
    });
    let entries = entries.collect();
    let batch = FedBatch {
        run: RunId(7),
        entries,
        bytes: 0,
    };
    Parcel::of(number, batch)
}

/// As the collector does it.
fn deliver(kafka: &mut Kafka, parcel: &Parcel) -> Accepted {
    let end = Instant::now() + LATE;
    loop {
        match kafka.deliver(parcel) {
            Ok(accepted) => return accepted,
            Err(Trouble::Refused(why)) => panic!("{why}"),
            Err(Trouble::Later(why)) => assert!(Instant::now() < end, "{why}"),
        }
    }
}

/// Codes of the protocol.
const NOT_LEADER: i32 = 6;
const TIMED_OUT: i32 = 7;
const TOO_LARGE: i32 = 10;
const NOT_ENOUGH_REPLICAS: i32 = 19;
const TOPIC_DENIED: i32 = 29;

/// These need programs that `packaging/install-build-deps.sh --test` installs.
mod tools {
    use super::*;

    #[test]
    fn reports_are_in_the_topic_whatever_compresses_them() {
        let kinds = [
            Compression::NoCompression,
            Compression::Gzip,
            Compression::Lz4,
            Compression::Snappy,
            Compression::Zstd,
        ];
        let cluster = Cluster::start(1, &["hostint.reports.v1:3"]);
        for (n, compression) in (1..).zip(kinds) {
            let mut kafka = Kafka::new(KafkaSettings {
                compression,
                ..settings(&cluster.brokers)
            });
            let parcel = parcel(n, 3000);
            assert_eq!(
                kafka.deliver(&parcel),
                Ok(Accepted::default()),
                "{compression:?}"
            );
            let consumed = Consumed::of(&cluster.consume(TOPIC), 3);
            assert_eq!(consumed.messages as u64, n * 3000, "{compression:?}");
            assert_eq!(consumed.reports.len() as u64, n * 3000, "{compression:?}");
        }
    }

    #[test]
    fn what_a_broker_answers_loses_no_report() {
        struct Case {
            name: &'static str,
            reports: usize,
            error: i32,
            times: usize,
            refused: usize,
        }
        let case = |name, error, times| Case {
            name,
            reports: 500,
            error,
            times,
            refused: 0,
        };
        let cases = [
            case("a leader that is none any more", NOT_LEADER, 2),
            case(
                "a leader that does not hear of replicas in time",
                TIMED_OUT,
                3,
            ),
            case("brokers are missing", NOT_ENOUGH_REPLICAS, 3),
            case("the user may not write", TOPIC_DENIED, 2),
            case("batches too large are sent in halves", TOO_LARGE, 7),
            Case {
                name: "a report too large is refused, for good",
                reports: 1,
                error: TOO_LARGE,
                times: 1,
                refused: 1,
            },
        ];
        for case in cases {
            let mut cluster = Cluster::start(1, &["hostint.reports.v1:4"]);
            let mut kafka = Kafka::new(settings(&cluster.brokers));
            assert_eq!(deliver(&mut kafka, &parcel(1, 100)).refused, 0);
            cluster.tell(&format!("error {} {}", case.error, case.times));
            let accepted = deliver(&mut kafka, &parcel(2, case.reports));
            assert_eq!(accepted.refused, case.refused, "{}", case.name);
            assert_eq!(accepted.why.is_some(), case.refused > 0, "{}", case.name);
            assert_eq!(
                deliver(&mut kafka, &parcel(3, 100)).refused,
                0,
                "{}",
                case.name
            );
            let consumed = Consumed::of(&cluster.consume(TOPIC), 4);
            let expected = 200 + case.reports - case.refused;
            assert_eq!(consumed.reports.len(), expected, "{}", case.name);
            assert_eq!(consumed.messages, expected, "{}: none twice", case.name);
        }
    }

    #[test]
    fn what_was_acknowledged_is_not_sent_again() {
        let mut cluster = Cluster::start(2, &["hostint.reports.v1:8"]);
        for partition in 0..8 {
            cluster.tell(&format!("leader {TOPIC} {partition} {}", partition % 2 + 1));
        }
        let mut kafka = Kafka::new(settings(&cluster.brokers));
        assert!(kafka.deliver(&parcel(1, 100)).is_ok());
        cluster.tell("down 2");
        let second = parcel(2, 1000);
        for _ in 0..2 {
            assert!(matches!(kafka.deliver(&second), Err(Trouble::Later(_))));
        }
        let consumed = Consumed::of(&cluster.consume_of(TOPIC, &[0, 2, 4, 6]), 8);
        let reached = consumed.messages;
        assert!(
            (300..900).contains(&reached),
            "about half of them: {reached}"
        );
        cluster.tell("up 2");
        assert_eq!(deliver(&mut kafka, &second), Accepted::default());
        let consumed = Consumed::of(&cluster.consume(TOPIC), 8);
        assert_eq!((consumed.reports.len(), consumed.messages), (1100, 1100));
    }

    #[test]
    fn leaders_may_change_at_any_time() {
        let mut cluster = Cluster::start(3, &["hostint.reports.v1:6"]);
        let mut kafka = Kafka::new(settings(&cluster.brokers));
        for round in 1..=9 {
            assert_eq!(
                deliver(&mut kafka, &parcel(round, 200)),
                Accepted::default()
            );
            for partition in 0..6 {
                let leader = (partition + round) % 3 + 1;
                cluster.tell(&format!("leader {TOPIC} {partition} {leader}"));
            }
        }
        let consumed = Consumed::of(&cluster.consume(TOPIC), 6);
        assert_eq!((consumed.reports.len(), consumed.messages), (1800, 1800));
    }

    #[test]
    fn no_broker_takes_longer_than_ten_seconds_and_it_is_said_what_is_wrong() {
        let cluster = Cluster::start(1, &["another:1"]);
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let silent_at = silent.local_addr().unwrap().to_string();
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let other_at = other.local_addr().unwrap().to_string();
        std::thread::spawn(move || {
            while let Ok((mut stream, _)) = other.accept() {
                let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
            }
        });
        let closed = TcpListener::bind("127.0.0.1:0").unwrap();
        let closed_at = closed.local_addr().unwrap().to_string();
        drop(closed);
        let cases = [
            ("no broker", closed_at, "Connection refused"),
            ("one that never answers", silent_at, "no answer in time"),
            (
                "one that speaks HTTP",
                other_at,
                "see whether a broker runs there",
            ),
            (
                "no topic",
                cluster.brokers.clone(),
                "try: kafka-topics.sh --create --topic hostint.reports.v1",
            ),
            (
                "no such name",
                "nobody.invalid:9092".to_owned(),
                "see whether a broker runs there",
            ),
        ];
        std::thread::scope(|all| {
            for (name, brokers, says) in &cases {
                all.spawn(move || {
                    let mut kafka = Kafka::new(settings(brokers));
                    let begin = Instant::now();
                    let Err(Trouble::Later(why)) = kafka.deliver(&parcel(1, 10)) else {
                        panic!("{name}: delivered");
                    };
                    assert!(begin.elapsed() < Duration::from_secs(10), "{name}");
                    assert!(why.contains(says), "{name}: {why}");
                    assert!(why.starts_with("cannot deliver to topic "), "{name}: {why}");
                });
            }
        });
    }

    #[test]
    fn clocks_are_told_for_each_pair_and_window() {
        let cluster = Cluster::start(1, &["hostint.reports.v1:4", "hostint.clocks.v1:4"]);
        let mut kafka = Kafka::new(KafkaSettings {
            clock_topic: Some(CLOCK_TOPIC.to_owned()),
            ..settings(&cluster.brokers)
        });
        // 100 s of reports of a file, and more than there is room for would be counted.
        deliver(&mut kafka, &parcel(1, 2000));
        kafka.tick();
        deliver(&mut kafka, &parcel(2, 2000));
        drop(kafka);
        let reports = Consumed::of(&cluster.consume(TOPIC), 4);
        let expected = reports.windows();
        assert!(expected.len() > 100, "{}", expected.len());
        assert_eq!(windows(&cluster.consume(CLOCK_TOPIC)), expected);
    }

    #[test]
    fn clocks_without_a_topic_hold_up_no_report_and_it_is_said() {
        use std::sync::Mutex;
        static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());
        let mut cluster = Cluster::start(1, &["hostint.reports.v1:1"]);
        let mut kafka = Kafka::new(KafkaSettings {
            clock_topic: Some(CLOCK_TOPIC.to_owned()),
            warn: |what| TOLD.lock().unwrap().push(what.to_owned()),
            ..settings(&cluster.brokers)
        });
        // Of a clock that is ahead, whose windows are not over.
        deliver(&mut kafka, &parcel(1, 100));
        cluster.tell("create another:1");
        drop(kafka);
        let told = TOLD.lock().unwrap().join("\n");
        assert!(
            told.contains(
                "cannot deliver clock messages to topic hostint.clocks.v1: there is no such topic"
            ),
            "{told}"
        );
        assert!(told.contains(" clock messages were lost"), "{told}");
        assert_eq!(cluster.consume(TOPIC).len(), 100);
    }
}
