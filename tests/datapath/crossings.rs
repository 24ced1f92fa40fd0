//! Source, hops and sink count the same packets in the same block: those that hops may push onto.

use std::net::Ipv4Addr;

use hostint::datapath::abi::{crossing_key, crossing_place};
use hostint_testing::frame::Frame;
use hostint_testing::model::Encapsulation::{self, ExtensionUdp, IntMd, OverTcpUdp, VxlanGpe};
use hostint_testing::packets::{tcp, tcp6, udp, udp6};
use hostint_testing::programs::sink::{Sink, settings};
use hostint_testing::programs::transit::{Hop, with_int_md};
use hostint_testing::programs::{blocks_crossed, take_crossings, ttls_crossed};
use hostint_testing::transit_cases::{asking_source as source, lease};

const ENCAPSULATIONS: [Encapsulation; 4] = [OverTcpUdp, ExtensionUdp, VxlanGpe, IntMd];
const BLOCK_NS: i64 = 1 << 30;

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;
    use crossing_place as place;

    fn frames() -> [(&'static str, Frame); 4] {
        [
            ("UDP", udp()),
            ("UDP over IPv6", udp6().payload(17)),
            ("TCP", tcp().segment(9, 2).tcp_options(12).payload(501)),
            ("TCP over IPv6", tcp6().segment(9, 2)),
        ]
    }

    /// One record, as it was counted: source node and destination, place, packets.
    fn only(counts: Vec<(crossing_key, u64)>, sentence: &str) -> ((u32, u32), u32, u64) {
        let [(key, packets)] = &counts[..] else {
            panic!("{sentence}: {} records", counts.len());
        };
        ((key.source_node, key.dest), key.place, *packets)
    }

    #[test]
    fn all_count_the_same_packets_by_source_and_destination() {
        let (first, second) = (Hop::load(&with_int_md()), Hop::load(&with_int_md()));
        first.set_node(101);
        second.set_node(102);
        let sink = Sink::load_both(&settings());
        for encapsulation in ENCAPSULATIONS {
            let source = source(encapsulation, 2);
            for (name, frame) in frames() {
                let sentence = format!("{encapsulation:?}, {name}");
                sink.forget_flows();
                let bytes = frame.bytes();
                lease(&source, &bytes, 9);
                let mut wire = source.run(&bytes).bytes;
                assert!(wire.len() > bytes.len(), "{sentence}: tagged");
                let (flow, at, packets) = only(take_crossings(source.crossings()), &sentence);
                assert_eq!((at, packets), (place::CROSSING_TAGGED.0, 1), "{sentence}");
                for hop in [&first, &second] {
                    hop.arrive(&wire);
                    let arrived = only(take_crossings(hop.crossings()), &sentence);
                    assert_eq!(arrived, (flow, place::CROSSING_ARRIVED.0, 1), "{sentence}");
                    wire = hop.leave(&wire).bytes;
                    let departed = only(take_crossings(hop.crossings()), &sentence);
                    assert_eq!(
                        departed,
                        (flow, place::CROSSING_DEPARTED.0, 1),
                        "{sentence}"
                    );
                    // The port behind a bridge, of which the packet departed already.
                    hop.leave(&wire);
                    assert_eq!(
                        take_crossings(hop.crossings()).len(),
                        0,
                        "{sentence}: again"
                    );
                }
                for (hook, run) in [
                    ("XDP", Sink::run as fn(&Sink, &[u8]) -> _),
                    ("TC", Sink::run_tc),
                ] {
                    assert_eq!(run(&sink, &wire).bytes, bytes, "{sentence} at {hook}");
                    let received = only(take_crossings(sink.crossings()), &sentence);
                    assert_eq!(
                        received,
                        (flow, place::CROSSING_RECEIVED.0, 1),
                        "{sentence} at {hook}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_packet_is_counted_in_the_block_of_its_stamp_wherever_it_comes_by() {
        for encapsulation in ENCAPSULATIONS {
            let source = source(encapsulation, 2);
            let hop = Hop::load(&with_int_md());
            hop.set_node(101);
            let sink = Sink::load(&settings());
            let bytes = udp().bytes();
            lease(&source, &bytes, 9);
            let wire = source.run(&bytes).bytes;
            let block = blocks_crossed(source.crossings());
            assert_eq!(block.len(), 1, "{encapsulation:?}");
            // The clock of each begins anew when it is loaded, and all go on from the same time.
            let now_ns = source.clock.now_ns().cast_signed();
            hop.jump(now_ns - hop.clock.now_ns().cast_signed());
            sink.jump(now_ns - sink.clock.now_ns().cast_signed());
            // Half a block earlier and later.
            let far = BLOCK_NS / 2;
            for by_ns in [0, far, -2 * far] {
                hop.jump(by_ns);
                sink.jump(by_ns);
                hop.arrive(&wire);
                sink.run(&wire);
                assert_eq!(
                    blocks_crossed(hop.crossings()),
                    block,
                    "{encapsulation:?}: {by_ns} ns"
                );
                assert_eq!(
                    blocks_crossed(sink.crossings()),
                    block,
                    "{encapsulation:?}: {by_ns} ns"
                );
            }
        }
    }

    /// Offsets of the TTL and the hop limit.
    const TTL: [usize; 2] = [22, 21];

    #[test]
    fn all_note_the_ttl_and_the_block_since_which_packets_have_it() {
        for encapsulation in ENCAPSULATIONS {
            for (frame, at) in [udp(), udp6()].into_iter().zip(TTL) {
                let sentence = format!("{encapsulation:?}, TTL at {at}");
                let source = source(encapsulation, 2);
                let hop = Hop::load(&with_int_md());
                hop.set_node(101);
                let sink = Sink::load(&settings());
                let bytes = frame.bytes();
                lease(&source, &bytes, 9);
                let mut wire = source.run(&bytes).bytes;
                let [(ttl, block)] = ttls_crossed(source.crossings())[..] else {
                    panic!("{sentence}: one record");
                };
                assert_eq!(ttl, u32::from(bytes[at]), "{sentence}");
                let now_ns = source.clock.now_ns().cast_signed();
                hop.jump(now_ns - hop.clock.now_ns().cast_signed());
                sink.jump(now_ns - sink.clock.now_ns().cast_signed());
                wire[at] = 61;
                hop.arrive(&wire);
                hop.arrive(&wire);
                assert_eq!(ttls_crossed(hop.crossings()), [(61, block)], "{sentence}");
                wire[at] = 60;
                for _ in 0..2 {
                    hop.arrive(&wire);
                    let known = ttls_crossed(hop.crossings());
                    assert_eq!(known, [(60, block + 1)], "{sentence}: the block has both");
                }
                wire[at] = 9;
                sink.run(&wire);
                assert_eq!(ttls_crossed(sink.crossings()), [(9, block)], "{sentence}");
            }
        }
    }

    #[test]
    fn packets_without_a_budget_are_not_counted() {
        let (hop, sink) = (Hop::load(&with_int_md()), Sink::load(&settings()));
        hop.set_node(101);
        for encapsulation in ENCAPSULATIONS {
            for (max_hops, stack, sentence) in [
                (0, 9, "a source that lets none push"),
                (2, 1, "a sink that reads one entry"),
            ] {
                let sentence = format!("{encapsulation:?}, {sentence}");
                let source = source(encapsulation, max_hops);
                let bytes = udp().bytes();
                lease(&source, &bytes, stack);
                let wire = source.run(&bytes).bytes;
                assert!(wire.len() > bytes.len(), "{sentence}: tagged");
                hop.arrive(&wire);
                hop.leave(&wire);
                sink.run(&wire);
                assert_eq!(take_crossings(source.crossings()).len(), 0, "{sentence}");
                assert_eq!(take_crossings(hop.crossings()).len(), 0, "{sentence}");
                assert_eq!(take_crossings(sink.crossings()).len(), 0, "{sentence}");
            }
        }
    }

    #[test]
    fn a_superpacket_counts_as_its_segments() {
        let source = source(VxlanGpe, 2);
        let hop = Hop::load(&with_int_md());
        hop.set_node(101);
        let frame = tcp().segment(9, 2).payload(900).bytes();
        lease(&source, &frame, 9);
        let wire = source.run(&frame).bytes;
        assert!(wire.len() > frame.len(), "tagged");
        let (flow, _, packets) = only(take_crossings(source.crossings()), "tagged");
        assert_eq!(packets, 1);
        hop.leave_superpacket(&wire, 300, 3);
        let departed = only(take_crossings(hop.crossings()), "departed");
        assert_eq!(departed, (flow, place::CROSSING_DEPARTED.0, 3));
    }

    #[test]
    fn what_a_host_tagged_itself_did_not_come_by() {
        let source = source(OverTcpUdp, 2);
        let hop = Hop::load(&with_int_md());
        let bytes = udp().bytes();
        lease(&source, &bytes, 9);
        let wire = source.run(&bytes).bytes;
        let node = only(take_crossings(source.crossings()), "tagged").0.0;
        hop.set_node(node);
        hop.arrive(&wire);
        hop.leave(&wire);
        assert_eq!(take_crossings(hop.crossings()).len(), 0);
    }

    #[test]
    fn destinations_have_names_of_their_own() {
        let source = source(OverTcpUdp, 2);
        let mut seen = Vec::new();
        for last in 1..=250 {
            let frame = udp().to(Ipv4Addr::new(192, 0, 2, last)).bytes();
            lease(&source, &frame, 9);
            source.run(&frame);
            let (flow, ..) = only(take_crossings(source.crossings()), "tagged");
            assert!(!seen.contains(&flow), "192.0.2.{last}");
            seen.push(flow);
        }
    }
}
