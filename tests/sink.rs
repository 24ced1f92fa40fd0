//! The INT sink, run on single packets: what it does with each kind, what it counts, what it tells.

mod golden;
mod support;

use hostint::datapath::abi::{sink_counter, sink_settings};
use support::frame::{EXTENSION_PORT, Frame, MARK};
use support::int_block::Block;
use support::model::Key;
use support::model::sink::Seen;
use support::programs::sink::{Event, Sink, Sizes, XDP_DROP, XDP_PASS, latencies, settings};
use support::random::Random;

fn udp() -> Frame {
    Frame::ethernet().ipv4().udp().payload(64)
}

fn tcp() -> Frame {
    Frame::ethernet().ipv4().tcp().payload(64)
}

fn int() -> Block {
    Block::hostint().node(2).sequence(1)
}

fn extension() -> Block {
    Block::hostint_extension().node(2).sequence(1)
}

/// The flow of the builder's packets.
fn key(protocol: u8) -> Key {
    Key {
        source: [192, 0, 2, 1],
        target: [198, 51, 100, 2],
        sport: 40000,
        dport: 5001,
        protocol,
    }
}

/// The payload's first word makes the checksum zero; UDP writes 0xffff then.
fn with_zero_checksum(frame: Frame) -> Frame {
    let mut payload = vec![0; 64];
    let bytes = frame.clone().payload_bytes(payload.clone()).bytes();
    let at = if bytes[23] == 6 { 50 } else { 40 };
    payload[..2].copy_from_slice(&bytes[at..at + 2]);
    let frame = frame.payload_bytes(payload);
    let check = u16::from_be_bytes(frame.bytes()[at..at + 2].try_into().unwrap());
    assert!(matches!(check, 0 | 0xffff), "the checksum is zero");
    frame
}

/// What becomes of a packet.
enum Outcome {
    Untouched,
    Refused(sink_counter),
    Stripped(Vec<u8>),
    StrippedFromHostInt(Vec<u8>),
}

struct Case {
    name: &'static str,
    frame: Vec<u8>,
    outcome: Outcome,
}

fn untouched(name: &'static str, frame: Frame) -> Case {
    Case {
        name,
        frame: frame.bytes(),
        outcome: Outcome::Untouched,
    }
}

fn refused(name: &'static str, reason: sink_counter, frame: Frame) -> Case {
    Case {
        name,
        frame: frame.bytes(),
        outcome: Outcome::Refused(reason),
    }
}

/// A packet whose INT is taken out; what remains is the packet as it was built before the INT.
fn stripped(name: &'static str, frame: Frame) -> Case {
    Case {
        name,
        frame: frame.bytes(),
        outcome: Outcome::Stripped(frame.untagged().bytes()),
    }
}

/// Runs the packet as the first of a flow and compares verdict, bytes, counters, flow table and events.
fn check(sink: &Sink, model: &support::model::sink::Sink, case: &Case) {
    let Case {
        name,
        frame,
        outcome,
    } = case;
    sink.forget_flows();
    sink.zero_counters();
    sink.events();
    let ran = sink.run(frame);

    let (bytes, counted) = match outcome {
        Outcome::Untouched => (frame, vec![]),
        Outcome::Refused(reason) => (frame, vec![*reason]),
        Outcome::Stripped(bytes) => (bytes, vec![sink_counter::COUNT_SINK_STRIPPED]),
        Outcome::StrippedFromHostInt(bytes) => (
            bytes,
            vec![
                sink_counter::COUNT_SINK_STRIPPED,
                sink_counter::COUNT_SINK_HOST_INT,
            ],
        ),
    };
    assert_eq!(ran.verdict, XDP_PASS, "{name}: verdict");
    assert_eq!(ran.bytes, *bytes, "{name}: bytes");

    let is_tagged = matches!(
        outcome,
        Outcome::Stripped(_) | Outcome::StrippedFromHostInt(_)
    );
    let mut expected = vec![(0, 0); sink_counter::COUNT_SINK_MAX.0 as usize];
    for reason in counted {
        expected[reason.0 as usize] = (1, frame.len() as u64);
    }
    if is_tagged {
        expected[sink_counter::COUNT_SINK_FLOW_NEW.0 as usize] = (1, 0);
        expected[sink_counter::COUNT_SINK_EVENT_SENT.0 as usize] = (1, 0);
    }
    assert_eq!(sink.counters(), expected, "{name}: counters");
    assert_eq!(sink.flows(), usize::from(is_tagged), "{name}: flows");
    assert_eq!(
        sink.events().len(),
        usize::from(is_tagged),
        "{name}: events"
    );

    match (model.look(frame), outcome) {
        (Seen::Untouched, Outcome::Untouched) => {}
        (Seen::Refused(seen), Outcome::Refused(reason)) => {
            assert_eq!(seen, *reason, "{name}: the model's reason");
        }
        (Seen::Tagged(tagged), Outcome::Stripped(bytes) | Outcome::StrippedFromHostInt(bytes)) => {
            assert_eq!(tagged.restored, *bytes, "{name}: the model's bytes");
        }
        (seen, _) => panic!("{name}: the model says {seen:?}"),
    }
}

fn check_all(cases: Vec<Case>) {
    let settings = settings();
    let sink = Sink::load(&settings);
    let model = support::programs::sink::model_of(&settings);
    for case in &cases {
        check(&sink, &model, case);
    }
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;
    use sink_counter as count;

    #[test]
    fn packets_without_mark_pass_untouched_and_uncounted() {
        check_all(vec![
            untouched("UDP without a mark", udp()),
            untouched("TCP without a mark", tcp()),
            untouched("another DSCP than the mark", udp().dscp(0b111110)),
            untouched("ECN bits are no mark", udp().ecn(3)),
            untouched("ICMP with the mark", udp().protocol(1).wire_tos(MARK)),
            untouched("SCTP with the mark", udp().protocol(132).wire_tos(MARK)),
            untouched("IPv6", Frame::ethernet().ethertype(0x86dd).payload(60)),
            untouched("ARP", Frame::ethernet().ethertype(0x0806).payload(46)),
            untouched(
                "a tagged packet with a VLAN tag",
                udp().vlan(5).tagged(int()),
            ),
            untouched(
                "a tagged packet with two VLAN tags",
                tcp().vlan(5).vlan(6).tagged(int()),
            ),
            untouched("half an IP header with a mark", udp().tagged(int()).cut(33)),
            untouched("an Ethernet header and nothing else", udp().cut(14)),
            untouched("extension port as TCP port", tcp().ports(1, EXTENSION_PORT)),
            untouched(
                "extension port as source port",
                udp().ports(EXTENSION_PORT, 1),
            ),
            untouched(
                "a later fragment whose payload looks like the extension port",
                udp().extended(extension()).fragment_offset(5),
            ),
        ]);
    }

    #[test]
    fn what_is_not_our_int_is_counted_by_reason_and_passed_unmodified() {
        let differing = |name, reason, at, value| {
            [
                refused(name, reason, udp().tagged(int().byte(at, value))),
                refused(name, reason, tcp().tagged(int().byte(at, value))),
                refused(name, reason, tcp().extended(extension().byte(at, value))),
            ]
        };
        let shim = count::COUNT_SINK_BAD_SHIM;
        let version = count::COUNT_SINK_BAD_VERSION;
        let bitmap = count::COUNT_SINK_BAD_BITMAP;
        check_all(
            [
                differing("shim of another type", shim, 0, 1),
                differing("a shim that is one word longer", shim, 2, 10),
                differing("unknown flag 0x20", shim, 1, 0xe0),
                differing("unknown flag 0x10", shim, 1, 0x90),
                differing("INT v1.0", version, 4, 0x10),
                differing("a copy", version, 4, 0x02),
                differing("hop limit exceeded", version, 4, 0x01),
                differing("five instructions", version, 5, 5),
                differing("a reserved bit in the instruction count", version, 5, 0x24),
                differing("another hop limit", version, 6, 3),
                differing("a transit hop has added itself", version, 7, 2),
                differing("other instructions", bitmap, 8, 0xdc),
                differing("more instructions", bitmap, 9, 1),
                differing("reserved bits behind the bitmap", bitmap, 11, 1),
            ]
            .into_iter()
            .flatten()
            .collect(),
        );
        check_all(vec![
            refused(
                "a DSCP without the flag that announces it",
                shim,
                udp().tagged(int().flags(0x80).byte(3, 0x20)),
            ),
            refused(
                "shim and version differ: no resemblance",
                count::COUNT_SINK_FOREIGN_MARK,
                udp().tagged(int().byte(0, 1).byte(4, 0x10)),
            ),
            refused(
                "a marked UDP packet without INT",
                count::COUNT_SINK_FOREIGN_MARK,
                udp().wire_tos(MARK),
            ),
            refused(
                "a marked TCP packet without INT",
                count::COUNT_SINK_FOREIGN_MARK,
                tcp().wire_tos(MARK),
            ),
            refused(
                "a marked packet too short for INT",
                count::COUNT_SINK_FOREIGN_MARK,
                tcp().payload(4).wire_tos(MARK),
            ),
            refused(
                "a packet to the extension port without INT",
                count::COUNT_SINK_FOREIGN_MARK,
                udp().ports(1, EXTENSION_PORT),
            ),
        ]);
    }

    #[test]
    fn lengths_that_disagree_are_counted_and_passed_unmodified() {
        let bad = count::COUNT_SINK_BAD_LENGTH;
        let truncated = count::COUNT_SINK_TRUNCATED;
        check_all(vec![
            refused(
                "IP length beyond the frame",
                bad,
                udp().tagged(int()).total_len(129),
            ),
            refused(
                "IP length below its header's",
                bad,
                udp().tagged(int()).total_len(19),
            ),
            refused(
                "IP length one short",
                bad,
                udp().tagged(int()).total_len(127),
            ),
            refused(
                "UDP length one short",
                bad,
                udp().tagged(int()).udp_len(107),
            ),
            refused("UDP length zero", bad, udp().tagged(int()).udp_len(0)),
            refused(
                "IP ends within the INT block",
                bad,
                tcp().tagged(int()).total_len(75),
            ),
            refused(
                "TCP data offset below 5",
                bad,
                tcp().tagged(int()).tcp_words(4),
            ),
            refused(
                "TCP options reach beyond the packet",
                bad,
                tcp().payload(0).tagged(int()).tcp_words(6),
            ),
            refused(
                "frame ends within the INT block, IP length too",
                count::COUNT_SINK_FOREIGN_MARK,
                udp().tagged(int()).total_len(61).cut(75),
            ),
            refused(
                "frame ends within the INT block",
                bad,
                udp().tagged(int()).cut(75),
            ),
            refused(
                "extension: outer UDP length one long",
                bad,
                udp().extended(extension()).udp_len(117),
            ),
            refused(
                "extension: IP length one short",
                bad,
                tcp().extended(extension()).total_len(147),
            ),
            refused(
                "extension: half an inner UDP header",
                truncated,
                udp().extended(extension()).total_len(68).cut(82),
            ),
            refused(
                "extension: half an inner TCP header",
                truncated,
                tcp().extended(extension()).total_len(80).cut(94),
            ),
            refused(
                "extension: half an INT block",
                truncated,
                udp().extended(extension()).total_len(40).cut(54),
            ),
            refused(
                "extension: IP ends within the inner header",
                bad,
                tcp().extended(extension()).total_len(83).udp_len(63),
            ),
            refused(
                "extension around ICMP",
                count::COUNT_SINK_BAD_PROTOCOL,
                udp().extended_as(extension(), EXTENSION_PORT, 1),
            ),
            refused(
                "extension that names no protocol",
                count::COUNT_SINK_BAD_PROTOCOL,
                udp().extended_as(extension(), EXTENSION_PORT, 0),
            ),
        ]);
    }

    #[test]
    fn fragments_and_options_are_counted_and_passed_unmodified() {
        let fragment = count::COUNT_SINK_FRAGMENT;
        let options = count::COUNT_SINK_IP_OPTIONS;
        check_all(vec![
            refused(
                "a marked first fragment",
                fragment,
                udp().tagged(int()).more_fragments(),
            ),
            refused(
                "a marked later fragment",
                fragment,
                tcp().tagged(int()).fragment_offset(9),
            ),
            refused(
                "a first fragment to the extension port",
                fragment,
                udp().extended(extension()).more_fragments(),
            ),
            refused(
                "marked, with IPv4 options",
                options,
                udp().tagged(int()).ip_options(4),
            ),
            refused(
                "marked, with 40 bytes of options",
                options,
                tcp().tagged(int()).ip_options(40),
            ),
            refused(
                "marked, IP version 6 in an IPv4 frame",
                options,
                tcp().wire_tos(MARK).version_ihl(0x65),
            ),
            refused(
                "marked, IP header length 4",
                options,
                udp().tagged(int()).version_ihl(0x44),
            ),
            untouched(
                "a packet with options to the extension port",
                udp().extended(extension()).ip_options(4),
            ),
        ]);
    }

    #[test]
    fn tagged_packets_come_out_as_they_were_sent() {
        check_all(vec![
            stripped("UDP", udp().tagged(int())),
            stripped("TCP", tcp().tagged(int())),
            stripped("UDP in an extension", udp().extended(extension())),
            stripped("TCP in an extension", tcp().extended(extension())),
            stripped("an odd payload", udp().payload(63).tagged(int())),
            stripped("an odd TCP payload", tcp().payload(1).tagged(int())),
            stripped("no payload", udp().payload(0).tagged(int())),
            stripped("a bare ACK", tcp().payload(0).tagged(int())),
            stripped(
                "an extension around an empty datagram",
                udp().payload(0).extended(extension()),
            ),
            stripped(
                "an extension around a bare ACK",
                tcp().payload(0).extended(extension()),
            ),
            stripped(
                "TCP options behind the INT block",
                tcp().tcp_options(40).tagged(int()),
            ),
            stripped(
                "UDP without checksum stays without",
                udp().without_udp_checksum().tagged(int()),
            ),
            stripped(
                "inner UDP without checksum stays without",
                udp().without_udp_checksum().extended(extension()),
            ),
            stripped(
                "a tail that the checksum counts",
                udp().tagged(int().tail(0x1234_5678)),
            ),
            stripped(
                "a TCP tail that the checksum counts",
                tcp().tagged(int().tail(0xffff_0001)),
            ),
            stripped(
                "Ethernet padding stays",
                udp().payload(0).padding(18).tagged(int()),
            ),
            stripped(
                "padding behind an extension stays",
                tcp().payload(1).padding(5).extended(extension()),
            ),
            stripped("a flow's age is no obstacle", tcp().tagged(int().age(15))),
            stripped(
                "a UDP checksum of zero, written as 0xffff",
                with_zero_checksum(udp()).tagged(int()),
            ),
            stripped(
                "a TCP checksum of zero",
                with_zero_checksum(tcp()).tagged(int()),
            ),
            stripped(
                "an extension with the DSCP mark too",
                udp().dscp(1).extended(extension()),
            ),
            stripped("a TTL that has come down", tcp().ttl(1).tagged(int())),
            stripped("DF not set", udp().dont_fragment(false).tagged(int())),
            stripped("the longest frame", udp().payload(3200).tagged(int())),
        ]);
    }

    #[test]
    fn packets_of_an_original_host_int_source_are_restored() {
        let host_int = |name, wire: Frame, original: Frame| Case {
            name,
            frame: wire.bytes(),
            outcome: Outcome::StrippedFromHostInt(original.bytes()),
        };
        let block = Block::host_int();
        check_all(vec![
            host_int("UDP", udp().tagged(block), udp()),
            host_int("TCP", tcp().tagged(block), tcp()),
            host_int(
                "garbage in the tail counts as zero",
                tcp().tagged(block.tail(0xdead_beef)),
                tcp(),
            ),
            host_int(
                "garbage in a UDP packet's tail",
                udp().tagged(block.tail(0xffff_ffff)),
                udp(),
            ),
            host_int(
                "its DSCP loses the mark, which the source did not keep",
                udp().dscp(0b101011).tagged(block),
                udp().dscp(0b101010),
            ),
            host_int(
                "an extension, garbage behind the protocol",
                udp().extended(block.tail(0x00ff_ffff)),
                udp(),
            ),
            host_int(
                "an extension keeps its DSCP",
                tcp().dscp(63).extended(block),
                tcp().dscp(63),
            ),
        ]);
    }

    #[test]
    fn golden_packets_come_out_as_recorded() {
        let case = |name, wire, restored| Case {
            name,
            frame: golden::frame(wire),
            outcome: Outcome::StrippedFromHostInt(golden::frame(restored)),
        };
        check_all(vec![
            case("TCP", "hostint_l4_tcp_1wire", "hostint_l4_tcp_2sink"),
            case("UDP", "hostint_l4_udp_1wire", "hostint_l4_udp_2sink"),
            case(
                "TCP, extension",
                "hostint_ext_tcp_1wire",
                "hostint_l4_tcp_0orig",
            ),
            case(
                "UDP, extension",
                "hostint_ext_udp_1wire",
                "hostint_l4_udp_0orig",
            ),
        ]);
    }

    #[test]
    fn every_dscp_and_ecn_is_restored() {
        let mut cases = Vec::new();
        for tos in 0..=255 {
            let (dscp, ecn) = (tos >> 2, tos & 3);
            cases.push(stripped("UDP", udp().dscp(dscp).ecn(ecn).tagged(int())));
            cases.push(stripped("TCP", tcp().dscp(dscp).ecn(ecn).tagged(int())));
            cases.push(stripped(
                "extension",
                tcp().dscp(dscp).ecn(ecn).extended(extension()),
            ));
        }
        check_all(cases);
    }

    #[test]
    fn congestion_marked_on_the_way_stays_marked() {
        let wire = tcp()
            .dscp(46)
            .ecn(2)
            .tagged(int())
            .wire_tos(46 << 2 | MARK | 3);
        check_all(vec![Case {
            name: "a router sets congestion experienced",
            frame: wire.bytes(),
            outcome: Outcome::Stripped(tcp().dscp(46).ecn(3).bytes()),
        }]);
    }

    #[test]
    fn each_encapsulation_can_be_switched_off() {
        for (flag, untouched_one, stripped_one) in [
            (1, udp().extended(extension()), tcp().tagged(int())),
            (2, tcp().tagged(int()), udp().extended(extension())),
        ] {
            let mut only = settings();
            only.flags = flag;
            let sink = Sink::load(&only);
            let ran = sink.run(&untouched_one.bytes());
            assert_eq!(
                ran.bytes,
                untouched_one.bytes(),
                "flags {flag}: the other one passes"
            );
            let ran = sink.run(&stripped_one.bytes());
            assert_eq!(
                ran.bytes,
                stripped_one.untagged().bytes(),
                "flags {flag}: this one is stripped"
            );
        }
    }

    #[test]
    fn a_mark_may_be_any_value_under_any_mask() {
        for (value, mask) in [
            (0x04, 0xfc),
            (0xb8, 0xfc),
            (0x00, 0x04),
            (0x80, 0xc0),
            (0x0c, 0x1c),
        ] {
            let mut own = settings();
            (own.tos_value, own.tos_mask) = (value, mask);
            let sink = Sink::load(&own);
            let model = support::programs::sink::model_of(&own);
            for tos in 0..=255u8 {
                let frame = udp().dscp(9).tagged(int()).wire_tos(tos).bytes();
                let marked = tos & mask == value;
                let restored = udp().dscp(9).ecn(tos & 3).bytes();
                let outcome = match marked {
                    true => Outcome::Stripped(restored),
                    false => Outcome::Untouched,
                };
                check(
                    &sink,
                    &model,
                    &Case {
                        name: "own mark",
                        frame,
                        outcome,
                    },
                );
            }
        }
    }

    #[test]
    fn tagged_packets_are_dropped_on_demand_and_accounted_for() {
        let mut dropping = settings();
        dropping.flags |= 4;
        let sink = Sink::load(&dropping);
        let frame = udp().tagged(int()).bytes();
        assert_eq!(
            sink.run(&frame).verdict,
            XDP_DROP,
            "a tagged packet is dropped"
        );
        let dropped = sink.counters()[count::COUNT_SINK_DROPPED_TAGGED.0 as usize];
        assert_eq!(dropped, (1, frame.len() as u64), "and counted");
        assert_eq!(sink.count(count::COUNT_SINK_STRIPPED), 0, "not as stripped");
        assert_eq!(sink.flow(&key(17)).unwrap().packets, 1, "its flow knows it");
        for other in [udp().bytes(), udp().tagged(int().byte(0, 1)).bytes()] {
            let ran = sink.run(&other);
            assert_eq!(
                (ran.verdict, ran.bytes),
                (XDP_PASS, other),
                "others pass unmodified"
            );
        }
    }

    #[test]
    fn a_full_flow_table_strips_without_tracking() {
        let sizes = Sizes {
            flows: 4,
            ..Sizes::default()
        };
        let sink = Sink::load_sized(&settings(), sizes);
        for port in 0..10 {
            let frame = udp().ports(port, 7).tagged(int());
            let ran = sink.run(&frame.bytes());
            assert_eq!(
                ran.bytes,
                frame.untagged().bytes(),
                "flow {port} is stripped"
            );
        }
        assert_eq!(sink.flows(), 4, "as many flows as the table has room for");
        assert_eq!(
            sink.count(count::COUNT_SINK_STRIPPED),
            10,
            "all are stripped"
        );
        let len = udp().tagged(int()).bytes().len() as u64;
        let untracked = sink.counters()[count::COUNT_SINK_UNTRACKED.0 as usize];
        assert_eq!(untracked, (6, 6 * len), "the rest is counted as untracked");
        assert_eq!(sink.count(count::COUNT_SINK_FLOW_NEW), 4, "new flows");
        assert_eq!(
            latencies(&sink.events()).len(),
            4,
            "no event tells of an untracked flow"
        );
    }

    #[test]
    fn a_full_ring_loses_events_and_never_packets() {
        let sizes = Sizes {
            ring_bytes: 4096,
            ..Sizes::default()
        };
        let mut talkative = settings();
        talkative.report_period_ns = 0;
        let sink = Sink::load_sized(&talkative, sizes);
        for sequence in 1..=1000 {
            let frame = udp().tagged(int().sequence(sequence));
            let ran = sink.run(&frame.bytes());
            assert_eq!(
                ran.bytes,
                frame.untagged().bytes(),
                "packet {sequence} is stripped"
            );
        }
        let (sent, lost) = (
            sink.count(count::COUNT_SINK_EVENT_SENT),
            sink.count(count::COUNT_SINK_EVENT_LOST),
        );
        assert_eq!(sent + lost, 1000, "one event a packet, sent or lost");
        assert_eq!(sink.events().len() as u64, sent, "those sent can be read");
        assert!(sent > 10 && lost > 900, "{sent} events fit into a page");
    }

    #[test]
    fn a_new_flow_is_told_with_the_packet_as_it_came() {
        for (frame, protocol, carried, l4_len, l4_at) in [
            (udp().dscp(46).tagged(int().node(99)), 17, 1, 8, 34),
            (tcp().tagged(int().node(99)), 6, 1, 20, 34),
            (udp().extended(extension().node(99)), 17, 2, 8, 78),
            (tcp().extended(extension().node(99)), 6, 2, 20, 78),
        ] {
            let sink = Sink::load(&settings());
            let before = sink.clock.now_ns();
            let bytes = frame.bytes();
            sink.run(&bytes);
            let after = sink.clock.now_ns();
            let events = latencies(&sink.events());
            let [event] = events[..] else {
                panic!("one event, not {}", events.len())
            };
            assert_eq!(event.reasons, 1, "because the flow is new");
            assert_eq!(
                (event.encapsulation, event.bucket, event.ifindex),
                (carried, 0, 1)
            );
            assert!((before..=after).contains(&event.now_ns), "arrival time");
            assert_eq!(
                event.latency_ns, event.now_ns as i32,
                "the packet's timestamp is 0"
            );
            assert_eq!(event.ip, bytes[14..34], "IP header as received");
            assert_eq!(event.l4_len, l4_len);
            let quoted = usize::from(l4_len);
            assert_eq!(
                event.l4[..quoted],
                bytes[l4_at..l4_at + quoted],
                "L4 header as received"
            );
            assert!(
                event.l4[quoted..].iter().all(|b| *b == 0),
                "nothing behind it"
            );
            let block_at = if carried == 1 { l4_at + quoted } else { 42 };
            assert_eq!(event.int_block, bytes[block_at..block_at + 36], "INT block");
            let flow = sink.flow(&key(protocol)).unwrap();
            assert_eq!((flow.source_node, flow.source_port), (99, 13));
            assert_eq!((flow.encapsulation, flow.ifindex), (carried, 1));
            assert_eq!(flow.bytes, frame.untagged().bytes().len() as u64 - 14);
            assert_eq!(event.key.sport, 40000u16.to_be());
        }
    }

    /// Sends one packet of the flow with this latency, give or take what the machine takes.
    fn send(sink: &Sink, sequence: u32, latency_ns: i64) -> Vec<Event> {
        let stamp = (sink.clock.now_ns() as i64 - latency_ns) as u32;
        sink.run(
            &udp()
                .tagged(int().sequence(sequence).timestamp(stamp))
                .bytes(),
        );
        sink.events()
    }

    const MS: i64 = 1_000_000;

    /// Edges at 400, 800 and 1200 ms: no machine is that slow.
    fn bucketed() -> sink_settings {
        let mut bucketed = settings();
        for (i, edge) in [400, 800, 1200].into_iter().enumerate() {
            bucketed.edge_up[i] = edge * MS as i32 / 8 * 9;
            bucketed.edge_down[i] = edge * MS as i32 / 8 * 7;
        }
        bucketed.edge_count = 3;
        bucketed
    }

    #[test]
    fn a_bucket_is_left_beyond_its_edge() {
        let free = bucketed();
        let held = sink_settings {
            bucket_hold_ns: u64::MAX >> 2,
            ..free
        };
        let sink = Sink::load(&free);
        let steps: [(&str, i64, Option<u8>); 14] = [
            (
                "the first packet's bucket, by upper thresholds",
                420,
                Some(0),
            ),
            ("within the lowest bucket", 300, None),
            ("higher", 700, Some(1)),
            (
                "between the thresholds of edge 1 nothing changes",
                400,
                None,
            ),
            ("nor between those of edge 2", 850, None),
            ("below the lower threshold of edge 1", 300, Some(0)),
            ("within, from below, nothing either", 410, None),
            ("two buckets up at once", 1_000, Some(2)),
            ("three", 1_500, Some(3)),
            ("down to the lowest", 10, Some(0)),
            ("a negative latency is in the lowest", -500, None),
            ("up to the highest", 2_000, Some(3)),
            ("down by one", 950, Some(2)),
            ("and by one more", 600, Some(1)),
        ];
        let mut sequence = 0..;
        for (step, (name, latency_ms, told)) in steps.into_iter().enumerate() {
            if step > 0 {
                // The moving average takes some packets to get there.
                sink.set(&held);
                for sequence in sequence.by_ref().take(80) {
                    let events = send(&sink, sequence, latency_ms * MS);
                    assert!(events.is_empty(), "{name}: the hold is on");
                }
                sink.set(&free);
            }
            let sent = sequence.next().unwrap();
            let events = latencies(&send(&sink, sent, latency_ms * MS));
            let reason = if step == 0 { 1 } else { 2 };
            let expected: Vec<_> = told.into_iter().map(|bucket| (reason, bucket)).collect();
            let seen: Vec<_> = events.iter().map(|e| (e.reasons, e.bucket)).collect();
            assert_eq!(seen, expected, "{name}");
            for event in events {
                let off = i64::from(event.latency_ns) - latency_ms * MS;
                assert!(
                    (0..50 * MS).contains(&off),
                    "{name}: latency off by {off} ns"
                );
            }
        }
    }

    #[test]
    fn a_bucket_is_left_after_its_hold() {
        let mut holding = bucketed();
        holding.bucket_hold_ns = 10_000 * MS as u64;
        let sink = Sink::load(&holding);
        let steps: [(&str, i64, Option<u8>); 5] = [
            ("the first packet", 0, Some(0)),
            ("far above the edge, but the hold is on", 0, None),
            ("still", 9_500, None),
            ("the hold is over", 501, Some(1)),
            ("and on again", 9_500, None),
        ];
        for (step, (name, wait_ms, told)) in steps.into_iter().enumerate() {
            sink.jump(wait_ms * MS);
            // An eighth of the way from 430 ms to 1500 ms is beyond the upper threshold, 450 ms.
            let latency = if step == 0 { 430 } else { 1_500 };
            let events = latencies(&send(&sink, step as u32 + 1, latency * MS));
            let seen: Option<_> = events.first().map(|e| e.bucket.min(1));
            assert_eq!(seen, told, "{name}");
        }
    }

    #[test]
    fn one_packet_that_waited_changes_no_bucket() {
        let sink = Sink::load(&bucketed());
        for sequence in 1..200 {
            let latency = if sequence % 50 == 49 { 2_000 } else { 100 };
            let events = latencies(&send(&sink, sequence, latency * MS));
            assert_eq!(
                events.len(),
                usize::from(sequence == 1),
                "packet {sequence}"
            );
        }
    }

    #[test]
    fn the_latency_that_decides_on_buckets_is_a_moving_average() {
        let sink = Sink::load(&settings());
        let mut random = Random::seeded(5);
        let mut average: Option<i64> = None;
        for sequence in 1..2_000 {
            send(&sink, sequence, i64::from(random.u32() as i32) / 2);
            let flow = sink.flow(&key(17)).unwrap();
            let latency = i64::from(flow.latency_last_ns);
            let before = average.unwrap_or(latency);
            let now = before + (latency - before).div_euclid(8);
            assert_eq!(
                i64::from(flow.latency_smooth_ns),
                now,
                "after {sequence} packets"
            );
            average = Some(now);
        }
    }

    #[test]
    fn a_flow_is_told_of_again_after_each_period() {
        let mut periodic = settings();
        periodic.report_period_ns = 10_000 * MS as u64;
        let sink = Sink::load(&periodic);
        let steps = [
            ("the first packet", 0, Some(1)),
            ("at once again", 0, None),
            ("almost a period later", 9_900, None),
            ("a period later", 101, Some(4)),
            ("the period begins anew", 9_900, None),
            ("much later, once", 3_600_000, Some(4)),
            ("not twice", 0, None),
        ];
        for (i, (name, wait_ms, told)) in steps.into_iter().enumerate() {
            sink.jump(wait_ms * MS);
            let events = send(&sink, i as u32 + 1, MS);
            let reasons: Vec<_> = latencies(&events).iter().map(|e| e.reasons).collect();
            assert_eq!(reasons, Vec::from_iter(told), "{name}");
        }
    }

    #[test]
    fn a_bucket_change_at_the_end_of_a_period_is_one_event() {
        let mut both = settings();
        both.report_period_ns = 10_000 * MS as u64;
        (both.edge_up[0], both.edge_down[0]) = (450_000_000, 350_000_000);
        let sink = Sink::load(&both);
        send(&sink, 1, 440 * MS);
        sink.jump(11_000 * MS);
        let events = latencies(&send(&sink, 2, 2_000 * MS));
        let reasons: Vec<_> = events.iter().map(|e| e.reasons).collect();
        assert_eq!(reasons, [6], "with both reasons");
    }

    #[test]
    fn a_packet_that_another_cpu_stamped_earlier_is_no_news() {
        let mut periodic = settings();
        periodic.report_period_ns = 10_000 * MS as u64;
        periodic.bucket_hold_ns = 10_000 * MS as u64;
        (periodic.edge_up[0], periodic.edge_down[0]) = (450_000_000, 350_000_000);
        let sink = Sink::load(&periodic);
        send(&sink, 1, 440 * MS);
        sink.jump(-100 * MS);
        let events = latencies(&send(&sink, 2, 440 * MS));
        assert!(events.is_empty(), "neither a period is over");
        let events = latencies(&send(&sink, 3, 2_000 * MS));
        assert!(events.is_empty(), "nor a bucket's hold");
    }

    #[test]
    fn latency_statistics_hold_every_packet() {
        let sink = Sink::load(&settings());
        let latencies_ms = [-900, -1, 0, 1, 2, 4, 100, 1_000, 2_000, 1];
        for (i, ms) in latencies_ms.into_iter().enumerate() {
            send(&sink, i as u32 + 1, ms * MS + MS / 2);
        }
        let flow = sink.flow(&key(17)).unwrap();
        let near = |is: i64, should_ms: i64, what: &str| {
            let off = is - should_ms * MS - MS / 2;
            assert!((0..50 * MS).contains(&off), "{what} is off by {off} ns");
        };
        near(flow.latency_min_ns.into(), -900, "the smallest latency");
        near(flow.latency_max_ns.into(), 2_000, "the largest latency");
        near(flow.latency_last_ns.into(), 1, "the last latency");
        assert_eq!(
            flow.histogram.iter().sum::<u32>(),
            10,
            "every packet has its slot"
        );
        assert!(flow.histogram[0] >= 1, "negative latencies are in slot 0");
        assert_eq!(flow.histogram[31], 1, "2 s are between 2^30 and 2^31 ns");
        let sum: i64 = latencies_ms.iter().map(|ms| ms * MS + MS / 2).sum();
        let off = flow.latency_sum_ns - sum;
        assert!((0..500 * MS).contains(&off), "the sum is off by {off} ns");
    }

    #[test]
    fn each_histogram_slot_is_a_power_of_two() {
        // The clock passes on between stamp and arrival, so latencies are read back from the flow.
        let sink = Sink::load(&settings());
        let mut expected = [0u32; 32];
        for (i, power) in (0..31).cycle().take(500).enumerate() {
            send(&sink, i as u32 + 1, (1 << power) - 2_000);
            let latency = sink.flow(&key(17)).unwrap().latency_last_ns;
            let slot = match latency {
                ..=0 => 0,
                positive => 32 - positive.leading_zeros(),
            };
            expected[slot as usize] += 1;
        }
        let flow = sink.flow(&key(17)).unwrap();
        assert_eq!(flow.histogram, expected, "slot n holds [2^(n-1), 2^n) ns");
    }
}
