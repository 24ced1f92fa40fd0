//! Reports as published programs for BMv2 and Tofino and GÉANT's monitoring write them: read in one way, or told why not.

use hostint::collector::{self, ReportGroup};
use hostint::model::*;

/// An Ethernet frame of UDP over IPv4 with this payload.
fn udp_frame(payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() + 8) as u16;
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];
    frame.extend([0x45, 0x5c]);
    frame.extend((length + 20).to_be_bytes());
    frame.extend([0, 0, 0x40, 0, 64, 17, 0, 0, 192, 0, 2, 1, 198, 51, 100, 2]);
    frame.extend([0x9c, 0x40, 0x13, 0x89]);
    frame.extend(length.to_be_bytes());
    frame.extend([0, 0]);
    frame.extend(payload);
    frame
}

/// An INT header of 8 bytes behind a shim of v1.0, as GÉANT's programs write it: `hops` hops of `hop_ml` words, whose bytes
/// count up.
fn early_int(version: u8, bitmap: u16, hop_ml: u8, hops: u8, reserved: [u8; 2]) -> Vec<u8> {
    let mut bytes = vec![1, 0, 3 + hop_ml * hops, 0];
    bytes.extend([version << 4, 0, hop_ml, 6 - hops]);
    bytes.extend(bitmap.to_be_bytes());
    bytes.extend(reserved);
    bytes.extend((0..4 * hop_ml * hops).map(|byte| byte + 1));
    bytes.extend(b"data");
    bytes
}

/// A report of v1.0 about a packet, as GÉANT's programs write it: its length is 1 word.
fn report_v10(sequence: u32, packet: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x11, 0, 0, 0x41, 0, 0, 0, 7];
    bytes.extend(sequence.to_be_bytes());
    bytes.extend([0, 0, 0, 9]);
    bytes.extend(packet);
    bytes
}

/// A datagram of v2.0 of node 3, with these bytes behind the group's header.
fn group_v20(reports: &[&[u8]]) -> Vec<u8> {
    let mut bytes = vec![0x20, 0x40, 0, 0, 0, 0, 0, 3];
    bytes.extend(reports.concat());
    bytes
}

fn decode(bytes: &[u8]) -> ReportGroup {
    collector::decode(bytes).unwrap()
}

fn packet_of(report: &Report) -> &PacketReport {
    match &report.observation.body {
        Body::Packet(packet) => packet,
        other => panic!("{other:?}"),
    }
}

fn packets(group: &ReportGroup) -> Vec<&PacketReport> {
    group.reports.iter().map(packet_of).collect()
}

#[test]
fn int_v10_with_other_lengths_is_read_by_its_hop_length() {
    struct Case {
        name: &'static str,
        bitmap: u16,
        hop_ml: u8,
        reserved: [u8; 2],
        quirk: Option<Quirk>,
        /// Of the newest hop: ingress and egress stamp, level 2 ports.
        stamps: (Option<u64>, Option<u64>),
        level_2: (Option<u32>, Option<u32>),
    }
    let cases = [
        Case {
            name: "GÉANT's, all instructions",
            bitmap: 0xff00,
            hop_ml: 10,
            reserved: [0, 0],
            quirk: Some(Quirk::IntLongStamps),
            stamps: (Some(0x1112_1314_1516_1718), Some(0x191a_1b1c_1d1e_1f20)),
            level_2: (Some(0x2122), Some(0x2324)),
        },
        Case {
            name: "GÉANT's, ports and stamps",
            bitmap: 0xcc00,
            hop_ml: 6,
            reserved: [0, 0],
            quirk: Some(Quirk::IntLongStamps),
            stamps: (Some(0x090a_0b0c_0d0e_0f10), Some(0x1112_1314_1516_1718)),
            level_2: (None, None),
        },
        Case {
            name: "GÉANT's with a number of the packet",
            bitmap: 0xcc00,
            hop_ml: 6,
            reserved: [5, 0],
            quirk: Some(Quirk::IntLongStamps),
            stamps: (Some(0x090a_0b0c_0d0e_0f10), Some(0x1112_1314_1516_1718)),
            level_2: (None, None),
        },
        Case {
            name: "the standard's with a number of the packet",
            bitmap: 0xcc00,
            hop_ml: 4,
            reserved: [0xff, 0xfe],
            quirk: Some(Quirk::IntReservedWord),
            stamps: (Some(0x090a_0b0c), Some(0x0d0e_0f10)),
            level_2: (None, None),
        },
        Case {
            name: "long stamps and long level 2 ports",
            bitmap: 0x0e00,
            hop_ml: 6,
            reserved: [0, 0],
            quirk: Some(Quirk::IntLongStamps),
            stamps: (Some(0x0102_0304_0506_0708), Some(0x090a_0b0c_0d0e_0f10)),
            level_2: (Some(0x1112_1314), Some(0x1516_1718)),
        },
        Case {
            name: "short level 2 ports",
            bitmap: 0x0e00,
            hop_ml: 3,
            reserved: [0, 0],
            quirk: Some(Quirk::IntShortPorts),
            stamps: (Some(0x0102_0304), Some(0x0506_0708)),
            level_2: (Some(0x090a), Some(0x0b0c)),
        },
        Case {
            name: "the standard's",
            bitmap: 0xff00,
            hop_ml: 9,
            reserved: [0, 0],
            quirk: None,
            stamps: (Some(0x1112_1314), Some(0x1516_1718)),
            level_2: (Some(0x191a_1b1c), Some(0x1d1e_1f20)),
        },
    ];
    for case in cases {
        let int = early_int(1, case.bitmap, case.hop_ml, 2, case.reserved);
        for sequence in [0, 1, 70_000] {
            let group = decode(&report_v10(sequence, &udp_frame(&int)));
            let name = format!("{}, report {sequence}", case.name);
            assert_eq!(group.unread_int, [], "{name}");
            let [report] = packets(&group)[..] else {
                panic!("{name}");
            };
            assert_eq!(report.quirk, Some(Quirk::ReportHeaderOneWord), "{name}");
            let [header] = &report.packet.as_ref().unwrap().int[..] else {
                panic!("{name}: no INT");
            };
            assert_eq!(header.version, IntVersion::V10, "{name}");
            assert_eq!(header.quirk, case.quirk, "{name}");
            assert_eq!((header.hops.len(), header.truncated), (2, false), "{name}");
            let hop = &header.hops[0];
            assert_eq!((hop.ingress_ts, hop.egress_ts), case.stamps, "{name}");
            let ports = (hop.level2_ingress_port, hop.level2_egress_port);
            assert_eq!(ports, case.level_2, "{name}");
        }
    }
}

#[test]
fn a_header_of_v10_that_states_version_2_is_read_unless_it_could_be_one_of_v2() {
    for (name, bitmap, hop_ml) in [
        ("ports and stamps of 32 bits", 0xcc00, 4),
        ("ports and stamps of 64 bits", 0xcc00, 6),
        ("all instructions", 0xff00, 9),
    ] {
        let int = early_int(2, bitmap, hop_ml, 2, [0, 0]);
        let group = decode(&report_v10(1, &udp_frame(&int)));
        let int = &packets(&group)[0].packet.as_ref().unwrap().int;
        assert_eq!(int.len(), 1, "{name}: {:?}", group.unread_int);
        assert_eq!(int[0].quirk, Some(Quirk::IntVersionTwo), "{name}");
        assert_eq!(int[0].hops.len(), 2, "{name}");
    }
    // A hop of one word: two hops of v1.0, or one of v2.x behind a header that is a word longer.
    let both = early_int(2, 0x8000, 1, 2, [0, 0]);
    let group = decode(&report_v10(1, &udp_frame(&both)));
    assert_eq!(packets(&group)[0].packet.as_ref().unwrap().int, []);
    assert_eq!(
        group.unread_int[0].to_string(),
        "INT version behind a shim of v1.0 2, expected 1, because its lengths fit the layouts of both"
    );
}

#[test]
fn int_that_cannot_be_read_is_counted_by_its_field() {
    let with = |changes: &[(usize, u8)]| {
        let mut int = early_int(1, 0xcc00, 6, 2, [0, 0]);
        for (at, value) in changes {
            int[*at] = *value;
        }
        int
    };
    let standard = |changes: &[(usize, u8)]| {
        let mut int = early_int(1, 0xcc00, 4, 2, [0, 0]);
        for (at, value) in changes {
            int[*at] = *value;
        }
        int
    };
    let v2 = |changes: &[(usize, u8)]| {
        let mut int = vec![
            0x10, 7, 0, 0, 0x20, 0, 2, 6, 0x90, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0,
            0, 3, 0, 0, 0, 4,
        ];
        for (at, value) in changes {
            int[*at] = *value;
        }
        int
    };
    for (sentence, int, said) in [
        (
            "a hop length that fits no layout",
            with(&[(6, 7)]),
            "hop length (Hop ML) of INT v1.0, by its bitmap, at offset 6 is 0x7, expected 0x4",
        ),
        (
            "a stack of one hop and a half",
            with(&[(2, 12)]),
            "INT v1.0 stack of 36 bytes, expected hops of its hop length",
        ),
        (
            "reserved bits",
            with(&[(5, 1)]),
            "reserved bits of INT v1.0 at offset 5 is 0x1, expected 0x0",
        ),
        (
            "an instruction count of v0.5",
            with(&[(4, 0), (5, 3)]),
            "instruction count of INT v0.5 at offset 5 is 0x3, expected 0x4",
        ),
        (
            "a hop length of v2.x below its bitmap's",
            v2(&[(6, 1)]),
            "hop length (Hop ML) of INT v2, by its bitmap, at offset 6 is 0x1, expected 0x2",
        ),
        (
            "reserved bits of v2.x",
            v2(&[(5, 4)]),
            "reserved bits of INT v2 at offset 4 is 0x400, expected 0x0",
        ),
        (
            "a version that no standard has",
            standard(&[(4, 0x70)]),
            "INT version 7, expected 0 (v0.5), 1 (v1.0) or 2 (v2.x)",
        ),
        (
            "a type that no standard has",
            standard(&[(0, 4)]),
            "INT type 4, expected 1 (hop-by-hop) or 2 (destination)",
        ),
        (
            "Host-INT's type with v1.0",
            standard(&[(0, 3)]),
            "INT type 3, expected 1 (hop-by-hop) or 2 (destination)",
        ),
        (
            "a reserved byte in the shim",
            standard(&[(1, 9)]),
            "reserved byte of an INT shim at offset 1 is 0x9, expected 0x0",
        ),
        (
            "a shim whose length is 0",
            standard(&[(2, 0)]),
            "INT header by its shim's length of 0 bytes, expected the header and its stack",
        ),
        (
            "v2.x that states v1.0",
            v2(&[(4, 0x10)]),
            "INT version 1, expected 0 (v0.5), 1 (v1.0) or 2 (v2.x)",
        ),
        (
            "v2.x that states v0.5",
            v2(&[(4, 0)]),
            "INT version 0, expected 0 (v0.5), 1 (v1.0) or 2 (v2.x)",
        ),
        (
            "type 5 of v2.x",
            v2(&[(0, 0x50)]),
            "INT type 5, expected 1 (MD), 2 (destination) or 3 (MX)",
        ),
        (
            "v2.x whose length counts the shim, as that of v1.0 does",
            v2(&[(1, 8)]),
            "INT v2 stack of 20 bytes, expected hops of its hop length",
        ),
        (
            "v2.x with a stack of one hop and a half",
            v2(&[(1, 6)]),
            "INT v2 stack of 12 bytes, expected hops of its hop length",
        ),
    ] {
        let frame = udp_frame(&int);
        for datagram in [
            report_v10(1, &frame),
            group_v20(&[&[0x03, 0xff, 0, 0x20], &frame]),
        ] {
            let group = decode(&datagram);
            assert_eq!(
                (group.reports.len(), group.refused.len()),
                (1, 0),
                "{sentence}"
            );
            let told: Vec<_> = group.unread_int.iter().map(ToString::to_string).collect();
            assert_eq!(told, [said], "{sentence}");
        }
    }
    // Data of other protocols is none.
    for data in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        &[1, 0, 0, 0, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9],
        &[2, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
        &[0x16, 3, 1, 0, 0x20, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        &[
            0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 3, b'w', b'w', b'w', 0,
        ],
        // Two fields of INT v1.0 are wrong.
        &[
            4, 9, 11, 0, 0x10, 0, 4, 4, 0xcc, 0, 0, 0, 1, 2, 3, 4, 1, 2, 3, 4,
        ],
    ] {
        let group = decode(&report_v10(1, &udp_frame(data)));
        assert_eq!(group.unread_int, [], "{data:?}");
    }
}

#[test]
fn padding_is_no_report() {
    let report = [0x03, 0, 0, 0x20];
    for zeros in [0, 1, 4, 5, 12, 44] {
        let group = decode(&group_v20(&[&report, &vec![0; zeros]]));
        assert_eq!(
            (group.reports.len(), group.refused.len()),
            (1, 0),
            "{zeros} zeros"
        );
    }
    for zeros in [0, 4, 12] {
        let group = decode(&group_v20(&[&vec![0; zeros]]));
        assert_eq!(
            (group.reports.len(), group.refused.len()),
            (0, 1),
            "only {zeros} zeros"
        );
    }
    let whole = [&[0x04, 5, 0, 0x20][..], &[0x45; 20]].concat();
    let group = decode(&group_v20(&[&whole, &[0; 4], &whole]));
    assert_eq!(
        group.reports.len(),
        1,
        "nothing is behind padding: {:?}",
        group.refused
    );
    assert_eq!(group.refused.len(), 1);
    for bytes in [12, 16, 60, 1400] {
        assert!(collector::decode(&vec![0; bytes]).is_err(), "{bytes} zeros");
    }
}

#[test]
fn a_report_length_of_0_is_read_if_nothing_but_its_packet_can_follow() {
    let frame = udp_frame(b"data");
    let ip = &frame[14..];
    // Report type INT, no metadata: the main contents are 8 zeros.
    let int = |inner: u8| [&[0x10 | inner, 0, 0, 0x30][..], &[0; 8]].concat();
    type Expected = (Option<FirstHeader>, Option<Quirk>);
    let tlvs = [&[0x20, (ip.len() / 4) as u8, 0, 0], ip].concat();
    let cases: [(&str, Vec<u8>, Result<Expected, usize>); 12] = [
        (
            "an Ethernet frame",
            [&[0x03, 0, 0, 0x20], &frame[..]].concat(),
            Ok((Some(FirstHeader::Ethernet), Some(Quirk::ReportLengthZero))),
        ),
        (
            "an IPv4 packet",
            [&[0x04, 0, 0, 0x20], ip].concat(),
            Ok((Some(FirstHeader::Ipv4), Some(Quirk::ReportLengthZero))),
        ),
        (
            "INT with an IPv4 packet",
            [&int(4), ip].concat(),
            Ok((Some(FirstHeader::Ipv4), Some(Quirk::ReportLengthZero))),
        ),
        (
            "INT that states IPv4 and has an Ethernet frame",
            [&int(4), &frame[..]].concat(),
            Ok((Some(FirstHeader::Ethernet), Some(Quirk::ReportInnerType))),
        ),
        (
            "INT without a packet",
            int(4),
            Ok((Some(FirstHeader::Ipv4), Some(Quirk::ReportLengthZero))),
        ),
        (
            "an Ethernet frame and padding",
            [&[0x03, 0, 0, 0x20], &frame[..], &[0; 7]].concat(),
            Ok((Some(FirstHeader::Ethernet), Some(Quirk::ReportLengthZero))),
        ),
        (
            "bytes that are neither a packet nor reports",
            [&[0x03, 0, 0, 0x20][..], &[0x77; 40]].concat(),
            Err(0),
        ),
        (
            "INT without room for its main contents",
            vec![0x14, 0, 0, 0x30, 0, 0, 0, 0],
            Err(0),
        ),
        (
            "TLVs that could be a report",
            [&[0x01, 0, 0, 0x20], &tlvs[..]].concat(),
            Err(0),
        ),
        (
            "TLVs",
            [&[0x01, 0, 0, 0x20], &tlvs[..], &[0xf0, 1, 0, 0], &[7; 4]].concat(),
            Ok((Some(FirstHeader::Ipv4), Some(Quirk::ReportLengthZero))),
        ),
        (
            "data of a domain that could be a report",
            [&[0x02, 0, 0, 0x20, 0x04, (ip.len() / 4) as u8, 0, 0x20], ip].concat(),
            Err(0),
        ),
        (
            "metadata that leads out of the datagram",
            [&[0x14, 0, 200, 0x30][..], &[0; 40]].concat(),
            Err(0),
        ),
    ];
    for (sentence, report, expected) in cases {
        let group = decode(&group_v20(&[&report]));
        match expected {
            Ok((first, quirk)) => {
                assert_eq!(group.refused, [], "{sentence}");
                let [report] = packets(&group)[..] else {
                    panic!("{sentence}: {} reports", group.reports.len());
                };
                assert_eq!(
                    report.packet.as_ref().map(|packet| packet.first),
                    first,
                    "{sentence}"
                );
                assert_eq!(report.quirk, quirk, "{sentence}");
            }
            Err(before) => {
                assert_eq!(group.reports.len(), before, "{sentence}");
                assert_eq!(group.refused.len(), 1, "{sentence}");
            }
        }
    }
    let group = decode(&group_v20(&[&[0x03, 0, 0, 0x20], &frame]));
    let packet = packets(&group)[0].packet.as_ref().unwrap();
    assert_eq!(packet.flow.unwrap().dport, 5001, "the packet is read");
}

#[test]
fn behind_a_wrong_length_only_the_reports_before_it_count() {
    let frame = udp_frame(b"some data of a packet");
    let good = [&[0x04, 7, 0, 0x20][..], &frame[14..42]].concat();
    let padded = [
        &frame[..],
        &vec![0; frame.len().next_multiple_of(4) - frame.len()],
    ]
    .concat();
    let words = (padded.len() / 4) as u8;
    for wrong in (1..words).filter(|wrong| *wrong != words) {
        let bad = [&[0x03, wrong, 0, 0x20], &padded[..]].concat();
        let group = decode(&group_v20(&[&good, &good, &bad]));
        assert!(
            (2..=3).contains(&group.reports.len()),
            "{wrong} of {words} words: {} reports",
            group.reports.len()
        );
        // The wrong one may be there, cut short, and nothing that was made of its packet's bytes.
        for report in packets(&group).split_off(2) {
            let bytes = &report.packet.as_ref().unwrap().bytes;
            assert!(padded.starts_with(bytes), "{wrong} of {words} words");
        }
    }
    let beyond = [&[0x03, words + 9, 0, 0x20], &padded[..]].concat();
    let group = decode(&group_v20(&[&good, &good, &beyond]));
    assert_eq!((group.reports.len(), group.refused.len()), (2, 1));
}

#[test]
fn behind_a_packet_whose_report_length_is_0_the_next_report_begins() {
    let [first, second] = [&b"data"[..], b"more"].map(udp_frame);
    let zero = [0x03, 0, 0, 0x20];
    let exact = [&[0x04, 8, 0, 0x20], &second[14..]].concat();
    for (sentence, group, reports) in [
        (
            "another length of 0",
            group_v20(&[&zero, &first, &zero, &second]),
            2,
        ),
        (
            "whole words",
            group_v20(&[&zero, &first, &[0; 2], &zero, &second, &[0; 2]]),
            2,
        ),
        (
            "a right length",
            group_v20(&[&zero, &first, &[0; 2], &exact]),
            2,
        ),
        (
            "two of them",
            group_v20(&[&zero, &first, &zero, &first, &zero, &second]),
            3,
        ),
        (
            "a frame's check sequence",
            group_v20(&[&zero, &first, &[0xde, 0xad, 0xbe, 0xef]]),
            1,
        ),
    ] {
        let group = decode(&group);
        assert_eq!(group.refused, [], "{sentence}");
        let all = packets(&group);
        assert_eq!(all.len(), reports, "{sentence}");
        assert_eq!(all[0].quirk, Some(Quirk::ReportLengthZero), "{sentence}");
        for report in all {
            let packet = report.packet.as_ref().unwrap();
            assert_eq!(packet.flow.unwrap().dport, 5001, "{sentence}");
            assert!(packet.length <= first.len() + 4, "{sentence}");
        }
    }
}
