//! IOAM in IPv6 hop-by-hop options: the source writes what its model does, and the sink takes it out, whatever routers
//! filled in, and tells the routers that a packet passed.

use hostint::datapath::abi::{lease_way, peer_counter, sink_counter, source_counter, superpackets};
use hostint::datapath::sink::events;
use hostint::model::{Encapsulation as Named, Hop, HopQueue, NodeId, SinkEvent};
use hostint_testing::checksum::verify;
use hostint_testing::frame::{Frame, TCP, UDP};
use hostint_testing::generate::plain;
use hostint_testing::icmp::{Family, Kind, error, original};
use hostint_testing::model::ioam::{self, Entry, Header};
use hostint_testing::model::{Key, layout};
use hostint_testing::packets::{tcp, tcp6, udp, udp6};
use hostint_testing::peer_cases::{assert_becomes, assert_left};
use hostint_testing::programs::Ran;
use hostint_testing::programs::peer::{Options as PeerOptions, Peer};
use hostint_testing::programs::sink::{Sink, XDP_PASS, settings};
use hostint_testing::programs::source::{Hook, Options, Source, TCX_NEXT};
use hostint_testing::random::{Random, env_number};
use hostint_testing::source_cases::assert_counted;

const SYN: u8 = 2;
const ACK: u8 = 16;
const IOAM: u32 = lease_way::WAY_IOAM.0;
/// Entries for which a packet can have room.
const MOST: usize = 8;

fn source(room: usize) -> Source {
    Source::load_asking(&Options {
        ioam: true,
        max_hops: room as u32,
        superpackets: superpackets::SUPER_ENCAP,
        ..Options::default()
    })
}

/// As if the daemon had proved these ways to a sink that reads stacks.
fn prove(source: &Source, key: &Key, ways: u32) {
    source.set_ways(key, ways);
    let lease = source.lease(key).expect("set");
    source.write_lease(
        key,
        &hostint::datapath::abi::source_lease {
            stack: 1 + MOST as u8,
            ..lease
        },
    );
    if source.knows(key) {
        source.change_flow(key, |flow| flow.leased_ns = 0);
    }
}

fn key_of(frame: &[u8]) -> Key {
    let at = layout::find(frame).expect("TCP or UDP");
    Key::of(frame, &at, &frame[at.l4..], at.protocol)
}

pub fn l3_of(frame: &[u8]) -> usize {
    layout::find(frame).expect("TCP or UDP").l3
}

pub fn sink() -> Sink {
    Sink::load_both(&settings())
}

pub fn run(sink: &Sink, hook: Hook, frame: &[u8]) -> Ran {
    let ran = match hook {
        Hook::Xdp => sink.run(frame),
        Hook::Tc => sink.run_tc(frame),
    };
    let passes = match hook {
        Hook::Xdp => XDP_PASS,
        Hook::Tc => TCX_NEXT,
    };
    assert_eq!(ran.verdict, passes, "{hook:?}");
    ran
}

/// The router with this number, in whose egress queue this many bytes wait.
pub fn entry(node: u32) -> Entry {
    Entry {
        hop_limit: 64 - node as u8,
        node: 0x70_0000 + node,
        ingress_port: node as u16 * 3,
        egress_port: node as u16 * 5,
        seconds: 1_700_000_000,
        microseconds: 999_900 + node,
        queue: 1500 * node,
    }
}

fn hop(entry: &Entry) -> Hop {
    let ts = entry.arrival_ns().unwrap_or(u32::MAX);
    Hop {
        node: NodeId(entry.node),
        ingress_port: entry.ingress_port,
        egress_port: entry.egress_port,
        ingress_ts: ts,
        egress_ts: ts,
        // All ones say that the router does not know it.
        queue: (entry.queue != u32::MAX).then_some(HopQueue::Bytes(entry.queue)),
    }
}

/// The hops of the packets that were reported, newest first.
fn told(sink: &Sink) -> Vec<(Named, u32, Vec<Hop>)> {
    let decoded = sink
        .event_bytes()
        .into_iter()
        .filter_map(|bytes| events::decode(&bytes));
    decoded
        .filter_map(|event| match event {
            SinkEvent::Latency(of) => Some((of.encapsulation, of.sequence, of.transit)),
            _ => None,
        })
        .collect()
}

pub fn header(room: usize, sequence: u32) -> Header {
    Header {
        room,
        age_code: 1,
        port: 3,
        node: 9,
        time_ns: 1_700_000_000_123_456_789,
        count: 1,
        sequence,
        ..Header::default()
    }
}

/// Takes what the source wrote, and checks everything that the model knows.
fn assert_written(source: &Source, frame: &[u8], room: usize, sentence: &str) -> Vec<u8> {
    let before = source.clock.now_ns();
    let ran = source.run(frame);
    let l3 = l3_of(frame);
    assert_eq!(
        ran.bytes.len(),
        frame.len() + ioam::len(room),
        "{sentence}: {ran:?}"
    );
    let written = ioam::header_of(&ran.bytes, l3);
    let base = match &frame[l3 + 6] {
        6 => hostint_testing::checksum::be32(frame, l3 + 44),
        _ => 0,
    };
    let expected = Header {
        room,
        base,
        count: 1,
        node: source.model.node,
        port: source.model.port,
        ..written
    };
    assert_eq!(ran.bytes, ioam::wrap(frame, &expected), "{sentence}");
    let took = written.time_ns.wrapping_sub(before);
    assert!(took < 60_000_000_000, "{sentence}: stamped {took} ns later");
    ran.bytes
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;
    use source_counter as count;

    #[test]
    fn the_source_writes_what_its_model_does() {
        let frames = [
            ("UDP", udp6()),
            ("UDP without payload", udp6().payload(0)),
            ("UDP of odd length", udp6().payload(333)),
            ("a SYN", tcp6().payload(0).segment(7, SYN)),
            (
                "a segment of odd length",
                tcp6().payload(701).segment(8, ACK),
            ),
            ("TCP options", tcp6().tcp_options(12).segment(9, ACK)),
            ("a DSCP", udp6().dscp(0x2e)),
        ];
        for room in 0..=MOST {
            let source = source(room);
            for (name, frame) in &frames {
                let bytes = frame.bytes();
                prove(&source, &key_of(&bytes), IOAM);
                assert_written(&source, &bytes, room, &format!("{name}, room for {room}"));
            }
        }
    }

    #[test]
    fn the_sink_takes_out_what_routers_filled_in() {
        let sink = sink();
        let (mut sequence, mut full) = (0, 0);
        for (name, frame) in [
            ("UDP", udp6().payload(99)),
            ("TCP", tcp6().payload(700).segment(5, ACK)),
            ("one VLAN", udp6().vlan(5)),
            ("two VLANs", udp6().vlan(5).vlan(6)),
        ] {
            for hook in [Hook::Xdp, Hook::Tc] {
                // BPF_PROG_RUN takes tags in the frame for what they are not.
                if hook == Hook::Tc && name.contains("VLAN") {
                    continue;
                }
                for room in 0..=MOST {
                    for routers in 0..=room + 1 {
                        sequence += 1;
                        let sentence = format!("{name}, {hook:?}, {routers} of {room}");
                        let bytes = frame.bytes();
                        let l3 = l3_of(&bytes);
                        let mut wrapped = ioam::wrap(&bytes, &header(room, sequence));
                        let entries: Vec<Entry> = (1..=routers as u32).map(entry).collect();
                        for entry in &entries {
                            ioam::fill(&mut wrapped, l3, entry);
                        }
                        let mut sent = bytes.clone();
                        sent[l3 + 7] -= routers as u8;
                        sink.forget_flows();
                        let ran = run(&sink, hook, &wrapped);
                        assert_eq!(ran.bytes, sent, "{sentence}");
                        full += u64::from(routers > room);
                        assert_eq!(sink.count(sink_counter::COUNT_SINK_TRACE_FULL), full);
                        let mut hops: Vec<Hop> = entries.iter().take(room).map(hop).collect();
                        hops.reverse();
                        assert_eq!(told(&sink), [(Named::Ioam, sequence, hops)], "{sentence}");
                    }
                }
            }
        }
        assert_eq!(
            sink.count(sink_counter::COUNT_SINK_RECEIVED),
            u64::from(sequence)
        );
    }

    #[test]
    fn any_packet_comes_out_as_it_was_sent() {
        let (mut random, seed) = Random::from_env();
        let rooms: Vec<Source> = (0..=MOST).map(source).collect();
        let sink = sink();
        let frames = env_number("HOSTINT_TEST_FRAMES", 5_000);
        let mut done = 0;
        while done < frames {
            let frame = plain(&mut random);
            let bytes = frame.bytes();
            let at = layout::find(&bytes).expect("TCP or UDP");
            if !at.v6 || at.header_len() != 40 || bytes[0] & 1 != 0 {
                continue;
            }
            done += 1;
            let room = random.below(MOST + 1);
            let source = &rooms[room];
            source.forget_flows();
            prove(source, &key_of(&bytes), IOAM);
            let right = verify(&bytes).is_ok();
            let ran = source.run(&bytes);
            let sentence = format!("seed {seed}, frame {done}, room for {room}");
            assert_eq!(
                ran.bytes.len(),
                bytes.len() + ioam::len(room),
                "{sentence}: {bytes:02x?}"
            );
            let mut wrapped = ran.bytes;
            let routers = random.below(room + 2);
            for router in 0..routers.min(usize::from(bytes[at.l3 + 7])) {
                ioam::fill(&mut wrapped, at.l3, &entry(router as u32 + 1));
            }
            let mut sent = bytes.clone();
            sent[at.l3 + 7] = wrapped[at.l3 + 7];
            let hook = if random.one_in(2) {
                Hook::Xdp
            } else {
                Hook::Tc
            };
            let out = run(&sink, hook, &wrapped);
            assert_eq!(out.bytes, sent, "{sentence}, {hook:?}");
            assert_eq!(verify(&out.bytes).is_ok(), right, "{sentence}");
            if done % 1_000 == 0 {
                sink.forget_flows();
            }
        }
        assert_eq!(sink.count(sink_counter::COUNT_SINK_RECEIVED), frames);
    }

    #[test]
    fn a_superpacket_s_segments_are_counted_one_by_one() {
        let source = source(4);
        let sink = sink();
        let whole = tcp6().payload(5 * 100 + 30).segment(1000, ACK).bytes();
        prove(&source, &key_of(&whole), IOAM);
        // The packets of BPF_PROG_RUN are no TCP to the kernel, which makes room only in that.
        source.run_superpacket(&whole, 100, 6);
        let planned = (count::COUNT_SOURCE_CANNOT_RESIZE, 6, whole.len() as u64);
        let begun = (count::COUNT_SOURCE_FLOW_NEW, 1, 0);
        assert_counted(&source, &[planned, begun], "it would be tagged");
        let written = Header {
            size: 100,
            count: 6,
            base: 1000,
            ..header(4, 1)
        };
        for (index, len) in [(0, 100), (1, 100), (5, 30)] {
            let segment = tcp6().payload(len).segment(1000 + index * 100, ACK).bytes();
            let cut = ioam::wrap(&segment, &written);
            assert_eq!(
                run(&sink, Hook::Xdp, &cut).bytes,
                segment,
                "segment {index}"
            );
        }
        // Two that were merged again.
        let merged = tcp6().payload(200).segment(1200, ACK).bytes();
        let cut = ioam::wrap(&merged, &written);
        assert_eq!(run(&sink, Hook::Tc, &cut).bytes, merged);
        let flow = sink.flow(&key_of(&whole)).expect("a flow");
        assert_eq!((flow.packets + flow.other_packets, flow.head), (5, 6));
        // A segment that is none of the superpacket.
        let odd = tcp6().payload(100).segment(1033, ACK).bytes();
        run(&sink, Hook::Xdp, &ioam::wrap(&odd, &written));
        assert_eq!(sink.count(sink_counter::COUNT_SINK_BAD_SEGMENT), 1);
        // One whose segments are as long as the link allows has no room.
        source.zero_counters();
        let long = tcp6().payload(1_000).segment(2000, ACK).bytes();
        let ran = source.run_superpacket(&long, 65_500, 1);
        assert_eq!(ran.bytes, long);
        assert_counted(
            &source,
            &[(count::COUNT_SOURCE_SUPERPACKET, 1, long.len() as u64)],
            "no room",
        );
    }

    #[test]
    fn packets_that_cannot_be_in_ioam_go_another_way() {
        let mut source = source(4);
        let sized = |frame: &Frame| frame.bytes().len() as u64;
        let extended = udp6().extension_header(60, 8);
        prove(&source, &key_of(&extended.bytes()), IOAM);
        assert_eq!(source.run(&extended.bytes()).bytes, extended.bytes());
        let counted = (count::COUNT_SOURCE_IP_OPTIONS, 1, sized(&extended));
        assert_counted(&source, &[counted], "another extension header");
        // IPv4 goes in vxlan-gpe, if that passes.
        source.zero_counters();
        prove(&source, &key_of(&udp().bytes()), IOAM);
        assert_eq!(source.run(&udp().bytes()).bytes, udp().bytes());
        let counted = (count::COUNT_SOURCE_UNPROVED, 1, sized(&udp()));
        assert_counted(&source, &[counted], "IPv4 without another way");
        prove(
            &source,
            &key_of(&udp().bytes()),
            IOAM | lease_way::WAY_UDP_GPE.0,
        );
        source.model.encapsulation = hostint_testing::model::Encapsulation::VxlanGpe;
        let ran = source.run(&udp().bytes());
        assert_eq!(ran.bytes.len(), udp().bytes().len() + 20 + 68 + 4);
    }

    #[test]
    fn a_connection_may_enter_ioam_and_leave_it_at_any_packet() {
        let source = source(2);
        let packet = |seq: u32| tcp6().payload(100).segment(seq, ACK).bytes();
        let key = key_of(&packet(1));
        let is_tagged = |seq: u32| source.run(&packet(seq)).bytes.len() > packet(seq).len();
        prove(&source, &key, 0);
        assert!(!is_tagged(1000), "it began before its lease");
        prove(&source, &key, IOAM);
        assert!(is_tagged(1100), "the lease came");
        // After two thirds of all sequence numbers without anybody following them.
        prove(&source, &key, 0);
        assert!(!is_tagged(1200), "the path passes it no longer");
        prove(&source, &key, IOAM);
        for seq in [3_000_000_000, 3_000_000_100, 3_000_000_200] {
            assert!(is_tagged(seq), "the path passes it again: {seq}");
        }
        source.change_flow(&key, |flow| {
            flow.form = 5;
            flow.left = 4;
        });
        prove(&source, &key, IOAM);
        assert!(!is_tagged(3_000_000_300), "its packets came to nothing");
        let gpe = key_of(&tcp().bytes());
        prove(&source, &gpe, IOAM);
        assert_eq!(source.run(&tcp().bytes()).bytes, tcp().bytes(), "IPv4");
    }

    #[test]
    fn a_narrow_path_is_told_to_the_stack_less_the_options() {
        let peer = Peer::load(&PeerOptions::default());
        for protocol in [TCP, UDP] {
            for room in [0, 1, MOST] {
                let ethernet = [&[0; 12][..], &[0x86, 0xdd]].concat();
                let frame = [ethernet, original(Family::V6, protocol)].concat();
                let quote = ioam::wrap(&frame, &header(room, 1));
                let narrow = error(Family::V6, Kind::TooBig(1600), &quote[14..]);
                let told = Kind::TooBig(1600 - ioam::len(room) as u16);
                let expected = error(Family::V6, told, &quote[14..]);
                let counted = Some(peer_counter::COUNT_PEER_ICMP_TRANSLATED);
                let sentence = format!("{protocol}, room for {room}");
                assert_becomes(&peer, &narrow, &expected, counted, &sentence);
                // The stack skips the options in the quote, so all other errors are right as they are.
                let exceeded = error(Family::V6, Kind::TimeExceeded, &quote[14..]);
                assert_left(&peer, &exceeded, None, &sentence);
            }
        }
    }
}
