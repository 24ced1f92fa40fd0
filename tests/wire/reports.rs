//! hostint's own reports are read and written back, and malformed reports are refused.

use std::fmt::Display;

use hostint::model::*;
use hostint::wire::{report_v05, summary_totals};
use hostint_testing::golden::{decode, udp_payload};
use hostint_testing::random_reports::Random;
use hostint_testing::report_samples;

const HOST_INT_REPORTS: [&str; 4] = [
    "hostint_report_l4_udp",
    "hostint_report_l4_tcp",
    "hostint_report_ext_udp",
    "hostint_drop_summary_udp",
];

/// With a queue of a transit hop, in bytes.
const HOP_QUEUES: &str = "../wire/dissector/hostint_report_hop_queues_udp6";

const EXTENDED_REPORTS: [&str; 3] = [
    "hostint_report_extended_udp6",
    HOP_QUEUES,
    "hostint_drop_summary_extended_tcp",
];

const STANDARD_REPORTS: [&str; 7] = [
    "tr05_flow_int05",
    "tr05_drop",
    "tr05_local",
    "ihr_flow_udp",
    "ihr_flow_udp_padded",
    "ihr_flow_prenat",
    "ihr_drop_proto17",
];

fn emit(report: &Report) -> Vec<u8> {
    report_samples::datagram(report)
}

/// The NProto field.
fn kind(datagram: &[u8]) -> u8 {
    datagram[0] & 0x0f
}

/// What every decodable datagram has to satisfy, whoever made it.
fn assert_stable(sentence: impl Display, bytes: &[u8]) {
    if let Ok(report) = report_v05::decode(bytes) {
        let again = emit(&report);
        // A slot of a histogram that is told with 0 packets is not told again.
        if kind(bytes) == 7 {
            assert!(again.len() <= bytes.len(), "{sentence}: emitted size");
            assert_eq!(decode(&again), Ok(report), "{sentence}: decoded again");
            return;
        }
        // An extended drop-summary of a flow that Host-INT's can name is sent as Host-INT's.
        if kind(&again) == kind(bytes) {
            assert_eq!(again.len(), bytes.len(), "{sentence}: emitted size");
        } else {
            assert_eq!((kind(bytes), kind(&again)), (6, 3), "{sentence}: kind");
        }
        assert_eq!(decode(&again), Ok(report), "{sentence}: decoded again");
    }
}

/// The datagrams that Host-INT sends when its node ID word is switched off.
fn without_word(name: &str) -> Vec<u8> {
    let mut bytes = udp_payload(name);
    bytes.drain(12..16);
    bytes
}

fn tcp_drop_summary() -> Vec<u8> {
    let mut bytes = udp_payload("hostint_drop_summary_udp");
    bytes[36 + 9] = 6;
    bytes[60..64].fill(0);
    bytes.resize(76, 0);
    bytes
}

/// Summaries of groups and of flows, whole and in parts.
fn summaries() -> Vec<(String, Vec<u8>)> {
    let reports = report_samples::summaries().into_iter();
    reports
        .map(|report| {
            let Body::Summary(summary) = &report.observation.body else {
                unreachable!()
            };
            let what = (report.observation.kind(), summary.totals.slots);
            (format!("hostint: {what:?}"), emit(&report))
        })
        .collect()
}

fn all_reports() -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<_> = HOST_INT_REPORTS
        .iter()
        .chain(&EXTENDED_REPORTS)
        .chain(&STANDARD_REPORTS)
        .map(|name| (name.to_string(), udp_payload(name)))
        .collect();
    for name in &HOST_INT_REPORTS[..3] {
        all.push((format!("{name} without word"), without_word(name)));
    }
    all.push(("hostint_drop_summary_tcp".into(), tcp_drop_summary()));
    all.extend(summaries());
    all
}

#[test]
fn golden_reports_are_emitted_as_they_were_read() {
    for (name, bytes) in all_reports() {
        let report = decode(&bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(emit(&report), bytes, "{name}");
    }
}

fn key(src: &str, dst: &str, sport: u16, dport: u16, protocol: u8) -> Option<FlowKey> {
    Some(FlowKey {
        src: src.parse().unwrap(),
        dst: dst.parse().unwrap(),
        sport,
        dport,
        protocol,
        vlans: Vlans::NONE,
    })
}

fn in_vlans(flow: Option<FlowKey>, outer: u16, inner: u16) -> Option<FlowKey> {
    let vlans = Vlans { outer, inner };
    flow.map(|flow| FlowKey { vlans, ..flow })
}

#[test]
fn golden_reports_say_what_they_are_about() {
    struct Case {
        name: &'static str,
        kind: &'static str,
        sequence: u32,
        timestamp: u32,
        reporter: Option<u32>,
        latency_ns: Option<i64>,
        flow: Option<FlowKey>,
    }
    let udp = || key("192.0.2.1", "198.51.100.2", 40000, 5001, 17);
    let tcp = || key("192.0.2.1", "198.51.100.2", 49152, 80, 6);
    let latency = Some(0x3d89_ae86 - 0x3d85_cd15);
    let cases = [
        Case {
            name: "hostint_report_l4_udp",
            kind: "latency",
            sequence: 1,
            timestamp: 1_700_000_000,
            reporter: Some(3),
            latency_ns: latency,
            flow: udp(),
        },
        Case {
            name: "hostint_report_l4_tcp",
            kind: "latency",
            sequence: 1,
            timestamp: 1_700_000_000,
            reporter: Some(3),
            latency_ns: latency,
            flow: tcp(),
        },
        Case {
            name: "hostint_report_ext_udp",
            kind: "latency",
            sequence: 1,
            timestamp: 1_700_000_000,
            reporter: Some(3),
            latency_ns: latency,
            flow: udp(),
        },
        Case {
            name: "hostint_drop_summary_udp",
            kind: "drop-summary",
            sequence: 2,
            timestamp: 1_700_000_001,
            reporter: Some(3),
            latency_ns: None,
            flow: udp(),
        },
        Case {
            name: "hostint_report_extended_udp6",
            kind: "latency",
            sequence: 1,
            timestamp: 1_700_000_000,
            reporter: Some(3),
            latency_ns: latency,
            flow: in_vlans(key("2001:db8::1", "2001:db8:1::2", 40000, 5001, 17), 100, 7),
        },
        Case {
            name: HOP_QUEUES,
            kind: "latency",
            sequence: 2,
            timestamp: 1_700_000_000,
            reporter: Some(3),
            latency_ns: latency,
            flow: in_vlans(key("2001:db8::1", "2001:db8:1::2", 40000, 5001, 17), 100, 7),
        },
        Case {
            name: "hostint_drop_summary_extended_tcp",
            kind: "drop-summary",
            sequence: 2,
            timestamp: 1_700_000_001,
            reporter: Some(3),
            latency_ns: None,
            flow: in_vlans(tcp(), 0, 7),
        },
        Case {
            name: "tr05_flow_int05",
            kind: "ethernet",
            sequence: 7,
            timestamp: 0x3d85_cd15,
            reporter: None,
            latency_ns: None,
            flow: key("192.0.2.1", "198.51.100.2", 49152, 22, 6),
        },
        Case {
            name: "tr05_drop",
            kind: "drop",
            sequence: 8,
            timestamp: 0x3d85_cd15,
            reporter: Some(103),
            latency_ns: None,
            flow: tcp(),
        },
        Case {
            name: "tr05_local",
            kind: "local",
            sequence: 9,
            timestamp: 0x3d85_cd15,
            reporter: Some(103),
            latency_ns: None,
            flow: tcp(),
        },
    ];
    for case in cases {
        let report = decode(&udp_payload(case.name)).unwrap();
        let seen = &report.observation;
        assert_eq!(report.sequence, case.sequence, "{}", case.name);
        assert_eq!(seen.kind(), case.kind, "{}", case.name);
        let timestamp = match &seen.body {
            Body::Packet(packet) => packet.metadata.ingress_ts.unwrap(),
            Body::DropSummary(summary) => summary.time_s.into(),
            Body::Latency(latency) => latency.time_s.into(),
            Body::Summary(summary) => summary.time_s.into(),
            Body::HostDrop(report) => report.time_s.into(),
            Body::FlowPassage(report) => report.time_s.into(),
            Body::Queue(report) => report.time_s.into(),
            Body::Connection(report) => report.time_s.into(),
            Body::PathPart(_) | Body::HostDropSum(_) => unreachable!("no host sends it"),
        };
        assert_eq!(timestamp, u64::from(case.timestamp), "{}", case.name);
        assert_eq!(seen.reporter().map(|n| n.0), case.reporter, "{}", case.name);
        assert_eq!(seen.latency_ns(), case.latency_ns, "{}", case.name);
        assert_eq!(seen.flow(), case.flow, "{}", case.name);
    }
}

#[test]
fn a_drop_summary_names_nodes_ports_and_gap() {
    let (udp, tcp) = (
        key("192.0.2.1", "198.51.100.2", 40000, 5001, 17),
        key("192.0.2.1", "198.51.100.2", 40000, 5001, 6),
    );
    let extended = key("192.0.2.1", "198.51.100.2", 49152, 80, 6);
    for (bytes, flow) in [
        (udp_payload("hostint_drop_summary_udp"), udp),
        (tcp_drop_summary(), tcp),
        (
            udp_payload("hostint_drop_summary_extended_tcp"),
            in_vlans(extended, 0, 7),
        ),
    ] {
        let report = decode(&bytes).unwrap();
        assert!(report.observation.flags.dropped && report.observation.flags.tracked_flow);
        assert_eq!(
            report.observation.body,
            Body::DropSummary(DropSummary {
                version: ReportVersion::V05,
                time_s: 0x6553_f101,
                source_node: NodeId(2),
                sink_node: NodeId(3),
                source_port: 13,
                sink_port: 12,
                gap_time_s: 0x6553_f100,
                before_seq: 41,
                count: 5,
                flow: flow.unwrap(),
            })
        );
    }
}

#[test]
fn the_header_of_a_standard_report_is_read_to_the_last_bit() {
    let metadata_of = |name: &str| match decode(&udp_payload(name)).unwrap().observation {
        Observation {
            body: Body::Packet(report),
            hw_id,
            flags,
            ..
        } => (report, hw_id.get(), flags),
        other => panic!("{other:?}"),
    };
    let (report, hw_id, flags) = metadata_of("tr05_drop");
    assert_eq!((hw_id, flags.dropped, flags.tracked_flow), (5, true, false));
    assert_eq!(
        report.metadata,
        Metadata {
            ingress_port: Some(31),
            egress_port: Some(32),
            queue_id: Some(3),
            drop_reason: Some(80),
            ingress_ts: Some(0x3d85_cd15),
            ..Metadata::default()
        }
    );
    let (report, hw_id, flags) = metadata_of("tr05_local");
    assert_eq!((hw_id, flags.congested_queue), (5, true));
    assert_eq!(
        report.metadata,
        Metadata {
            ingress_port: Some(31),
            egress_port: Some(32),
            queue_id: Some(3),
            queue_occupancy: Some(1500),
            ingress_ts: Some(0x3d85_cd15),
            egress_ts: Some(0x3d85_d8cd),
            ..Metadata::default()
        }
    );
    assert_eq!(report.packet.map(|packet| packet.length), Some(54));
}

#[test]
fn every_prefix_of_a_host_int_report_is_refused() {
    for (name, bytes) in all_reports() {
        if !name.starts_with("hostint") {
            continue;
        }
        for length in 0..bytes.len() {
            let refused = decode(&bytes[..length]).is_err();
            assert!(refused, "{name} cut to {length} bytes");
        }
        let longer = [&bytes[..], &[0]].concat();
        assert!(decode(&longer).is_err(), "{name} with a byte too much");
    }
}

#[test]
fn a_prefix_of_a_standard_report_is_a_shorter_packet_or_refused() {
    for name in STANDARD_REPORTS {
        let bytes = udp_payload(name);
        let header = 12 + [0, 12, 16][usize::from(bytes[0])];
        for length in 0..=bytes.len() {
            let decoded = decode(&bytes[..length]);
            assert_eq!(decoded.is_ok(), length >= header, "{name} cut to {length}");
            assert_stable(name, &bytes[..length]);
        }
    }
}

#[test]
fn refusals_name_what_is_wrong() {
    let report = udp_payload("hostint_report_l4_udp");
    let with = |at: usize, byte: u8| {
        let mut bytes = report.clone();
        bytes[at] = byte;
        bytes
    };
    let cases = [
        (
            Vec::new(),
            "report header at offset 0 needs 1 bytes, 0 left",
        ),
        (
            with(0, 0x34),
            "telemetry report version 3, expected 0 (v0.5), 1 (v1.0) or 2 (v2.0)",
        ),
        (
            with(0, 9),
            "report kind (NProto) 9, expected 0 to 8, or 10 to 15",
        ),
        (
            report[..91].to_vec(),
            "latency report of 91 bytes, expected 88 or 100 without, 92 or 104 with the node ID \
             word (UDP or TCP)",
        ),
        (
            udp_payload("hostint_drop_summary_udp")[..63].to_vec(),
            "drop-summary report of 63 bytes, expected 64 (UDP) or 76 (TCP)",
        ),
        (
            with(16, 0x46),
            "IPv4 version and header length at offset 16 is 0x46, expected 0x45",
        ),
        (
            with(25, 6),
            "IP protocol at offset 25 is 0x6, expected 0x11",
        ),
        (with(44, 1), "shim type at offset 44 is 0x1, expected 0x3"),
        (with(46, 9), "shim length at offset 46 is 0x9, expected 0xc"),
        (
            with(51, 1),
            "total hop count at offset 51 is 0x1, expected 0x2",
        ),
        (
            with(52, 0xcd),
            "instruction bitmap at offset 52 is 0xcd00, expected 0xcc00",
        ),
    ];
    for (bytes, sentence) in cases {
        let error = decode(&bytes).expect_err(sentence);
        assert_eq!(error.to_string(), sentence);
    }
}

#[test]
fn refusals_of_extended_reports_name_what_is_wrong() {
    let [latency, _, loss] = EXTENDED_REPORTS.map(udp_payload);
    let with = |report: &[u8], at: usize, byte: u8| {
        let mut bytes = report.to_vec();
        bytes[at] = byte;
        bytes
    };
    let cases = [
        (
            latency[..111].to_vec(),
            "extended latency report of 111 bytes, expected 112 with two hops",
        ),
        (
            latency[..12].to_vec(),
            "extended latency report of 12 bytes, expected 112 with two hops",
        ),
        (
            loss[..79].to_vec(),
            "extended drop-summary report of 79 bytes, expected 80",
        ),
        (
            with(&latency, 12, 2),
            "flow layout at offset 12 is 0x2, expected 0x1",
        ),
        (
            with(&latency, 13, 0xc1),
            "unknown flow flags at offset 13 is 0x1, expected 0x0",
        ),
        (
            with(&loss, 37, 0x40),
            "unknown flow flags at offset 37 is 0x40, expected 0x0",
        ),
        (
            with(&latency, 15, 1),
            "reserved flow byte at offset 15 is 0x1, expected 0x0",
        ),
        (
            with(&latency, 20, 0x10),
            "bits above the outer VLAN id at offset 20 is 0x1000, expected 0x0",
        ),
        (
            with(&latency, 22, 0xf0),
            "bits above the inner VLAN id at offset 22 is 0xf000, expected 0x0",
        ),
        (
            with(&loss, 48, 1),
            "beginning of an IPv4-mapped address at offset 48 is 0x1000000, expected 0x0",
        ),
        (
            with(&loss, 75, 0xfe),
            "beginning of an IPv4-mapped address at offset 72 is 0xfffe, expected 0xffff",
        ),
        (
            with(&latency, 13, 0x40),
            "beginning of an IPv4-mapped address at offset 24 is 0x20010db8, expected 0x0",
        ),
        (
            with(&latency, 56, 1),
            "bits above the queue packets at offset 56 is 0x1000000, expected 0x0",
        ),
        (
            with(&latency, 13, 0x80),
            "queue packets without flag at offset 56 is 0xc, expected 0x0",
        ),
        (
            with(&with(&latency, 13, 0x80), 59, 0),
            "queue bytes without flag at offset 60 is 0x4650, expected 0x0",
        ),
        (
            with(&latency, 64, 1),
            "shim type at offset 64 is 0x1, expected 0x3",
        ),
        (
            with(&latency, 71, 1),
            "total hop count at offset 71 is 0x1, expected 0x2",
        ),
    ];
    for (bytes, sentence) in cases {
        let error = decode(&bytes).expect_err(sentence);
        assert_eq!(error.to_string(), sentence);
    }
}

#[test]
fn an_extended_latency_report_tells_the_queue_of_the_source() {
    let mut bytes = udp_payload("hostint_report_extended_udp6");
    let queue_of = |bytes: &[u8]| match decode(bytes).unwrap().observation.body {
        Body::Latency(report) => report.queue(),
        other => panic!("{other:?}"),
    };
    let expected = QueueDepth {
        packets: 12,
        bytes: 18_000,
    };
    assert_eq!(queue_of(&bytes), Some(expected));
    bytes[56..64].fill(0);
    assert_eq!(
        queue_of(&bytes),
        Some(QueueDepth::default()),
        "an empty queue is told as well"
    );
    bytes[13] &= !0x40;
    assert_eq!(queue_of(&bytes), None, "an unknown one is not");
}

#[test]
fn a_report_with_queues_of_hops_is_read_as_the_manual_has_it() {
    let report = decode(&udp_payload(HOP_QUEUES)).unwrap();
    let Body::Latency(latency) = report.observation.body else {
        panic!("no latency");
    };
    let hops = latency.hops.iter().map(|hop| (hop.node.0, hop.queue));
    let expected = [
        (3, None),
        (0x70_0001, Some(HopQueue::Bytes(66_000))),
        (2, None),
    ];
    assert_eq!(hops.collect::<Vec<_>>(), expected);
}

#[test]
fn the_queues_of_hops_are_read_back_and_nothing_else_is_taken_for_them() {
    let mut random = Random(0x5851_f42d_4c95_7f2d);
    for round in 0..20_000 {
        let latency = random.passed();
        let report = Report {
            sequence: round,
            observation: Observation {
                hw_id: HwId::default(),
                flags: Flags {
                    tracked_flow: true,
                    ..Flags::default()
                },
                clock: None,
                body: Body::Latency(latency),
            },
        };
        let bytes = emit(&report);
        assert_eq!(decode(&bytes), Ok(report), "round {round}");
        // Bytes 13 and 68 say whether there are words for them, and the datagram's length, too.
        let mut other = bytes.clone();
        other[13] ^= 0x20;
        decode(&other).expect_err("words without their flag, or the flag without them");
    }
}

#[test]
fn a_queue_too_long_for_its_field_is_reported_as_the_longest() {
    let mut report = decode(&udp_payload("hostint_report_extended_udp6")).unwrap();
    if let Body::Latency(latency) = &mut report.observation.body
        && let ReportedPacket::Named { queue, .. } = &mut latency.packet
    {
        *queue = Some(QueueDepth {
            packets: 1 << 24,
            bytes: u32::MAX,
        });
    }
    assert_eq!(
        emit(&report)[56..64],
        [0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]
    );
}

#[test]
fn a_drop_summary_has_the_kind_that_can_name_its_flow() {
    let plain = key("192.0.2.1", "198.51.100.2", 40000, 5001, 17).unwrap();
    let six = key("2001:db8::1", "2001:db8::2", 40000, 5001, 17).unwrap();
    let cases = [
        ("UDP over IPv4", plain, (3, 64)),
        (
            "TCP over IPv4",
            FlowKey {
                protocol: 6,
                ..plain
            },
            (3, 76),
        ),
        (
            "another protocol over IPv4",
            FlowKey {
                protocol: 132,
                ..plain
            },
            (6, 80),
        ),
        ("one VLAN", in_vlans(Some(plain), 0, 4095).unwrap(), (6, 80)),
        (
            "two VLANs",
            in_vlans(Some(plain), 4095, 1).unwrap(),
            (6, 80),
        ),
        (
            "a VLAN around a tag without id",
            in_vlans(Some(plain), 9, 0).unwrap(),
            (6, 80),
        ),
        ("IPv6", six, (6, 80)),
        (
            "IPv4 in IPv6 clothes",
            FlowKey {
                src: "::ffff:192.0.2.1".parse().unwrap(),
                ..six
            },
            (6, 80),
        ),
    ];
    for (sentence, flow, expected) in cases {
        let mut random = Random(11);
        let mut report = random.report();
        report.observation.body = Body::DropSummary(DropSummary {
            flow,
            ..random.drop_summary()
        });
        let bytes = emit(&report);
        assert_eq!((kind(&bytes), bytes.len()), expected, "{sentence}");
        assert_eq!(decode(&bytes), Ok(report), "{sentence}");
    }
}

#[test]
fn an_extended_drop_summary_of_any_flow_is_read() {
    let mut bytes = udp_payload("hostint_drop_summary_extended_tcp");
    bytes[46..48].fill(0);
    let report = decode(&bytes).unwrap();
    assert_eq!(
        report.observation.flow(),
        key("192.0.2.1", "198.51.100.2", 49152, 80, 6),
        "though Host-INT's kind could tell it"
    );
    assert_stable("without VLAN", &bytes);
}

#[test]
fn the_clock_is_told_in_one_byte_of_the_header() {
    use ClockSource::{Nic, Realtime, Tai, Unknown};
    let told = |source, synchronised| {
        Some(ClockState {
            source,
            synchronised,
        })
    };
    for (byte, canonical, clock) in [
        (0x00, 0x00, None),
        (0xe0, 0x00, None),
        (0x0f, 0x00, None),
        (0x10, 0x10, told(Unknown, false)),
        (0x30, 0x30, told(Unknown, true)),
        (0x50, 0x50, told(Tai, false)),
        (0x70, 0x70, told(Tai, true)),
        (0xb0, 0xb0, told(Realtime, true)),
        (0xf0, 0xf0, told(Nic, true)),
        (0xff, 0xf0, told(Nic, true)),
    ] {
        for (name, mut bytes) in all_reports() {
            bytes[2] = byte;
            let report = decode(&bytes).unwrap();
            assert_eq!(report.observation.clock, clock, "{name} with {byte:#x}");
            assert_eq!(emit(&report)[2], canonical, "{name} with {byte:#x}");
        }
    }
}

#[test]
fn no_changed_byte_makes_a_report_unstable() {
    for (name, bytes) in all_reports() {
        // The slots of a summary, which come last, are all alike.
        for at in 0..bytes.len().min(300) {
            // Other versions are another test's. Behind what all kinds begin with, each bit is changed by itself.
            let values: Vec<u8> = match at {
                0 => (0..=15).collect(),
                1..64 => (0..=255).collect(),
                _ => (0..8)
                    .map(|bit| bytes[at] ^ 1 << bit)
                    .chain([0, 255])
                    .collect(),
            };
            let mut changed = bytes.clone();
            for value in values {
                changed[at] = value;
                assert_stable(format_args!("{name} with {value} at {at}"), &changed);
            }
        }
    }
}

#[test]
fn a_report_arrives_as_it_was_sent() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for round in 0..100_000 {
        let report = random.report();
        assert_eq!(decode(&emit(&report)), Ok(report), "round {round}");
    }
}

#[test]
fn random_bytes_behind_a_good_beginning_are_survived() {
    let mut random = Random(42);
    let seeds = all_reports();
    for round in 0..200_000 {
        let (_, seed) = &seeds[random.u8() as usize % seeds.len()];
        let mut bytes = seed.clone();
        for _ in 0..random.u8() % 8 {
            let at = random.u16() as usize % bytes.len();
            bytes[at] = random.u8();
        }
        bytes.resize(random.u8() as usize, 0);
        assert_stable(format_args!("round {round}"), &bytes);
    }
}

#[test]
fn other_numbers_of_hops_are_read_where_the_length_agrees() {
    let mut random = Random(7);
    for hops in 1..=HopStack::MAX_HOPS {
        for _ in 0..8 {
            let stack: Vec<_> = (0..hops).map(|_| random.hop()).collect();
            for packet in [random.quoted(), random.named()] {
                let mut report = random.report();
                report.observation.body = Body::Latency(LatencyReport {
                    version: ReportVersion::V05,
                    arrival_ns: None,
                    time_s: random.u32(),
                    packet,
                    hops: HopStack::newest_first(&stack).unwrap(),
                    sequence: random.u32(),
                });
                assert_eq!(decode(&emit(&report)), Ok(report), "{hops} hops");
            }
        }
    }
    assert_eq!(HopStack::newest_first(&[]), None);
    let many: Vec<_> = (0..63).map(|_| random.hop()).collect();
    assert_eq!(HopStack::newest_first(&many), None, "no shim is that long");
}

#[test]
fn the_parts_of_a_summary_fit_into_datagrams_and_are_the_summary_again() {
    let mut random = Random(0x5eed);
    let mut several = 0;
    for round in 0..400 {
        let mut report = random.report();
        let mut whole = random.summary();
        let values = (0..1 + 8 * round % 1999).map(|_| {
            let bits = 33 + random.u8() % 31;
            (random.next() >> bits).cast_signed()
        });
        values.for_each(|ns| whole.totals.latency.add(ns));
        let parts = summary_totals::parts(&whole);
        several += usize::from(parts.len() > 1);
        let mut joined: Option<Summary> = None;
        for part in &parts {
            report.observation.body = Body::Summary(Box::new(part.clone()));
            let bytes = emit(&report);
            assert!(bytes.len() <= summary_totals::MOST_SUMMARY_BYTES);
            assert_eq!(decode(&bytes), Ok(report.clone()), "round {round}");
            match &mut joined {
                None => joined = Some(part.clone()),
                Some(joined) => assert_eq!(joined.join(part), Ok(true), "round {round}"),
            }
        }
        assert_eq!(joined, Some(whole), "round {round}");
    }
    assert!(several > 100, "only {several} summaries had several parts");
}

#[test]
fn parts_are_joined_in_order_and_with_those_of_the_same_summary_alone() {
    let parts: Vec<Summary> = report_samples::summaries()
        .into_iter()
        .filter_map(|report| match report.observation.body {
            Body::Summary(part) if !part.is_whole() => Some(*part),
            _ => None,
        })
        .collect();
    let [first, second, ..] = &parts[..] else {
        panic!("{} parts", parts.len())
    };
    let with = |change: &dyn Fn(&mut Summary)| {
        let mut part = second.clone();
        change(&mut part);
        part
    };
    let cases = [
        ("the next part", second.clone(), true),
        ("the same part", first.clone(), false),
        ("of another second", with(&|part| part.time_s += 1), false),
        (
            "of another source",
            with(&|part| part.source_node.0 += 1),
            false,
        ),
        (
            "of another epoch",
            with(&|part| part.totals.epoch_ns += 1),
            false,
        ),
        (
            "with another number of packets",
            with(&|part| part.totals.packets += 1),
            false,
        ),
        (
            "with a hole before it",
            with(&|part| part.totals.slots.from += 1),
            false,
        ),
    ];
    for (sentence, part, joins) in cases {
        let mut summary = first.clone();
        assert_eq!(summary.join(&part), Ok(joins), "{sentence}");
        assert_eq!(summary == *first, !joins, "{sentence}");
    }
    let mut lacking = first.clone();
    let last = with(&|part| part.totals.slots.to = SlotRange::ALL.to);
    assert_eq!(
        lacking.join(&last).is_err(),
        parts.len() > 2,
        "counts that are missing"
    );
}

#[test]
fn summaries_that_were_written_by_hand_are_read_and_written_alike() {
    let summary = |name: &str| {
        let bytes = udp_payload(&format!("../wire/dissector/{name}"));
        let report = decode(&bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(emit(&report), bytes, "{name}");
        match report.observation.body {
            Body::Summary(summary) => *summary,
            other => panic!("{name}: {other:?}"),
        }
    };
    let group = summary("group_summary");
    assert_eq!(group.class(), Some("storage"));
    assert_eq!((group.source_node, group.sink_node), (NodeId(2), NodeId(3)));
    assert_eq!(group.period_ns, 10_000_000_000);
    let totals = &group.totals;
    assert_eq!((totals.packets, totals.bytes), (10_000, 15_000_000));
    assert_eq!((totals.lost, totals.recovered), (5, 2));
    assert_eq!((totals.reordered, totals.duplicates), (12, 3));
    assert_eq!((totals.late, totals.restarts), (1, 2));
    assert_eq!(totals.squares, FlowSquares::of_flow(3, 10_000));
    let latency = &totals.latency;
    assert_eq!(latency.resolution(), LatencyResolution::Coarse);
    assert_eq!(latency.ends(), Some((-120, 60_000)));
    assert_eq!(latency.sum_ns(), 400_000_000);
    let slots: Vec<_> = latency.counts().collect();
    assert_eq!(slots, [(0, 100), (255, 900), (65_535, 9000)]);

    let flow = summary("flow_distribution");
    let tcp = key("192.0.2.1", "198.51.100.2", 49152, 80, 6);
    let subject = SummarySubject::Flow {
        flow: in_vlans(tcp, 0, 7).unwrap(),
        source_port: 13,
        sink_port: 12,
    };
    assert_eq!(flow.subject, subject);
    assert_eq!(flow.totals.latency.resolution(), LatencyResolution::Middle);
    let slots: Vec<_> = flow.totals.latency.counts().collect();
    assert_eq!(slots, [(212_991, 400), (262_143, 500), (327_679, 100)]);

    let unknown = decode(&udp_payload("../wire/dissector/framed_unknown"));
    assert_eq!(
        unknown.unwrap_err().to_string(),
        "sub-kind of a framed report 9, expected 2"
    );
}

#[test]
fn the_class_of_a_summary_moves_no_cursor() {
    let mut group = udp_payload("../wire/dissector/group_summary");
    assert_eq!(&group[21..28], b"storage");
    group[21] = 0x1b;
    let refused = decode(&group).unwrap_err().to_string();
    assert_eq!(refused, "class at offset 21 is no printable UTF-8");
}

#[test]
fn refusals_of_summaries_name_what_is_wrong() {
    let group = udp_payload("../wire/dissector/group_summary");
    let flow = udp_payload("../wire/dissector/flow_distribution");
    let with = |report: &[u8], at: usize, byte: u8| {
        let mut bytes = report.to_vec();
        bytes[at] = byte;
        bytes
    };
    let histogram =
        "distribution of latencies at offset 164: no values have these counts, sum and ends";
    let cases = [
        (
            with(&group, 21, 0xff),
            "class at offset 21 is no printable UTF-8".to_owned(),
        ),
        (
            with(&group, 164, 2),
            "latency slots for each power of two 2, expected 1, 8 or 32".to_owned(),
        ),
        (
            with(&group, 165, 1),
            "reserved byte of a distribution at offset 165 is 0x1, expected 0x0".to_owned(),
        ),
        // The first slot that the report has, the number of latencies, their sum, and the least one.
        (with(&group, 166, 0), histogram.to_owned()),
        (with(&group, 178, 1), histogram.to_owned()),
        (with(&group, 181, 0x7f), histogram.to_owned()),
        (with(&group, 196, 0x10), histogram.to_owned()),
        (
            with(&flow, 13, 1),
            "reserved byte of a framed report at offset 13 is 0x1, expected 0x0".to_owned(),
        ),
        (
            with(&flow, 15, 1),
            format!(
                "content of a framed report of {} bytes, expected the number in its frame",
                flow.len() - 16
            ),
        ),
    ];
    for (bytes, sentence) in cases {
        let error = decode(&bytes).expect_err(&sentence);
        assert_eq!(error.to_string(), sentence);
    }
}
