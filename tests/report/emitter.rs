//! Reports are sent to collectors and packet senders and written to the log, numbered and counted.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use hostint::collector::NodeNotice;
use hostint::collector::{Exporters, Reception, ReportGroup, ReportListener};
use hostint::model::*;
use hostint::os::clock;
use hostint::report::{Builder, Destinations, Emitter, LogFormat, LogLine, LogSettings};
use hostint::wire::packet;
use hostint_testing::golden::decode;

use super::builder::loss_event;

const NOW_NS: u64 = 1_700_000_000_987_654_321;

const BUILDER: Builder = Builder {
    sink_node: NodeId(3),
    node_id_word: true,
    packet_headers: true,
    host_int: false,
    clock: None,
};

/// A packet from 127.0.0.1.
fn loopback_event(sequence: u32) -> SinkEvent {
    let mut ip = [0; 20];
    ip[0] = 0x45;
    ip[9] = 17;
    ip[12..16].copy_from_slice(&[127, 0, 0, 1]);
    let headers = QuotedHeaders::new(ip, &[0x9c, 0x40, 0x13, 0x89, 0, 8, 0, 0]).unwrap();
    SinkEvent::Latency(LatencyEvent {
        reasons: Reasons::default(),
        encapsulation: Encapsulation::OverTcpUdp,
        flow: headers.flow(),
        headers: Some(headers),
        source: Hop {
            node: NodeId(2),
            ingress_port: 13,
            egress_port: 13,
            ingress_ts: 1,
            egress_ts: 1,
            queue: None,
        },
        transit: Vec::new(),
        sink_port: 12,
        sink_ns: NOW_NS,
        by_nic: false,
        sequence,
        latency_ns: 1,
        queue: None,
    })
}

/// v0.5 tells the low 32 bits of the arrival.
fn as_v05(mut observation: Observation) -> Observation {
    if let Body::Latency(report) = &mut observation.body {
        report.arrival_ns = None;
    }
    observation
}

fn listener() -> (Reception, SocketAddr, SocketAddr) {
    let any_port = ["127.0.0.1:0", "[::1]:0"].map(|address| address.parse().unwrap());
    let listener = ReportListener::bind(&any_port, 1).unwrap();
    let addresses = listener.local_addresses();
    let reception = listener.start(16 << 20, clock::realtime_ns).unwrap();
    (reception, addresses[0], addresses[1])
}

/// Everything that arrives until `count` reports are there, by family of the sender.
fn collect(reception: &Reception, count: usize) -> BTreeMap<bool, Vec<Report>> {
    let mut reports: BTreeMap<bool, Vec<Report>> = BTreeMap::new();
    let mut left = count;
    while left > 0 {
        let came = reception.next(Duration::from_secs(10), |bytes, arrival| {
            let report = decode(bytes).unwrap();
            let family = reports.entry(arrival.exporter.is_ipv6()).or_default();
            family.push(report);
            left = left.saturating_sub(1);
            true
        });
        assert!(came, "{left} of {count} reports missing");
    }
    reports
}

#[test]
fn what_was_sent_is_what_arrives_numbered_for_each_destination() {
    let (listener, v4, v6) = listener();
    let mut emitter = Emitter::new(Destinations {
        collectors: vec![v4, v6],
        ..Destinations::default()
    })
    .unwrap();
    let observations: Vec<_> = (1..=20)
        .map(|n| BUILDER.build(&loopback_event(n), NOW_NS).unwrap())
        .chain(BUILDER.build(&SinkEvent::Loss(loss_event(6)), NOW_NS))
        .chain(BUILDER.build(&SinkEvent::Loss(loss_event(132)), NOW_NS))
        .chain(BUILDER.build(&loopback_event_over_ipv6(21), NOW_NS))
        .collect();
    for observation in &observations {
        emitter.emit(observation.clone());
    }
    let reports = collect(&listener, 46);
    for family in [false, true] {
        let expected = (1..)
            .zip(&observations)
            .map(|(sequence, observation)| Report {
                sequence,
                observation: as_v05(observation.clone()),
            });
        assert_eq!(reports[&family], expected.collect::<Vec<_>>());
    }
    let counts = emitter.counts();
    assert_eq!((counts.sent, counts.lost), (46, 0));
    assert_eq!(counts.collectors[1].destination, v6);
    assert_eq!(
        (counts.collectors[0].sent, counts.collectors[1].sent),
        (23, 23)
    );
    let received = listener.observer().get();
    assert_eq!(
        (received.datagrams, received.socket_drops, received.errors),
        (46, 0, 0)
    );
}

#[test]
fn a_report_that_could_not_be_sent_leaves_a_gap_and_a_count() {
    let (listener, v4, _) = listener();
    let nowhere: SocketAddr = "255.255.255.255:9".parse().unwrap();
    let mut emitter = Emitter::new(Destinations {
        collectors: vec![nowhere, v4],
        ..Destinations::default()
    })
    .unwrap();
    let good = BUILDER.build(&loopback_event(1), NOW_NS).unwrap();
    let too_big = Observation {
        body: Body::Packet(Box::new(PacketReport {
            packet: Some(packet::read(FirstHeader::Ethernet, &[0; 66_000], false)),
            ..PacketReport::default()
        })),
        ..good.clone()
    };
    for observation in [&good, &too_big, &good] {
        emitter.emit(observation.clone());
    }
    let reports = &collect(&listener, 2)[&false];
    assert_eq!((reports[0].sequence, reports[1].sequence), (1, 3));

    let mut exporters = Exporters::default();
    let arrival = Arrival {
        exporter: v4,
        received_ns: NOW_NS,
    };
    for report in reports {
        exporters.received(arrival, &ReportGroup::from(report.clone()));
    }
    assert_eq!(exporters.counts().numbers.lost, 1, "the receiver sees it");

    let counts = emitter.counts();
    assert_eq!((counts.sent, counts.lost), (2, 4));
    let [bad, fair] = &counts.collectors[..] else {
        panic!("two collectors");
    };
    assert_eq!((bad.sent, bad.lost, bad.lost_by_cause.total()), (0, 3, 3));
    assert_eq!(
        (fair.sent, fair.lost, fair.lost_by_cause.too_big),
        (2, 1, 1)
    );
    let json = serde_json::to_value(&counts).unwrap();
    assert_eq!(json["collectors"][1]["lost_by_cause"]["too_big"], 1);
    assert_eq!(json.get("log"), None);
}

/// A packet from ::1.
fn loopback_event_over_ipv6(sequence: u32) -> SinkEvent {
    let SinkEvent::Latency(mut event) = loopback_event(sequence) else {
        panic!("a latency event");
    };
    event.flow.src = "::1".parse().unwrap();
    event.flow.dst = "::1".parse().unwrap();
    event.headers = None;
    SinkEvent::Latency(event)
}

#[test]
fn reports_go_back_to_the_senders_of_packets() {
    let (listener, v4, v6) = listener();
    for (sentence, port, event, is_ipv6) in [
        (
            "over IPv4",
            v4.port(),
            loopback_event as fn(u32) -> SinkEvent,
            false,
        ),
        ("over IPv6", v6.port(), loopback_event_over_ipv6, true),
    ] {
        let mut emitter = Emitter::new(Destinations {
            report_to_sender: Some(port),
            ..Destinations::default()
        })
        .unwrap();
        for sequence in 1..=3 {
            emitter.emit(BUILDER.build(&event(sequence), NOW_NS).unwrap());
        }
        let reports = &collect(&listener, 3)[&is_ipv6];
        let numbers: Vec<_> = reports.iter().map(|report| report.sequence).collect();
        assert_eq!(numbers, [1, 2, 3], "{sentence}");
        let counts = emitter.counts().packet_senders.unwrap();
        assert_eq!(
            (counts.senders, counts.sent, counts.lost),
            (1, 3, 0),
            "{sentence}"
        );
    }
}

#[test]
fn nothing_is_sent_to_what_is_no_address_of_a_sender() {
    let mut emitter = Emitter::new(Destinations {
        report_to_sender: Some(9),
        ..Destinations::default()
    })
    .unwrap();
    let addresses = [
        "0.0.0.0",
        "255.255.255.255",
        "224.0.0.1",
        "::",
        "ff02::1",
        "fe80::1",
        "::ffff:127.0.0.1",
    ];
    for src in addresses {
        let mut loss = loss_event(17);
        loss.flow.src = src.parse().unwrap();
        emitter.emit(BUILDER.build(&SinkEvent::Loss(loss), NOW_NS).unwrap());
    }
    let counts = emitter.counts().packet_senders.unwrap();
    assert_eq!((counts.senders, counts.sent), (0, 0));
    assert_eq!(counts.lost_by_cause.not_unicast, 7);
    assert_eq!(counts.lost, 7);
}

#[test]
fn a_sender_that_is_a_collector_gets_each_report_once() {
    let (listener, v4, v6) = listener();
    let in_ipv6_clothes = format!("[::ffff:127.0.0.1]:{}", v4.port()).parse().unwrap();
    for (collectors, port, event, is_ipv6) in [
        (
            vec![v4, in_ipv6_clothes],
            v4.port(),
            loopback_event as fn(u32) -> SinkEvent,
            false,
        ),
        (vec![v6], v6.port(), loopback_event_over_ipv6, true),
    ] {
        let mut emitter = Emitter::new(Destinations {
            collectors,
            report_to_sender: Some(port),
            ..Destinations::default()
        })
        .unwrap();
        emitter.emit(BUILDER.build(&event(1), NOW_NS).unwrap());
        emitter.emit(BUILDER.build(&event(2), NOW_NS).unwrap());
        let reports = &collect(&listener, 2)[&is_ipv6];
        assert_eq!((reports[0].sequence, reports[1].sequence), (1, 2));
        assert_eq!(emitter.counts().sent, 2);
    }
}

/// A directory that goes away with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("hostint-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn logging(path: PathBuf, format: LogFormat) -> Emitter {
    Emitter::new(Destinations {
        log: Some(LogSettings { path, format }),
        ..Destinations::default()
    })
    .unwrap()
}

#[test]
fn the_log_is_numbered_and_survives_rotation() {
    let scratch = Scratch::new("rotation");
    let (path, old) = (scratch.0.join("report.log"), scratch.0.join("report.log.1"));
    let mut emitter = logging(path.clone(), LogFormat::HostInt);
    let observation = BUILDER.build(&loopback_event(9), NOW_NS).unwrap();
    emitter.emit(observation.clone());
    std::fs::rename(&path, &old).unwrap();
    emitter.emit(observation.clone());
    emitter.reopen_log().unwrap();
    emitter.emit(observation.clone());
    let line = |sequence| {
        let observation = observation.clone();
        let report = Report {
            sequence,
            observation,
        };
        format!("{}\n", LogLine(&report))
    };
    assert_eq!(std::fs::read_to_string(&old).unwrap(), line(1) + &line(2));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), line(3));
    let log = emitter.counts().log.unwrap();
    assert_eq!((log.lines, log.lost), (3, 0));

    std::fs::remove_dir_all(&scratch.0).unwrap();
    let error = emitter.reopen_log().unwrap_err().to_string();
    assert!(error.starts_with("cannot open report log /"), "{error}");
    emitter.emit(observation);
    assert_eq!(emitter.counts().log.unwrap().lines, 4, "into the old file");
}

#[test]
fn another_emitter_goes_on_with_numbers_and_counts() {
    let scratch = Scratch::new("inherit");
    let path = |name: &str| scratch.0.join(name);
    let (listener, stays, goes) = listener();
    let to = |collectors: Vec<SocketAddr>, log: &str| Destinations {
        collectors,
        log: Some(LogSettings {
            path: path(log),
            format: LogFormat::Json,
        }),
        ..Destinations::default()
    };
    let observation = BUILDER.build(&loopback_event(9), NOW_NS).unwrap();
    let mut emitter = Emitter::new(to(vec![stays, goes], "first")).unwrap();
    emitter.emit(observation.clone());
    emitter.emit(observation.clone());
    for (log, lines) in [("first", 3), ("second", 1)] {
        let mut next = Emitter::new(to(vec![stays], log)).unwrap();
        next.inherit(emitter);
        emitter = next;
        emitter.emit(observation.clone());
        let text = std::fs::read_to_string(path(log)).unwrap();
        assert_eq!(text.lines().count(), lines, "{log}");
    }
    let reports = collect(&listener, 6);
    let numbers = |family| -> Vec<u32> {
        let reports: &Vec<Report> = &reports[&family];
        reports.iter().map(|report| report.sequence).collect()
    };
    assert_eq!(
        (numbers(false), numbers(true)),
        (vec![1, 2, 3, 4], vec![1, 2])
    );
    let counts = emitter.counts();
    assert_eq!((counts.sent, counts.lost), (6, 0), "of those that went too");
    assert_eq!(counts.log.unwrap().lines, 4, "in both files");
}

#[test]
fn a_json_log_has_the_collectors_object() {
    let scratch = Scratch::new("json");
    let path = scratch.0.join("report.json");
    let mut emitter = logging(path.clone(), LogFormat::Json);
    let observation = BUILDER.build(&loopback_event(9), NOW_NS).unwrap();
    emitter.emit(observation.clone());
    let mut expected = Vec::new();
    let report = Report {
        sequence: 1,
        observation,
    };
    Record::new(&report, None)
        .append_line(&mut expected)
        .unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), expected);
}

#[test]
fn a_full_disk_costs_log_lines_and_nothing_else() {
    let (listener, v4, _) = listener();
    let mut emitter = Emitter::new(Destinations {
        collectors: vec![v4],
        log: Some(LogSettings {
            path: "/dev/full".into(),
            format: LogFormat::HostInt,
        }),
        ..Destinations::default()
    })
    .unwrap();
    for sequence in 1..=5 {
        emitter.emit(BUILDER.build(&loopback_event(sequence), NOW_NS).unwrap());
    }
    assert_eq!(collect(&listener, 5)[&false].len(), 5);
    let log = emitter.counts().log.unwrap();
    assert_eq!((log.lines, log.lost), (0, 5));
}

#[test]
fn every_collector_is_told_the_identity_beside_the_numbering_of_reports() {
    let collectors = [(); 2].map(|()| std::net::UdpSocket::bind("127.0.0.1:0").unwrap());
    let mut emitter = Emitter::new(Destinations {
        collectors: collectors
            .iter()
            .map(|one| one.local_addr().unwrap())
            .collect(),
        ..Destinations::default()
    })
    .unwrap();
    let identity = NodeIdentity {
        node: NodeId(3),
        period_s: 10,
        name: "web-3".to_owned(),
        ..NodeIdentity::default()
    };
    let loss = SinkEvent::Loss(loss_event(17));
    emitter.identify(&identity, 1);
    emitter.emit(BUILDER.build(&loss, NOW_NS).unwrap());
    emitter.identify(&identity, 11);
    assert_eq!(emitter.counts().sent, 2, "an identity is no report");
    for collector in &collectors {
        collector
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        let mut told = Vec::new();
        for _ in 0..3 {
            let mut buffer = [0; 2000];
            let length = collector.recv(&mut buffer).unwrap();
            let group = hostint::collector::decode(&buffer[..length]).unwrap();
            told.push((group.sequence, group.node, group.notice));
        }
        let node = Some(NodeId(3));
        let wanted = [
            (0, node, Some(NodeNotice::Identity(identity.clone()))),
            (1, node, None),
            (0, node, Some(NodeNotice::Identity(identity.clone()))),
        ];
        assert_eq!(told, wanted);
    }
}
