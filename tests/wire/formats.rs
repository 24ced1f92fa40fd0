//! Every golden report and INT packet, of other implementations too, is read field by field.

use hostint::collector::{self, DecodeErrorKind, ReportGroup};
use hostint::model::*;
use hostint::wire::{packet, report_v20};
use hostint_testing::golden::{decode, frame, udp_payload};
use hostint_testing::random_reports::Random;
use serde_json::{Value, json};

/// `golden/expected.jsonl`: what each golden report becomes, and what each INT packet shows.
fn expected() -> Vec<(String, Value)> {
    let text = include_str!("../golden/expected.jsonl");
    text.lines()
        .map(|line| {
            let value: Value = serde_json::from_str(line).unwrap();
            (value["vector"].as_str().unwrap().to_owned(), value)
        })
        .collect()
}

fn golden_names() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");
    let files = std::fs::read_dir(folder).unwrap();
    let names = files.filter_map(|file| file.unwrap().file_name().into_string().ok());
    let mut names: Vec<_> = names
        .filter_map(|name| name.strip_suffix(".hex").map(str::to_owned))
        .collect();
    names.sort();
    names
}

fn json_of(report: &Report) -> Value {
    let mut line = Vec::new();
    Record::new(report, None).append_line(&mut line).unwrap();
    assert_reads_back(report, &line);
    serde_json::from_slice(&line).unwrap()
}

/// A line is read back as the record that was written, and its report makes the same record.
fn assert_reads_back(report: &Report, line: &[u8]) {
    let record = Record::read_line(line).unwrap();
    assert_eq!(record, Record::new(report, None), "{report:?}");
    let again = record.report().unwrap();
    assert_eq!(Record::new(&again, None), record, "{report:?}");
    assert_eq!(again.observation.kind(), report.observation.kind());
    assert_eq!(
        again.observation.latency_ns(),
        report.observation.latency_ns()
    );
    assert_eq!(again.observation.flags, report.observation.flags);
}

/// A v2.0 datagram with individual reports: type byte, metadata words, flags, and bytes behind.
fn group(reports: &[(u8, u8, u8, &[u8])]) -> Vec<u8> {
    let mut out = vec![0x20, 0x40, 0, 9, 0, 0, 0, 103];
    for (types, metadata_words, flags, bytes) in reports {
        assert_eq!(bytes.len() % 4, 0, "whole words only");
        let words = u8::try_from(bytes.len() / 4).unwrap();
        out.extend([*types, words, *metadata_words, *flags]);
        out.extend(*bytes);
    }
    out
}

/// A v2.0 report of a packet, with nothing else, to the datagram's end.
fn around(inner_type: u8, packet: &[u8]) -> Vec<u8> {
    let head = [0x20, 0x40, 0, 9, 0, 0, 0, 103, inner_type, 0xff, 0, 0];
    [&head[..], packet].concat()
}

fn packet_of(report: &Report) -> &PacketReport {
    match &report.observation.body {
        Body::Packet(packet) => packet,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_golden_report_becomes_what_it_says() {
    let mut seen = 0;
    for (name, value) in expected() {
        let Some(records) = value["records"].as_array() else {
            continue;
        };
        let group = collector::decode(&udp_payload(&name)).unwrap();
        assert_eq!(group.refused, [], "{name}");
        let made: Vec<_> = group.reports.iter().map(json_of).collect();
        assert_eq!(&made, records, "{name}");
        seen += 1;
    }
    assert_eq!(seen, 18);
}

#[test]
fn every_golden_int_packet_shows_its_headers_and_flows_in_a_report() {
    let mut seen = 0;
    for (name, value) in expected() {
        let Some(packet) = value["packet"].as_object() else {
            continue;
        };
        let report = decode(&around(3, &frame(&name))).unwrap();
        let made = json_of(&report);
        for key in ["flow", "inner_flow", "int"] {
            assert_eq!(made.get(key), packet.get(key), "{name}: {key}");
        }
        seen += 1;
    }
    assert_eq!(seen, 30);
}

#[test]
fn every_vector_has_its_expectation() {
    let expected = expected();
    for name in golden_names() {
        // Host-INT's and hostint's own have tests that know every field: wire.rs and int_block.rs.
        if name.starts_with("hostint_") {
            continue;
        }
        assert!(expected.iter().any(|(known, _)| *known == name), "{name}");
    }
}

#[test]
fn host_ints_packets_are_known_in_reports_of_others() {
    let flow = |protocol, sport, dport| {
        Some(FlowKey {
            src: "192.0.2.1".parse().unwrap(),
            dst: "198.51.100.2".parse().unwrap(),
            sport,
            dport,
            protocol,
            vlans: Vlans::NONE,
        })
    };
    for (name, flow, protocol) in [
        ("hostint_l4_udp_1wire", flow(17, 40000, 5001), None),
        ("hostint_l4_tcp_1wire", flow(6, 49152, 80), None),
        ("hostint_ext_udp_1wire", flow(17, 40000, 5001), Some(17)),
        ("hostint_ext_tcp_1wire", flow(6, 49152, 80), Some(6)),
    ] {
        let report = decode(&around(3, &frame(name))).unwrap();
        let packet = packet_of(&report).packet.as_ref().unwrap();
        assert_eq!(packet.flow, flow, "{name}");
        let [int] = &packet.int[..] else {
            panic!("{name}: {:?}", packet.int)
        };
        assert_eq!((int.kind, int.seq), (IntType::HostInt, Some(1)), "{name}");
        assert_eq!(int.original_protocol, protocol, "{name}");
        assert_eq!(int.hops[0].node, Some(NodeId(2)), "{name}");
        assert_eq!(int.hops[0].ingress_ts, Some(0x3d85_cd15), "{name}");
        assert_eq!(
            report.observation.latency_ns(),
            None,
            "{name}: other clocks"
        );
        json_of(&report);
    }
    for name in ["hostint_l4_udp_0orig", "hostint_l4_tcp_2sink"] {
        let report = decode(&around(3, &frame(name))).unwrap();
        assert_eq!(
            packet_of(&report).packet.as_ref().unwrap().int,
            [],
            "{name}"
        );
    }
}

#[test]
fn every_prefix_of_every_vector_is_refused_or_read() {
    for name in golden_names() {
        let bytes = frame(&name);
        for length in 0..=bytes.len() {
            let cut = &bytes[..length];
            for inner_type in 3..=5 {
                let report = decode(&around(inner_type, cut)).unwrap();
                json_of(&report);
                let packet = packet_of(&report).packet.as_ref().unwrap();
                assert_eq!(packet.length, length, "{name}");
            }
            if let Some(datagram) = cut.get(42..)
                && let Ok(group) = collector::decode(datagram)
            {
                group
                    .reports
                    .iter()
                    .for_each(|report| drop(json_of(report)));
            }
        }
    }
}

#[test]
fn a_prefix_of_a_standard_report_keeps_what_is_whole() {
    struct Case {
        name: &'static str,
        /// Bytes without which nothing is read.
        least: usize,
        /// Individual reports of the whole.
        reports: usize,
    }
    let case = |name, least, reports| Case {
        name,
        least,
        reports,
    };
    for case in [
        case("tr10_drop", 24, 1),
        case("tr10_flow_int10", 24, 1),
        case("tr20_coalesced", 8, 2),
        case("tr20_drop", 8, 1),
        case("tr20_mx_export", 8, 1),
    ] {
        let bytes = udp_payload(case.name);
        let mut most = 0;
        for length in 0..=bytes.len() {
            let decoded = collector::decode(&bytes[..length]);
            let sentence = format!("{} cut to {length}", case.name);
            assert_eq!(decoded.is_ok(), length >= case.least, "{sentence}");
            let Ok(group) = decoded else { continue };
            assert!(
                group.reports.len() >= most,
                "{sentence}: more bytes, fewer reports"
            );
            most = group.reports.len();
            if length == bytes.len() || case.least != 8 {
                assert_eq!(group.refused, [], "{sentence}: v1.0 only ends");
            }
        }
        assert_eq!(most, case.reports, "{}", case.name);
    }
}

#[test]
fn a_bad_individual_report_costs_itself_only() {
    let good = [0x45; 20];
    let good = (0x04_u8, 0, 0x20, &good[..]);
    let no_metadata = [0x12, 0, 0, 0, 0, 0, 0, 0];
    for (sentence, bad, kind) in [
        (
            "IOAM has no format yet",
            (0x23, 0, 0, &[0; 4][..]),
            DecodeErrorKind::Kind,
        ),
        (
            "a reserved report type",
            (0x90, 0, 0, &[][..]),
            DecodeErrorKind::Kind,
        ),
        (
            "a reserved inner type",
            (0x06, 0, 0, &[0; 4][..]),
            DecodeErrorKind::Kind,
        ),
        (
            "bits that announce more than the metadata length",
            (0x10, 1, 0, &no_metadata[..]),
            DecodeErrorKind::Truncated,
        ),
        (
            "metadata that is longer than the report",
            (0x10, 9, 0, &[0x10, 0, 0, 0, 0, 0, 0, 0][..]),
            DecodeErrorKind::Truncated,
        ),
        (
            "main contents without room",
            (0x10, 0, 0, &[0; 4][..]),
            DecodeErrorKind::Truncated,
        ),
        (
            "a TLV longer than the report",
            (0x01, 0, 0, &[0x00, 2, 0, 0, 1, 2, 3, 4][..]),
            DecodeErrorKind::Truncated,
        ),
    ] {
        let bytes = group(&[good, bad, good]);
        let group = collector::decode(&bytes).unwrap();
        assert_eq!(group.reports.len(), 2, "{sentence}");
        let kinds: Vec<_> = group.refused.iter().map(|error| error.kind()).collect();
        assert_eq!(kinds, [kind], "{sentence}: {:?}", group.refused);
    }
    // A length that leads out of the datagram hides all behind it, but not what stood before.
    let mut bytes = group(&[good, good]);
    let second = bytes.len() - 24;
    bytes[second + 1] = 200;
    let cut = collector::decode(&bytes).unwrap();
    assert_eq!((cut.reports.len(), cut.refused.len()), (1, 1));
    assert_eq!(
        cut.refused[0].to_string(),
        "individual report at offset 36 needs 800 bytes, 20 left"
    );
    // A group without a report has a number all the same.
    let empty = collector::decode(&group(&[])).unwrap();
    assert_eq!(
        (empty.sequence, empty.reports.len(), empty.refused.len()),
        (9, 0, 1)
    );
}

#[test]
fn a_group_is_read_up_to_a_limit() {
    let smallest = (0x00_u8, 0, 0x20, &[][..]);
    let most = report_v20::MAX_REPORTS;
    for (count, refused) in [(most, 0), (most + 1, 1), (10 * most, 1)] {
        let group = collector::decode(&group(&vec![smallest; count])).unwrap();
        assert_eq!(group.reports.len(), count.min(most), "{count}");
        assert_eq!(group.refused.len(), refused, "{count}");
    }
}

#[test]
fn each_metadata_bit_of_a_report_is_read_alone_and_with_all_others() {
    type Told = fn(&mut Metadata);
    let bits: [(u32, usize, Told); 15] = [
        (0, 1, |m| {
            m.reserved.push(ReservedWord {
                bit: 0,
                word: 0x0102_0304,
            })
        }),
        (1, 1, |m| {
            (m.ingress_port, m.egress_port) = (Some(0x0102), Some(0x0304))
        }),
        (2, 1, |m| m.hop_latency_ns = Some(0x0102_0304)),
        (3, 1, |m| {
            (m.queue_id, m.queue_occupancy) = (Some(1), Some(0x02_0304))
        }),
        (4, 2, |m| m.ingress_ts = Some(0x0102_0304_0506_0708)),
        (5, 2, |m| m.egress_ts = Some(0x0102_0304_0506_0708)),
        (6, 2, |m| {
            m.level2_ingress_port = Some(0x0102_0304);
            m.level2_egress_port = Some(0x0506_0708);
        }),
        (7, 1, |m| m.tx_utilization = Some(0x0102_0304)),
        (8, 1, |m| {
            (m.buffer_id, m.buffer_occupancy) = (Some(1), Some(0x02_0304))
        }),
        (9, 1, |m| {
            m.reserved.push(ReservedWord {
                bit: 9,
                word: 0x0102_0304,
            })
        }),
        (10, 1, |m| {
            m.reserved.push(ReservedWord {
                bit: 10,
                word: 0x0102_0304,
            })
        }),
        (11, 1, |m| {
            m.reserved.push(ReservedWord {
                bit: 11,
                word: 0x0102_0304,
            })
        }),
        (12, 1, |m| {
            m.reserved.push(ReservedWord {
                bit: 12,
                word: 0x0102_0304,
            })
        }),
        (14, 1, |m| {
            m.reserved.push(ReservedWord {
                bit: 14,
                word: 0x0102_0304,
            })
        }),
        (15, 1, |m| {
            match m.queue_id {
                None => m.queue_id = Some(1),
                Some(_) => m.drop_queue_id = Some(1),
            }
            m.drop_reason = Some(2);
        }),
    ];
    let item = [1, 2, 3, 4, 5, 6, 7, 8];
    let check = |chosen: &[(u32, usize, Told)], domain_words: u8| {
        let mut main = vec![0; 8];
        let mut expected = Metadata::default();
        for (bit, words, tell) in chosen {
            let mask = 0x8000_u16 >> bit;
            main[0] |= mask.to_be_bytes()[0];
            main[1] |= mask.to_be_bytes()[1];
            main.extend(&item[..4 * words]);
            tell(&mut expected);
        }
        for word in 0..domain_words {
            main.extend([0xd0, 0, 0, word]);
            expected.domain_words.push(0xd000_0000 | u32::from(word));
        }
        let metadata_words = u8::try_from(main.len() / 4 - 2).unwrap();
        let report = decode(&group(&[(0x10, metadata_words, 0, &main)])).unwrap();
        assert_eq!(packet_of(&report).metadata, expected);
        json_of(&report);
        // All ones stand for what a node cannot tell.
        main[8..].fill(0xff);
        let report = decode(&group(&[(0x10, metadata_words, 0, &main)])).unwrap();
        let none = Metadata {
            domain_words: vec![u32::MAX; domain_words.into()],
            ..Metadata::default()
        };
        assert_eq!(packet_of(&report).metadata, none);
    };
    for bit in bits {
        check(&[bit], 0);
        check(&[bit], 2);
    }
    check(&bits, 0);
    check(&bits, 3);
}

#[test]
fn tlvs_and_extension_data_are_kept() {
    let ip = udp_payload("tr20_baseline_ipv4").split_off(28);
    let words = u8::try_from(ip.len() / 4).unwrap();
    let tlvs = [
        &[0x00, 1, 0x12, 0x34, 0xde, 0xad, 0xbe, 0xef][..],
        &[0x20, words, 0, 0],
        &ip,
        &[0x20, 1, 0, 0, 0x45, 0, 0, 0],
        &[0xf0, 0, 0, 0],
    ]
    .concat();
    let report = decode(&group(&[(0x01, 0, 0, &tlvs)])).unwrap();
    assert_eq!(report.observation.flow().map(|flow| flow.dport), Some(80));
    assert_eq!(
        json_of(&report)["extensions"],
        json!([
            {"type": 0, "template": 0x1234, "data": "deadbeef"},
            {"type": 2, "template": 0, "data": "45000000"},
            {"type": 15, "template": 0, "data": ""},
        ])
    );
    let report = decode(&group(&[(0x02, 0, 0, &[1, 2, 3, 4])])).unwrap();
    assert_eq!(
        json_of(&report)["extensions"],
        json!([{"data": "01020304"}])
    );
    assert_eq!(packet_of(&report).packet, None);
    let nothing = decode(&group(&[(0x10, 0, 0, &[0; 8])])).unwrap();
    assert_eq!(nothing.observation.kind(), "packet");
    assert_eq!(nothing.observation.reporter(), Some(NodeId(103)));
}

#[test]
fn a_report_length_of_255_runs_to_the_end() {
    let ip = udp_payload("tr20_baseline_ipv4").split_off(28);
    for more in [0, 1, 3, 2000] {
        let long = [&ip[..], &vec![0; more]].concat();
        let report = decode(&around(4, &long)).unwrap();
        let packet = packet_of(&report).packet.as_ref().unwrap();
        assert_eq!(packet.length, ip.len() + more);
        assert_eq!(packet.flow.map(|flow| flow.sport), Some(49152));
    }
}

/// A v1.0 report: RepMdBits, next protocol, words behind the fixed header, packet.
fn v10(bits: u8, protocol: u8, words: &[u32], packet: &[u8]) -> Vec<u8> {
    let length = u8::try_from(4 + words.len()).unwrap();
    let mut out = vec![
        0x10 | length,
        protocol << 5 | bits >> 1,
        bits << 7 | 0x01,
        0xc9,
    ];
    for word in [103, 21, 0x3d86_4245].iter().chain(words) {
        out.extend(u32::to_be_bytes(*word));
    }
    out.extend(packet);
    out
}

#[test]
fn a_v10_report_is_read_to_the_last_bit() {
    let ip = udp_payload("tr20_baseline_ipv4").split_off(28);
    let all = v10(
        0x3f,
        1,
        &[
            0x001f_0020,
            3000,
            0x0300_05dc,
            0x3d86_4dfd,
            0x0447_0000,
            3333,
        ],
        &ip,
    );
    let json = json_of(&decode(&all).unwrap());
    for (key, value) in [
        ("version", json!("1.0")),
        ("kind", json!("drop")),
        ("hw_id", json!(9)),
        ("report_seq", json!(21)),
        ("reporter_node", json!(103)),
        ("dropped", json!(true)),
        ("congested_queue", json!(true)),
        ("tracked_flow", json!(true)),
        ("ingress_ts_ns", json!(0x3d86_4245)),
        ("ingress_port", json!(31)),
        ("egress_port", json!(32)),
        ("hop_latency_ns", json!(3000)),
        ("queue_id", json!(3)),
        ("queue_occupancy", json!(1500)),
        ("egress_ts_ns", json!(0x3d86_4dfd)),
        ("drop_queue_id", json!(4)),
        ("drop_reason", json!(71)),
        ("tx_utilization", json!(3333)),
        ("frame_bytes", json!(40)),
    ] {
        assert_eq!(json[key], value, "{key}");
    }
    assert_eq!(json["flow"]["dport"], 80);
    for (sentence, bytes) in [
        ("a length without its words", [&[0x14], &all[1..]].concat()),
        ("a length with one too many", [&[0x1b], &all[1..]].concat()),
        ("a reserved next protocol", v10(0, 3, &[], &ip)),
        ("words that are not there", all[..30].to_vec()),
    ] {
        assert!(decode(&bytes).is_err(), "{sentence}");
    }
    let bare = decode(&v10(0, 2, &[], &[])).unwrap();
    assert_eq!(packet_of(&bare).packet, None, "a report without a packet");
}

#[test]
fn latency_is_what_timestamps_of_source_and_reporter_tell() {
    // INT v2.1 over UDP, source and transit with ingress timestamps.
    let hop = |node: u32, ts: u64| [&node.to_be_bytes()[..], &ts.to_be_bytes()].concat();
    let int = [
        &[0x10, 3 + 6, 0, 0, 0x20, 0, 3, 6, 0x88, 0, 0, 0, 0, 0, 0, 0][..],
        &hop(2, 1_700_000_000_000_030_000),
        &hop(1, 1_700_000_000_000_010_000),
    ]
    .concat();
    let mut ip = vec![0x45, 0, 0, 28 + 40, 0, 0, 0, 0, 64, 17, 0, 0];
    ip.extend([
        192, 0, 2, 1, 192, 0, 2, 2, 0x9c, 0x40, 0x13, 0x89, 0, 48, 0, 0,
    ]);
    ip.extend(&int);
    let main = [
        &[0x08, 0, 0, 0, 0, 0, 0, 0][..],
        &1_700_000_000_000_060_000_u64.to_be_bytes(),
    ];
    let own = [&main.concat()[..], &ip].concat();
    for (sentence, bytes, latency) in [
        (
            "the reporter's own time",
            group(&[(0x14, 2, 0, &own)]),
            Some(50_000),
        ),
        ("the newest hop's", around(4, &ip), Some(20_000)),
        (
            "a v1.0 report has 32 bits",
            v10(0, 1, &[], &ip),
            Some(0x3d86_4245 - 0x7a12_8a10),
        ),
        ("a cut stack has no source", around(4, &ip[..60]), None),
    ] {
        let report = decode(&bytes).unwrap();
        let stack = &packet_of(&report).packet.as_ref().unwrap().int[0];
        assert_eq!(stack.truncated, latency.is_none(), "{sentence}");
        let seen = report.observation.latency_ns();
        if sentence.contains("32 bits") {
            let low = 1_700_000_000_000_010_000_u64 as u32;
            let expected = 0x3d86_4245_u32.wrapping_sub(low) as i32;
            assert_eq!(seen, Some(expected.into()), "{sentence}");
        } else {
            assert_eq!(seen, latency, "{sentence}");
        }
        json_of(&report);
    }
}

#[test]
fn flags_tell_kinds_of_v20() {
    let main = [0x10, 0, 0, 0, 0, 0, 0, 0, 3, 0, 5, 0xdc];
    for (flags, kind) in [
        (0x00, "local"),
        (0x20, "local"),
        (0x40, "local"),
        (0x10, "intermediate"),
        (0x80, "drop"),
        (0x90, "drop"),
    ] {
        let report = decode(&group(&[(0x10, 1, flags, &main)])).unwrap();
        assert_eq!(report.observation.kind(), kind, "{flags:#x}");
        let json = json_of(&report);
        for (flag, key) in [
            (0x80, "dropped"),
            (0x40, "congested_queue"),
            (0x20, "tracked_flow"),
            (0x10, "intermediate"),
        ] {
            assert_eq!(json.get(key).is_some(), flags & flag != 0, "{key}");
        }
    }
}

#[test]
fn v05_reports_without_the_tracked_flag_have_no_int() {
    let mut bytes = udp_payload("tr05_flow_int05");
    let version = |bytes: &[u8]| {
        let group = decode(bytes).unwrap();
        Some(packet_of(&group).packet.as_ref()?.int.first()?.version)
    };
    assert_eq!(version(&bytes), Some(IntVersion::V05));
    bytes[1] &= !0x20;
    assert_eq!(version(&bytes), None);
}

/// The INT header that states version 0 with the layout of v1.0 in the report of a switch, from its shim on, and the
/// packet around it.
fn version_zero() -> (Vec<u8>, usize) {
    let packet = udp_payload("switch_int_version_zero").split_off(16);
    (packet, 14 + 20 + 8)
}

#[test]
fn an_int_header_of_version_0_is_read_by_its_lengths_or_not_at_all() {
    let (packet, shim) = version_zero();
    let int_of = |packet: &[u8]| packet::read(FirstHeader::Ethernet, packet, true).int;
    let [header] = &int_of(&packet)[..] else {
        panic!("one header");
    };
    assert_eq!(header.quirk, Some(Quirk::IntVersionZero));
    assert_eq!(header.version, IntVersion::V10);
    for (what, at, value) in [
        ("a shim length of 12 words has a stack of 9 words", 2, 12),
        ("a shim length of 3 words has no stack", 2, 3),
        ("an instruction count, as in v0.5", 5, 6),
        ("a hop of 5 words for 6 instructions", 6, 5),
        ("a hop of 7 words for 6 instructions", 6, 7),
        ("a bitmap of 7 instructions", 8, 0xfe),
        ("reserved bits", 10, 1),
        ("a version that does not exist", 4, 0x30),
    ] {
        let mut changed = packet.clone();
        changed[shim + at] = value;
        assert_eq!(int_of(&changed), [], "{what}");
    }
}

#[test]
fn no_header_of_version_0_is_both_v05_and_v10() {
    let (packet, shim) = version_zero();
    let mut random = Random(0x0bad_c0de);
    let mut of = [0, 0];
    for _ in 0..200_000 {
        let mut changed = packet.clone();
        let bits = (random.next() as u8) << 2;
        let count = bits.count_ones() as u8;
        let hops = random.next() as u8 % 3;
        changed[shim + 2] = 3 + u8::from(random.bool()) + count * hops;
        changed[shim + 4] = 0;
        let second = [0, count, random.next() as u8];
        changed[shim + 5] = second[random.next() as usize % second.len()];
        changed[shim + 6] = if random.bool() { count } else { 8 };
        changed[shim + 7] = hops;
        changed[shim + 8] = bits;
        for header in packet::read(FirstHeader::Ethernet, &changed, true).int {
            let v10 = header.version == IntVersion::V10;
            assert_eq!(header.quirk.is_some(), v10, "{header:?}");
            // Which one it is follows from a byte that is 0 in one and more in the other.
            assert_eq!(changed[shim + 5] & 0x7f == 0, v10, "{header:?}");
            of[usize::from(v10)] += 1;
        }
    }
    assert!(of.iter().all(|seen| *seen > 1_000), "{of:?}");
}

#[test]
fn a_report_header_of_one_word_is_read_only_without_optional_words() {
    let report = udp_payload("switch_header_one_word");
    let read = |report: &[u8]| decode(report).map(|report| packet_of(&report).quirk);
    assert_eq!(read(&report), Ok(Some(Quirk::ReportHeaderOneWord)));
    let changed = |at: usize, value: u8| {
        let mut changed = report.clone();
        changed[at] = value;
        read(&changed)
    };
    assert_eq!(changed(0, 0x14), Ok(None), "4 words are no quirk");
    for (what, at, value) in [
        ("no word", 0, 0x10),
        ("2 words", 0, 0x12),
        ("an optional word", 1, 0x08),
    ] {
        assert!(changed(at, value).is_err(), "{what}");
    }
}

#[test]
fn data_that_resembles_int_is_data() {
    const SHIM: usize = 14 + 20 + 20;
    for name in ["int05_tcp_dscp", "int10_tcp_dscp", "int21_md_tcp_dscp"] {
        let whole = frame(name);
        let int_of = |frame: &[u8]| packet::read(FirstHeader::Ethernet, frame, true).int;
        assert_eq!(int_of(&whole).len(), 1, "{name}");
        assert_eq!(packet::read(FirstHeader::Ethernet, &whole, false).int, []);
        // Type, reserved bits or length, version, count, reserved bits or bitmap.
        for (at, value) in [(0, 7), (1, 1), (4, 0x30), (5, 0x1f), (8, 0xff)] {
            let mut changed = whole.clone();
            changed[SHIM + at] = value;
            assert_eq!(int_of(&changed), [], "{name} with {value} at {at}");
        }
    }
    for start in [
        [1, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        [1, 0, 3, 0, 0x10, 0, 0, 0, 0, 0, 0, 0],
        [0x30, 3, 0, 0, 0x20, 0, 0, 0, 0, 0, 0, 0],
    ] {
        let mut changed = frame("int21_mx_tcp_dscp");
        changed.truncate(SHIM);
        changed.extend(start);
        changed.extend([0; 8]);
        let packet = packet::read(FirstHeader::Ethernet, &changed, true);
        assert_eq!(packet.int, [], "nothing is asked for: {start:?}");
    }
    let mut odd = frame("int10_tcp_dscp");
    odd[SHIM + 2] += 1;
    let packet = packet::read(FirstHeader::Ethernet, &odd, true);
    assert_eq!(packet.int, [], "a stack of one hop and a half");
}

#[test]
fn a_latency_report_of_one_hop_says_that_there_is_none() {
    let mut random = Random(3);
    let mut report = random.report();
    report.observation.body = Body::Latency(LatencyReport {
        version: ReportVersion::V05,
        arrival_ns: None,
        hops: HopStack::newest_first(&[random.hop()]).unwrap(),
        ..random.latency()
    });
    assert_eq!(json_of(&report).get("latency_ns"), Some(&Value::Null));
}

#[test]
fn random_reports_read_back() {
    let mut random = Random(0x0dd5_eed5);
    for _ in 0..10_000 {
        json_of(&random.report());
    }
}

#[test]
fn random_changes_of_every_vector_are_survived() {
    let mut random = Random(99);
    let seeds: Vec<_> = golden_names().iter().map(|name| frame(name)).collect();
    for _ in 0..30_000 {
        let mut bytes = seeds[random.u16() as usize % seeds.len()].clone();
        for _ in 0..random.u8() % 6 {
            let at = random.u16() as usize % bytes.len();
            bytes[at] = random.u8();
        }
        if random.bool() {
            bytes.truncate(random.u16() as usize % (bytes.len() + 1));
        }
        let payload = bytes.get(42..).unwrap_or_default();
        if let Ok(ReportGroup { reports, .. }) = collector::decode(payload) {
            reports.iter().for_each(|report| drop(json_of(report)));
        }
        json_of(&decode(&around(3, &bytes)).unwrap());
    }
}

#[test]
fn lines_that_are_no_reports_are_refused_with_a_reason() {
    for (line, reason) in [
        (
            "",
            "not the JSON object of a report: EOF while parsing a value",
        ),
        ("[]", "not the JSON object of a report: "),
        (
            "{\"schema\":\"hostint.report/1\"}",
            "not the JSON object of a report: missing field",
        ),
        (
            r#"{"schema":"hostint.status/1","kind":"drop","hw_id":0,"report_seq":1}"#,
            "schema \"hostint.status/1\", expected \"hostint.report/1\"",
        ),
        (
            r#"{"schema":"hostint.report/1","kind":"rumour","hw_id":0,"report_seq":1}"#,
            "kind of a rumour report is unknown",
        ),
        (
            r#"{"schema":"hostint.report/1","kind":"drop","hw_id":64,"report_seq":1}"#,
            "hw_id of a drop report needs more than 6 bits",
        ),
        (
            r#"{"schema":"hostint.report/1","kind":"latency","hw_id":0,"report_seq":1}"#,
            "source of a latency report is not a hop",
        ),
        (
            r#"{"schema":"hostint.report/1","kind":"drop-summary","hw_id":0,"report_seq":1}"#,
            "source or sink of a drop-summary report is not a node and port",
        ),
        (
            r#"{"schema":"hostint.report/1","kind":"local","hw_id":0,"report_seq":1,"sink_clock":"sun"}"#,
            "sink_clock of a local report is not tai, realtime or nic",
        ),
    ] {
        let error = Record::read_line(line.as_bytes())
            .and_then(|record| record.report())
            .expect_err(line)
            .to_string();
        assert!(error.starts_with(reason), "{line}: {error}");
    }
    let newer =
        r#"{"schema":"hostint.report/1","kind":"packet","hw_id":1,"report_seq":1,"later":[1]}"#;
    let record = Record::read_line(newer.as_bytes()).unwrap();
    assert_eq!(record.arrival(), None);
    assert_eq!(record.report().unwrap().observation.hw_id.get(), 1);
}

#[test]
fn an_arrival_is_read_back() {
    let arrival = Arrival {
        exporter: "[2001:db8::3]:43981".parse().unwrap(),
        received_ns: 1_700_000_000_123_456_789,
    };
    for name in ["hostint_report_l4_udp", "tr20_drop"] {
        let mut line = Vec::new();
        let record = Record::new(&decode(&udp_payload(name)).unwrap(), Some(arrival));
        record.append_line(&mut line).unwrap();
        assert_eq!(Record::read_line(&line).unwrap().arrival(), Some(arrival));
    }
}
