//! Sink events become the bytes of reports.

use hostint::model::*;
use hostint::report::Builder;
use hostint::wire::int_v05::IntBlock;
use hostint_testing::golden::{decode, frame, udp_payload};
use hostint_testing::report_samples;

/// When the golden reports were made, with some nanoseconds that a report does not show.
const NOW_NS: u64 = 1_700_000_000 * 1_000_000_000 + 987_654_321;

const BUILDER: Builder = Builder {
    sink_node: NodeId(3),
    node_id_word: true,
    packet_headers: true,
    host_int: false,
    clock: None,
};

/// The event that a golden packet on the wire causes at the sink.
fn latency_event(name: &str, encapsulation: Encapsulation, l4_len: usize) -> LatencyEvent {
    let frame = frame(name);
    let ip: [u8; 20] = frame[14..34].try_into().unwrap();
    let (l4, block) = match encapsulation {
        Encapsulation::OverTcpUdp | Encapsulation::VxlanGpe | Encapsulation::IntMd => {
            (34, 34 + l4_len)
        }
        Encapsulation::ExtensionUdp => (78, 42),
        Encapsulation::Ioam | Encapsulation::Options => {
            unreachable!("no golden packet is in {encapsulation}")
        }
    };
    let l4 = &frame[l4..l4 + l4_len];
    let headers = match encapsulation {
        Encapsulation::OverTcpUdp
        | Encapsulation::VxlanGpe
        | Encapsulation::IntMd
        | Encapsulation::Ioam
        | Encapsulation::Options => QuotedHeaders::new(ip, l4),
        Encapsulation::ExtensionUdp => QuotedHeaders::extension_udp(ip, l4),
    }
    .unwrap();
    let block = IntBlock::decode(&frame[block..]).unwrap();
    LatencyEvent {
        reasons: Reasons {
            new_flow: true,
            ..Reasons::default()
        },
        encapsulation,
        flow: headers.flow(),
        headers: Some(headers),
        source: block.source,
        transit: Vec::new(),
        sink_port: 12,
        sink_ns: (77 << 32) + 0x3d89_ae86,
        by_nic: false,
        sequence: block.sequence,
        latency_ns: 254_321,
        queue: None,
    }
}

pub fn loss_event(protocol: u8) -> LossEvent {
    LossEvent {
        flow: FlowKey {
            src: "192.0.2.1".parse().unwrap(),
            dst: "198.51.100.2".parse().unwrap(),
            sport: 40000,
            dport: 5001,
            protocol,
            vlans: Vlans::NONE,
        },
        source_node: NodeId(2),
        source_port: 13,
        sink_port: 12,
        before_ns: 1_700_000_000_999_999_999,
        before_seq: 41,
        count: 5,
    }
}

fn datagram(event: &SinkEvent, sequence: u32, builder: Builder, now_ns: u64) -> Vec<u8> {
    let mut report = Report {
        sequence,
        observation: builder.build(event, now_ns).expect("reportable"),
    };
    // v0.5 tells the low 32 bits of the arrival.
    if let (Body::Latency(report), SinkEvent::Latency(event)) =
        (&mut report.observation.body, event)
    {
        assert_eq!(report.arrival_ns.take(), Some(event.sink_ns));
    }
    let bytes = report_samples::datagram(&report);
    assert_eq!(decode(&bytes), Ok(report));
    bytes
}

#[test]
fn golden_packets_become_golden_reports() {
    use Encapsulation::{ExtensionUdp, OverTcpUdp};
    for (packet, encapsulation, l4_len, report) in [
        (
            "hostint_l4_udp_1wire",
            OverTcpUdp,
            8,
            "hostint_report_l4_udp",
        ),
        (
            "hostint_l4_tcp_1wire",
            OverTcpUdp,
            20,
            "hostint_report_l4_tcp",
        ),
        (
            "hostint_ext_udp_1wire",
            ExtensionUdp,
            8,
            "hostint_report_ext_udp",
        ),
    ] {
        let event = SinkEvent::Latency(latency_event(packet, encapsulation, l4_len));
        let expected = udp_payload(report);
        assert_eq!(datagram(&event, 1, BUILDER, NOW_NS), expected, "{report}");
        let wordless = Builder {
            node_id_word: false,
            ..BUILDER
        };
        let expected = [&expected[..12], &expected[16..]].concat();
        assert_eq!(datagram(&event, 1, wordless, NOW_NS), expected, "{report}");
    }
    let loss = SinkEvent::Loss(loss_event(17));
    assert_eq!(
        datagram(&loss, 2, BUILDER, NOW_NS + 1_000_000_000),
        udp_payload("hostint_drop_summary_udp")
    );
    assert_eq!(
        datagram(&SinkEvent::Loss(loss_event(6)), 2, BUILDER, NOW_NS).len(),
        76
    );
}

#[test]
fn an_inner_tcp_header_behind_extension_udp_is_reported_as_tcp() {
    let event = latency_event("hostint_ext_tcp_1wire", Encapsulation::ExtensionUdp, 20);
    let headers = event.headers.unwrap();
    assert_eq!(headers.ip()[9], 17, "the event has it as received");
    assert_eq!(event.flow.protocol, 6);
    let bytes = datagram(&SinkEvent::Latency(event), 1, BUILDER, NOW_NS);
    assert_eq!(bytes.len(), 104);
    let (received, reported) = (headers.ip(), &bytes[16..36]);
    assert_eq!(reported[1], received[1] | 4, "DSCP bit forced on");
    assert_eq!(reported[9], 6, "inner protocol");
    assert_eq!(reported[2..9], received[2..9], "length as received");
    assert_eq!(reported[10..], received[10..], "checksum as received");
}

fn over_ipv6(flow: FlowKey) -> FlowKey {
    FlowKey {
        src: "2001:db8::1".parse().unwrap(),
        dst: "2001:db8::2".parse().unwrap(),
        ..flow
    }
}

fn in_vlans(flow: FlowKey, outer: u16, inner: u16) -> FlowKey {
    let vlans = Vlans { outer, inner };
    FlowKey { vlans, ..flow }
}

#[test]
fn what_host_ints_latency_report_cannot_say_goes_into_the_extended_one() {
    let plain = latency_event("hostint_l4_udp_1wire", Encapsulation::OverTcpUdp, 8);
    let deep = Some(QueueDepth {
        packets: 12,
        bytes: 18_000,
    });
    let event = |flow, headers, queue| LatencyEvent {
        flow,
        headers,
        queue,
        ..plain.clone()
    };
    for (sentence, event, kind, bytes) in [
        ("a plain packet", plain.clone(), 4, 92),
        (
            "a plain packet out of vxlan-gpe",
            LatencyEvent {
                encapsulation: Encapsulation::VxlanGpe,
                ..plain.clone()
            },
            4,
            92,
        ),
        (
            "IPv4 options, so no quotation",
            event(plain.flow, None, None),
            5,
            112,
        ),
        ("IPv6", event(over_ipv6(plain.flow), None, None), 5, 112),
        (
            "a VLAN",
            event(in_vlans(plain.flow, 0, 7), plain.headers, None),
            5,
            112,
        ),
        (
            "a VLAN in a VLAN",
            event(in_vlans(plain.flow, 100, 7), plain.headers, None),
            5,
            112,
        ),
        (
            "a known queue",
            event(plain.flow, plain.headers, deep),
            5,
            112,
        ),
        (
            "a queue known to be empty",
            event(plain.flow, plain.headers, Some(QueueDepth::default())),
            5,
            112,
        ),
        (
            "all of it",
            event(in_vlans(over_ipv6(plain.flow), 100, 7), None, deep),
            5,
            112,
        ),
    ] {
        let datagram = datagram(&SinkEvent::Latency(event.clone()), 1, BUILDER, NOW_NS);
        assert_eq!(
            (datagram[0] & 0x0f, datagram.len()),
            (kind, bytes),
            "{sentence}"
        );
        let seen = decode(&datagram).unwrap().observation;
        assert_eq!(seen.flow(), Some(event.flow), "{sentence}");
        assert_eq!(seen.latency_ns(), Some(254_321), "{sentence}");
        assert_eq!(seen.reporter(), Some(NodeId(3)), "{sentence}");
        let Body::Latency(report) = seen.body else {
            panic!("{sentence}: {seen:?}");
        };
        assert_eq!(report.queue(), event.queue, "{sentence}");
        assert_eq!(report.hops.source(), &event.source, "{sentence}");
    }
}

#[test]
fn the_node_id_word_makes_no_difference_to_an_extended_report() {
    let mut event = latency_event("hostint_l4_udp_1wire", Encapsulation::OverTcpUdp, 8);
    event.headers = None;
    let event = SinkEvent::Latency(event);
    let wordless = Builder {
        node_id_word: false,
        ..BUILDER
    };
    assert_eq!(
        datagram(&event, 1, BUILDER, NOW_NS),
        datagram(&event, 1, wordless, NOW_NS)
    );
}

#[test]
fn headers_that_are_not_to_be_told_are_in_no_report() {
    for (packet, l4_len) in [("hostint_l4_udp_1wire", 8), ("hostint_l4_tcp_1wire", 20)] {
        let event = latency_event(packet, Encapsulation::OverTcpUdp, l4_len);
        let mut without = event.clone();
        without.headers = None;
        let [event, without] = [event, without].map(SinkEvent::Latency);
        let silent = Builder {
            packet_headers: false,
            ..BUILDER
        };
        let told = datagram(&event, 1, silent, NOW_NS);
        assert_ne!(told, datagram(&event, 1, BUILDER, NOW_NS), "{packet}");
        assert_eq!(told, datagram(&without, 1, BUILDER, NOW_NS), "{packet}");
    }
}

#[test]
fn transit_hops_are_in_every_form_of_report() {
    let plain = latency_event("hostint_l4_udp_1wire", Encapsulation::OverTcpUdp, 8);
    let tcp = latency_event("hostint_l4_tcp_1wire", Encapsulation::OverTcpUdp, 20);
    for hops in 0..=8 {
        let transit: Vec<_> = (0..hops)
            .map(|hop| Hop {
                node: NodeId(100 + u32::from(hop)),
                ingress_port: hop,
                egress_port: hop + 1,
                ingress_ts: plain.source.egress_ts.wrapping_add(1_000 * u32::from(hop)),
                egress_ts: plain
                    .source
                    .egress_ts
                    .wrapping_add(1_000 * u32::from(hop) + 10),
                queue: None,
            })
            .rev()
            .collect();
        for (kind, event) in [("quoted", &plain), ("quoted TCP", &tcp), ("named", &plain)] {
            let headers = event.headers.filter(|_| kind != "named");
            let event = SinkEvent::Latency(LatencyEvent {
                headers,
                transit: transit.clone(),
                ..event.clone()
            });
            for node_id_word in [true, false] {
                let builder = Builder {
                    node_id_word,
                    ..BUILDER
                };
                let sentence = format!("{kind}, {hops} hops, reporter's word: {node_id_word}");
                let report = decode(&datagram(&event, 1, builder, NOW_NS)).expect(&sentence);
                let Body::Latency(told) = report.observation.body else {
                    panic!("{sentence}: no latency");
                };
                assert_eq!(told.hops.transit(), transit, "{sentence}");
                assert_eq!(told.hops.sink().node, NodeId(3), "{sentence}");
            }
        }
    }
}

#[test]
fn the_queues_that_hops_told_are_reported_but_for_host_int() {
    let hop = |node, queue| Hop {
        node: NodeId(node),
        queue,
        ..latency_event("hostint_l4_udp_1wire", Encapsulation::OverTcpUdp, 8).source
    };
    for (sentence, queues) in [
        (
            "packets",
            [
                Some(HopQueue::Occupancy(0)),
                None,
                Some(HopQueue::Occupancy(0x00ff_fffe)),
            ],
        ),
        (
            "bytes",
            [
                None,
                Some(HopQueue::Bytes(5)),
                Some(HopQueue::Bytes(u32::MAX - 1)),
            ],
        ),
    ] {
        let mut event = latency_event("hostint_l4_udp_1wire", Encapsulation::OverTcpUdp, 8);
        event.transit = (11..)
            .zip(queues)
            .map(|(node, queue)| hop(node, queue))
            .collect();
        let event = SinkEvent::Latency(event);
        for (host_int, expected) in [(false, queues), (true, [None; 3])] {
            let builder = Builder {
                host_int,
                ..BUILDER
            };
            let report = decode(&datagram(&event, 1, builder, NOW_NS)).expect(sentence);
            let Body::Latency(told) = report.observation.body else {
                panic!("{sentence}: no latency");
            };
            let told: Vec<_> = told.hops.transit().iter().map(|hop| hop.queue).collect();
            assert_eq!(told, expected, "{sentence}, for Host-INT: {host_int}");
        }
    }
}

#[test]
fn a_report_for_host_int_names_no_queue() {
    let mut event = latency_event("hostint_l4_udp_1wire", Encapsulation::OverTcpUdp, 8);
    let without = datagram(&SinkEvent::Latency(event.clone()), 1, BUILDER, NOW_NS);
    event.queue = Some(QueueDepth {
        packets: 7,
        bytes: 4000,
    });
    let event = SinkEvent::Latency(event);
    let for_host_int = Builder {
        host_int: true,
        ..BUILDER
    };
    assert_eq!(datagram(&event, 1, for_host_int, NOW_NS), without);
    assert_ne!(datagram(&event, 1, BUILDER, NOW_NS), without);
}

#[test]
fn a_loss_is_reported_in_every_flow() {
    let plain = loss_event(17).flow;
    for (sentence, flow, kind) in [
        ("UDP", plain, 3),
        ("TCP", loss_event(6).flow, 3),
        ("ICMP", loss_event(1).flow, 6),
        ("IPv6", over_ipv6(plain), 6),
        ("a VLAN", in_vlans(plain, 0, 7), 6),
        ("a VLAN in a VLAN", in_vlans(over_ipv6(plain), 100, 7), 6),
    ] {
        let loss = SinkEvent::Loss(LossEvent {
            flow,
            ..loss_event(17)
        });
        let bytes = datagram(&loss, 1, BUILDER, NOW_NS);
        assert_eq!(bytes[0] & 0x0f, kind, "{sentence}");
        let seen = decode(&bytes).unwrap().observation;
        assert_eq!(seen.flow(), Some(flow), "{sentence}");
        assert!(seen.flags.dropped && seen.flags.tracked_flow, "{sentence}");
        let Body::DropSummary(summary) = seen.body else {
            panic!("{sentence}: {seen:?}");
        };
        assert_eq!((summary.before_seq, summary.count), (41, 5), "{sentence}");
    }
}

#[test]
fn a_gap_is_no_news_yet() {
    let gap = SinkEvent::Gap(loss_event(17).flow);
    assert_eq!(BUILDER.build(&gap, NOW_NS), None);
}

#[test]
fn reports_tell_the_clock_as_it_is_at_the_time() {
    let event = SinkEvent::Loss(loss_event(17));
    let mut builder = BUILDER;
    for (clock, byte) in [
        (None, 0),
        (Some((ClockSource::Realtime, false)), 0x90),
        (Some((ClockSource::Tai, true)), 0x70),
    ] {
        builder.clock = clock.map(|(source, synchronised)| ClockState {
            source,
            synchronised,
        });
        let bytes = datagram(&event, 1, builder, NOW_NS);
        assert_eq!(bytes[2], byte, "{clock:?}");
    }
}

#[test]
fn reports_tell_who_stamped_the_packet() {
    for (clock, by_nic, byte) in [
        (None, true, 0),
        (Some(true), false, 0x70),
        (Some(true), true, 0xf0),
        (Some(false), true, 0xd0),
    ] {
        let builder = Builder {
            clock: clock.map(|synchronised| ClockState {
                source: ClockSource::Tai,
                synchronised,
            }),
            ..BUILDER
        };
        let event = SinkEvent::Latency(LatencyEvent {
            by_nic,
            ..latency_event("hostint_l4_udp_1wire", Encapsulation::OverTcpUdp, 8)
        });
        let bytes = datagram(&event, 1, builder, NOW_NS);
        assert_eq!(bytes[2], byte, "clock {clock:?}, by the card: {by_nic}");
        let loss = SinkEvent::Loss(loss_event(17));
        let told = datagram(&loss, 1, builder, NOW_NS)[2];
        assert_eq!(told & 0xc0, (byte & 0x10) << 2, "a loss is the kernel's");
    }
}

#[test]
fn headers_that_cannot_be_quoted_are_refused() {
    let mut ip = [0; 20];
    ip[0] = 0x45;
    ip[9] = 17;
    let mut with_options = ip;
    with_options[0] = 0x46;
    let mut icmp = ip;
    icmp[9] = 1;
    for (sentence, result) in [
        (
            "IPv4 header begins with 0x46, expected 0x45 (version 4, no options)",
            QuotedHeaders::new(with_options, &[0; 8]),
        ),
        (
            "IP protocol is 1, expected 6 (TCP) or 17 (UDP)",
            QuotedHeaders::new(icmp, &[0; 8]),
        ),
        (
            "L4 header has 20 bytes, expected 8",
            QuotedHeaders::new(ip, &[0; 20]),
        ),
        (
            "L4 header has 9 bytes, expected 20",
            QuotedHeaders::extension_udp(ip, &[0; 9]),
        ),
    ] {
        assert_eq!(result.unwrap_err().to_string(), sentence);
    }
}
