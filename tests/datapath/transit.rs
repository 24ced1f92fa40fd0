//! The transit hop pushes its entry onto every stack that has budget and room, and the sink gives the packet back.

use std::net::{IpAddr, Ipv4Addr};

use hostint::datapath::abi::transit_counter;
use hostint_testing::frame::Frame;
use hostint_testing::model::Encapsulation::{self, ExtensionUdp, OverTcpUdp, VxlanGpe};
use hostint_testing::model::transit::{Entry, push};
use hostint_testing::packets::{tcp, tcp6, udp, udp6};
use hostint_testing::programs::sink::{Sink, settings};
use hostint_testing::programs::transit::{EGRESS, Hop, INGRESS, Options};
use hostint_testing::transit_cases::{
    STACK, asking_source as source, assert_counted, assert_pushed, newest, tagged,
};

const ENCAPSULATIONS: [Encapsulation; 3] = [OverTcpUdp, ExtensionUdp, VxlanGpe];
const SECOND: i64 = 1_000_000_000;

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;
    use transit_counter as count;

    fn frames(encapsulation: Encapsulation) -> Vec<(&'static str, Frame)> {
        let mut frames = vec![
            ("UDP", udp()),
            ("an empty datagram", udp().payload(0)),
            ("an odd payload", udp().payload(63)),
            ("UDP without checksum", udp().without_udp_checksum()),
            ("TCP", tcp().segment(9, 2)),
            (
                "TCP options",
                tcp().segment(9, 2).tcp_options(40).payload(501),
            ),
            ("padding", tcp().segment(9, 2).payload(1).padding(17)),
            ("UDP over IPv6", udp6().payload(17)),
            ("TCP over IPv6", tcp6().segment(9, 2).tcp_options(12)),
        ];
        if encapsulation != VxlanGpe {
            frames.push(("IPv4 options", udp().ip_options(40)));
            frames.push((
                "IPv6 extension headers",
                tcp6()
                    .segment(9, 2)
                    .extension_header(0, 16)
                    .extension_header(60, 48),
            ));
        }
        frames
    }

    #[test]
    fn up_to_eight_hops_push_and_the_sink_gives_the_packet_back() {
        let sink = Sink::load_both(&settings());
        for kernel_ctx in [true, false] {
            let hop = Hop::load(&Options {
                kernel_ctx,
                ..Options::default()
            });
            for encapsulation in ENCAPSULATIONS {
                let source = source(encapsulation, 8);
                for (name, frame) in frames(encapsulation) {
                    let mut wire = tagged(&source, &frame, STACK);
                    for node in 101..=108 {
                        let sentence = format!("{encapsulation:?}, {name}, hop {node}");
                        hop.set_node(node);
                        hop.zero_counters();
                        let before = hop.clock.now_ns();
                        assert_eq!(hop.arrive(&wire).bytes, wire, "{sentence}: arrival");
                        let ran = hop.leave(&wire);
                        let took = hop.clock.now_ns() - before;
                        let entry = assert_pushed(&ran, &wire, encapsulation, &sentence);
                        let ports = (entry.ingress_port, entry.egress_port);
                        assert_eq!((entry.node, ports), (node, (INGRESS, EGRESS)), "{sentence}");
                        let late = (entry.ingress_ns as u32).wrapping_sub(before as u32);
                        assert!(u64::from(late) <= took, "{sentence}: arrival");
                        assert!(u64::from(entry.latency_ns) <= took, "{sentence}: latency");
                        let len = wire.len() as u64;
                        let counted = [
                            (count::COUNT_TRANSIT_ARRIVED, 1, len),
                            (count::COUNT_TRANSIT_PUSHED, 1, len),
                        ];
                        assert_counted(&hop, &counted, &sentence);
                        wire = ran.bytes;
                    }
                    let sentence = format!("{encapsulation:?}, {name}");
                    assert_eq!(sink.run(&wire).bytes, frame.bytes(), "{sentence} at XDP");
                    assert_eq!(sink.run_tc(&wire).bytes, frame.bytes(), "{sentence} at TC");
                }
            }
        }
    }

    #[test]
    fn a_hop_behind_the_budget_says_so_once_and_pushes_nothing() {
        let sink = Sink::load_both(&settings());
        let hop = Hop::load(&Options::default());
        for encapsulation in ENCAPSULATIONS {
            for hops in 1..=8u32 {
                let source = source(encapsulation, hops);
                for frame in [udp(), tcp6().segment(9, 2)] {
                    let sentence = format!("{encapsulation:?}, budget {hops}");
                    let mut wire = tagged(&source, &frame, STACK);
                    for node in 101..101 + hops {
                        hop.set_node(node);
                        wire = hop.leave(&wire).bytes;
                    }
                    hop.set_node(100);
                    hop.zero_counters();
                    let len = wire.len();
                    let one_more = hop.leave(&wire).bytes;
                    let counted = [(count::COUNT_TRANSIT_NO_BUDGET, 1, len as u64)];
                    assert_counted(&hop, &counted, &sentence);
                    assert_eq!(one_more.len(), len, "{sentence}");
                    assert_ne!(one_more, wire, "{sentence}: E is set");
                    hostint_testing::checksum::verify(&one_more).expect(&sentence);
                    assert_eq!(hop.leave(&one_more).bytes, one_more, "{sentence}: once");
                    assert_eq!(sink.run(&one_more).bytes, frame.bytes(), "{sentence}");
                }
            }
        }
    }

    #[test]
    fn where_the_source_left_no_budget_no_byte_changes() {
        let hop = Hop::load(&Options::default());
        hop.set_node(101);
        for encapsulation in ENCAPSULATIONS {
            for (sentence, max_hops, stack) in [
                ("the user wants no hops", 0, STACK),
                ("the sink is one of 0.1.0", 8, 0),
                ("the sink reads no stacks", 8, 1),
            ] {
                let source = source(encapsulation, max_hops);
                for frame in [udp(), udp6(), tcp().segment(9, 2)] {
                    let sentence = format!("{encapsulation:?}: {sentence}");
                    let wire = tagged(&source, &frame, stack);
                    hop.zero_counters();
                    hop.arrive(&wire);
                    assert_eq!(hop.leave(&wire).bytes, wire, "{sentence}");
                    let len = wire.len() as u64;
                    let counted = [
                        (count::COUNT_TRANSIT_ARRIVED, 1, len),
                        (count::COUNT_TRANSIT_NO_BUDGET, 1, len),
                    ];
                    assert_counted(&hop, &counted, &sentence);
                }
            }
        }
    }

    #[test]
    fn a_packet_without_room_says_so_and_stays_as_long_as_it_is() {
        let sink = Sink::load_both(&settings());
        for encapsulation in ENCAPSULATIONS {
            let source = source(encapsulation, 8);
            for frame in [udp().payload(900), tcp6().segment(9, 2).payload(901)] {
                let wire = tagged(&source, &frame, STACK);
                let entry = if encapsulation == VxlanGpe { 24 } else { 16 };
                let ip_len = wire.len() as u32 - 14;
                let sentence = format!("{encapsulation:?}");

                let fits = Hop::load(&Options {
                    fixed_mtu: ip_len + entry,
                    ..Options::default()
                });
                fits.set_node(101);
                assert_pushed(&fits.leave(&wire), &wire, encapsulation, &sentence);

                let narrow = Hop::load(&Options {
                    fixed_mtu: ip_len + entry - 1,
                    ..Options::default()
                });
                narrow.set_node(101);
                let left = narrow.leave(&wire).bytes;
                let counted = [(count::COUNT_TRANSIT_TOO_LONG, 1, wire.len() as u64)];
                assert_counted(&narrow, &counted, &sentence);
                assert_eq!(left.len(), wire.len(), "{sentence}");
                assert_ne!(left, wire, "{sentence}: M is set");
                hostint_testing::checksum::verify(&left).expect(&sentence);
                assert_eq!(sink.run(&left).bytes, frame.bytes(), "{sentence}");
            }
        }
    }

    #[test]
    fn what_routers_may_fragment_grows_to_576_bytes_at_most() {
        let hop = Hop::load(&Options::default());
        hop.set_node(101);
        // Behind the source's own room for one hop.
        let source = source(OverTcpUdp, 1);
        let longest = 576 - 36 - 16 - 28;
        let frame = udp().dont_fragment(false).payload(longest);
        let wire = tagged(&source, &frame, STACK);
        assert_pushed(&hop.leave(&wire), &wire, OverTcpUdp, "it fits");
        let mut longer = tagged(&source, &udp().payload(longest + 1), STACK);
        longer[20] = 0; // no DF
        hop.zero_counters();
        assert_eq!(hop.leave(&longer).bytes.len(), longer.len());
        let counted = [(count::COUNT_TRANSIT_TOO_LONG, 1, longer.len() as u64)];
        assert_counted(&hop, &counted, "a byte more");
    }

    #[test]
    fn an_arrival_that_is_not_known_is_all_ones() {
        for encapsulation in ENCAPSULATIONS {
            let source = source(encapsulation, 8);
            let hop = Hop::load(&Options {
                arrivals: 1,
                ..Options::default()
            });
            hop.set_node(101);
            let (wire, other) = (
                tagged(&source, &udp(), STACK),
                tagged(&source, &udp(), STACK),
            );
            let cases: [(&str, &dyn Fn()); 4] = [
                ("it never arrived", &|| ()),
                ("another one took its place", &|| {
                    hop.arrive(&wire);
                    hop.arrive(&other);
                }),
                ("it arrived too long ago", &|| {
                    hop.arrive(&wire);
                    hop.jump(4 * SECOND);
                }),
                ("the clock was set back", &|| {
                    hop.arrive(&wire);
                    hop.jump(-SECOND);
                }),
            ];
            for (sentence, prepare) in cases {
                let sentence = format!("{encapsulation:?}: {sentence}");
                prepare();
                hop.zero_counters();
                let before = hop.clock.now_ns();
                let entry = assert_pushed(&hop.leave(&wire), &wire, encapsulation, &sentence);
                let took = hop.clock.now_ns() - before;
                let egress = (entry.ingress_ns as u32).wrapping_add(entry.latency_ns);
                if encapsulation == VxlanGpe {
                    let unknown = (entry.ingress_ns, entry.latency_ns);
                    assert_eq!(unknown, (u64::MAX, u32::MAX), "{sentence}");
                } else {
                    assert_eq!(entry.ingress_ns as u32, u32::MAX, "{sentence}");
                    let late = egress.wrapping_sub(before as u32);
                    assert!(u64::from(late) <= took, "{sentence}: egress");
                }
                let len = wire.len() as u64;
                let counted = [
                    (count::COUNT_TRANSIT_PUSHED, 1, len),
                    (count::COUNT_TRANSIT_NO_ARRIVAL, 1, len),
                ];
                assert_counted(&hop, &counted, &sentence);
            }
        }
    }

    #[test]
    fn addresses_and_hop_counts_may_change_between_the_hooks() {
        for encapsulation in ENCAPSULATIONS {
            let source = source(encapsulation, 8);
            let hop = Hop::load(&Options::default());
            hop.set_node(101);
            let wire = tagged(&source, &udp().without_udp_checksum(), STACK);
            hop.arrive(&wire);
            let mut routed = wire.clone();
            // As routing and address translation do, with a checksum update (RFC 1624).
            routed[22] -= 1;
            routed[29] += 9;
            let sum = hostint_testing::checksum::sum(&routed[14..24])
                + hostint_testing::checksum::sum(&routed[26..34]);
            let check = hostint_testing::checksum::complement(sum);
            routed[24..26].copy_from_slice(&check.to_be_bytes());
            let ran = hop.leave(&routed);
            let entry = assert_pushed(&ran, &routed, encapsulation, "routed");
            assert!(entry.latency_ns < u32::MAX, "{encapsulation:?}");
            assert_ne!(entry.ingress_ns as u32, u32::MAX, "{encapsulation:?}");
        }
    }

    #[test]
    fn packets_of_this_host_pass_unchanged() {
        let hop = Hop::load(&Options::default());
        hop.set_node(101);
        for encapsulation in ENCAPSULATIONS {
            let source = source(encapsulation, 8);
            let wire = tagged(&source, &udp(), STACK);
            assert_eq!(hop.leave_from_here(&wire).bytes, wire, "{encapsulation:?}");
            assert_counted(&hop, &[], "sent by this host");
        }
    }

    #[test]
    fn a_host_that_is_in_the_stack_pushes_no_second_entry() {
        let hop = Hop::load(&Options::default());
        for encapsulation in ENCAPSULATIONS {
            let source = source(encapsulation, 8);
            let wire = tagged(&source, &udp(), STACK);
            hop.set_node(hostint_testing::programs::clock::NODE);
            assert_eq!(hop.leave(&wire).bytes, wire, "it is the source");
            let entry = Entry {
                node: 101,
                ..Entry::default()
            };
            let wire = push(&wire, encapsulation, &entry);
            hop.set_node(101);
            hop.zero_counters();
            assert_eq!(hop.leave(&wire).bytes, wire, "it was a hop");
            let counted = [(count::COUNT_TRANSIT_OWN_HOP, 1, wire.len() as u64)];
            assert_counted(&hop, &counted, "twice on one path");
        }
    }

    #[test]
    fn a_packet_that_a_guest_gave_back_gets_a_second_entry() {
        let hop = Hop::load(&Options::default());
        hop.set_node(101);
        for encapsulation in ENCAPSULATIONS {
            let source = source(encapsulation, 8);
            for (frame, sentence) in [(udp(), "UDP"), (tcp6().segment(9, 2), "TCP over IPv6")] {
                let wire = tagged(&source, &frame, STACK);
                hop.arrive(&wire);
                let first = hop.leave(&wire).bytes;
                assert!(first.len() > wire.len(), "{encapsulation:?}, {sentence}");
                hop.zero_counters();
                // By a bridge and by its port.
                assert_eq!(hop.leave(&first).bytes, first, "{encapsulation:?}");
                let own = (count::COUNT_TRANSIT_OWN_HOP, 1, first.len() as u64);
                assert_counted(&hop, &[own], "it did not arrive again");
                hop.arrive(&first);
                let sentence = format!("{encapsulation:?}, {sentence}, back from a guest");
                let entry = assert_pushed(&hop.leave(&first), &first, encapsulation, &sentence);
                assert_eq!(entry.node, 101, "{sentence}");
                let before = newest(&first, encapsulation);
                let [left, came] = [
                    before.ingress_ns as u32 + before.latency_ns,
                    entry.ingress_ns as u32,
                ];
                assert!(left < came, "{sentence}: {left} {came}");
            }
        }
    }

    #[test]
    fn only_allowed_sources_get_entries_if_some_are_named() {
        let addresses: [IpAddr; 2] = [
            Ipv4Addr::new(192, 0, 2, 1).into(),
            "2001:db8::1".parse().expect("an address"),
        ];
        for encapsulation in ENCAPSULATIONS {
            let source = source(encapsulation, 8);
            for (frame, own) in [(udp(), addresses[0]), (udp6(), addresses[1])] {
                let wire = tagged(&source, &frame, STACK);
                let sentence = format!("{encapsulation:?} from {own}");
                for (allowed, pushed) in [
                    (&addresses[..], true),
                    (&["192.0.2.99".parse().expect("an address")], false),
                    (&[], false),
                ] {
                    let hop = Hop::load(&Options {
                        allowed: Some(allowed),
                        ..Options::default()
                    });
                    hop.set_node(101);
                    let ran = hop.leave(&wire);
                    if pushed {
                        assert_pushed(&ran, &wire, encapsulation, &sentence);
                        continue;
                    }
                    assert_eq!(ran.bytes, wire, "{sentence}");
                    let counted = [(count::COUNT_TRANSIT_NOT_ALLOWED, 1, wire.len() as u64)];
                    assert_counted(&hop, &counted, &sentence);
                }
            }
        }
    }
}
