//! Telemetry reports and INT blocks: bytes to values and back, and what is refused.

mod golden;
#[path = "golden/random.rs"]
mod random;

use golden::udp_payload;
use hostint::model::*;
use hostint::wire::{DecodeError, report_v05};
use random::Random;

const HOST_INT_REPORTS: [&str; 4] = [
    "hostint_report_l4_udp",
    "hostint_report_l4_tcp",
    "hostint_report_ext_udp",
    "hostint_drop_summary_udp",
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

fn decode(bytes: &[u8]) -> Result<Report, DecodeError> {
    report_v05::decode(bytes)
}

fn emit(report: &Report) -> Vec<u8> {
    let mut out = Vec::new();
    report_v05::emit(report, &mut out);
    out
}

/// What every decodable datagram has to satisfy, whoever made it.
fn assert_stable(sentence: &str, bytes: &[u8]) {
    if let Ok(report) = decode(bytes) {
        let again = emit(&report);
        assert_eq!(again.len(), bytes.len(), "{sentence}: emitted size");
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

fn all_reports() -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<_> = HOST_INT_REPORTS
        .iter()
        .chain(&STANDARD_REPORTS)
        .map(|name| (name.to_string(), udp_payload(name)))
        .collect();
    for name in &HOST_INT_REPORTS[..3] {
        all.push((format!("{name} without word"), without_word(name)));
    }
    all.push(("hostint_drop_summary_tcp".into(), tcp_drop_summary()));
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
    })
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
        assert_eq!(seen.timestamp, case.timestamp, "{}", case.name);
        assert_eq!(seen.reporter().map(|n| n.0), case.reporter, "{}", case.name);
        assert_eq!(seen.latency_ns(), case.latency_ns, "{}", case.name);
        assert_eq!(seen.flow(), case.flow, "{}", case.name);
    }
}

#[test]
fn a_drop_summary_names_nodes_ports_and_gap() {
    for (bytes, transport) in [
        (udp_payload("hostint_drop_summary_udp"), Transport::Udp),
        (tcp_drop_summary(), Transport::Tcp),
    ] {
        let report = decode(&bytes).unwrap();
        assert!(report.observation.flags.dropped && report.observation.flags.tracked_flow);
        assert_eq!(
            report.observation.body,
            Body::DropSummary(DropSummary {
                source_node: NodeId(2),
                sink_node: NodeId(3),
                source_port: 13,
                sink_port: 12,
                gap_time_s: 0x6553_f100,
                before_seq: 41,
                count: 5,
                flow: Ipv4Flow {
                    src: [192, 0, 2, 1].into(),
                    dst: [198, 51, 100, 2].into(),
                    sport: 40000,
                    dport: 5001,
                    transport,
                },
            })
        );
    }
}

#[test]
fn the_header_of_a_standard_report_is_read_to_the_last_bit() {
    let Body::Drop(drop) = decode(&udp_payload("tr05_drop")).unwrap().observation.body else {
        panic!("no drop report");
    };
    assert_eq!((drop.ingress_port, drop.egress_port), (31, 32));
    assert_eq!((drop.queue_id, drop.reason), (3, 80));
    let report = decode(&udp_payload("tr05_local")).unwrap();
    let Body::Local(local) = report.observation.body else {
        panic!("no local report");
    };
    assert_eq!(report.observation.hw_id.get(), 5);
    assert!(report.observation.flags.congested_queue);
    assert_eq!((local.queue_id, local.queue_occupancy.get()), (3, 1500));
    assert_eq!((local.egress_ts, local.frame.0.len()), (0x3d85_d8cd, 54));
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
            udp_payload("tr10_drop"),
            "telemetry report version 1, expected 0 (v0.5)",
        ),
        (
            udp_payload("tr20_drop"),
            "telemetry report version 2, expected 0 (v0.5)",
        ),
        (with(0, 5), "report kind (NProto) 5, expected 0 to 4"),
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
fn no_changed_byte_makes_a_report_unstable() {
    for (name, bytes) in all_reports() {
        for at in 0..bytes.len() {
            for value in 0..=255 {
                let mut changed = bytes.clone();
                changed[at] = value;
                assert_stable(&format!("{name} with {value} at {at}"), &changed);
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
        assert_stable(&format!("round {round}"), &bytes);
    }
}

#[test]
fn other_numbers_of_hops_are_read_where_the_length_agrees() {
    let mut random = Random(7);
    for hops in 1..=HopStack::MAX_HOPS {
        for _ in 0..8 {
            let stack: Vec<_> = (0..hops).map(|_| random.hop()).collect();
            let mut latency = random.latency();
            latency.hops = HopStack::newest_first(&stack).unwrap();
            let mut report = random.report();
            report.observation.body = Body::Latency(latency);
            assert_eq!(decode(&emit(&report)), Ok(report), "{hops} hops");
        }
    }
    assert_eq!(HopStack::newest_first(&[]), None);
    let many: Vec<_> = (0..63).map(|_| random.hop()).collect();
    assert_eq!(HopStack::newest_first(&many), None, "no shim is that long");
}
