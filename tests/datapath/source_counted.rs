//! The INT source counts packets and their bytes by pair and class: those that it tags, and by reason those that it does not.

use hostint::datapath::abi::{lease_way, source_counter, superpackets};
use hostint::model::{RuleHost, WatchRule, class_number};
use hostint_testing::frame::Frame;
use hostint_testing::packets::{tcp, tcp6, udp, udp6};
use hostint_testing::programs::source::{Hook, Options, Source};
use hostint_testing::source_cases::{every_way, passes, run};

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;

    const FIN: u8 = 1;

    /// Packets that the program tagged, and those of them that it counted for their pair and class.
    fn sums(source: &Source, frame: &Frame, class: u32) -> (u64, u64) {
        let key = source.model.look(&frame.bytes()).expect("may be tagged");
        let counted = source.counted(&key, class);
        let tagged = source.counters()[source_counter::COUNT_SOURCE_TAGGED.0 as usize];
        let counted = counted[source_counter::COUNT_SOURCE_TAGGED.0 as usize];
        assert_eq!(counted.1, counted.0 * ip_bytes(frame), "bytes without INT");
        (tagged.0, counted.0)
    }

    /// The bytes of an IP packet as it is sent.
    fn ip_bytes(frame: &Frame) -> u64 {
        frame.bytes().len() as u64 - 14
    }

    fn send(source: &Source, hook: Hook, frame: &Frame, times: u32) {
        let bytes = frame.bytes();
        for _ in 0..times {
            let ran = run(source, hook, &bytes);
            assert_eq!(ran.verdict, passes(hook));
            assert!(ran.bytes != bytes, "it is tagged");
        }
    }

    #[test]
    fn short_flows_lack_no_packet_and_long_ones_few() {
        // Each adds to the packets of the same flow.
        let cases = [
            ("the first packet", 1, 0),
            ("two packets", 1, 0),
            ("as many as are counted one by one", 30, 0),
            ("a few more", 10, 1),
            ("a long flow", 5_000, 64),
        ];
        for (source, hook) in every_way() {
            for (name, times, lacking) in cases {
                send(&source, hook, &udp(), times);
                let (tagged, counted) = sums(&source, &udp(), 0);
                assert!(
                    (tagged - lacking..=tagged).contains(&counted),
                    "{name}: {counted} of {tagged}"
                );
            }
            let before = sums(&source, &udp(), 0).1;
            send(&source, hook, &udp6(), 3);
            let (_, counted) = sums(&source, &udp6(), 0);
            assert_eq!(counted, 3, "another pair");
            assert_eq!(sums(&source, &udp(), 0).1, before, "counts for itself");
        }
    }

    #[test]
    fn the_end_of_a_connection_brings_all_its_packets() {
        for (source, hook) in every_way() {
            send(&source, hook, &tcp(), 700);
            let (tagged, counted) = sums(&source, &tcp(), 0);
            assert!(counted < tagged, "{counted}");
            send(&source, hook, &tcp().segment(1, FIN), 1);
            assert_eq!(sums(&source, &tcp(), 0), (701, 701));
        }
    }

    #[test]
    fn packets_count_for_the_class_of_their_rule_whatever_the_lease() {
        let rule = |port: u16, class: &str| {
            let everywhere = RuleHost {
                text: "0.0.0.0/0".to_owned(),
                prefixes: vec!["0.0.0.0/0".parse().expect("a prefix")],
            };
            WatchRule {
                class: Some(class.to_owned()),
                to_ports: vec![port.to_string().parse().expect("a port")],
                ..WatchRule::of_dest(everywhere, false)
            }
        };
        let mut source = Source::load_watching_nothing(&Options::default());
        source.set_rules(vec![rule(5001, "storage"), rule(5002, "web")]);
        let [storage, web] = [5001, 5002].map(|port| udp().ports(40_000, port));
        let key = source.model.look(&storage.bytes()).expect("may be tagged");
        source.set_ways(&key, lease_way::WAY_UDP_OVER.0);
        send(&source, Hook::Tc, &storage, 5);
        send(&source, Hook::Tc, &web, 2);
        let of = |frame, class| sums(&source, frame, class_number(class)).1;
        assert_eq!((of(&storage, "storage"), of(&web, "web")), (5, 2));
    }

    #[test]
    fn untagged_packets_count_beside_them() {
        let source = Source::load_asking(&Options::default());
        let key = source.model.look(&udp().bytes()).expect("may be tagged");
        run(&source, Hook::Tc, &udp().bytes());
        source.set_ways(&key, lease_way::WAY_UDP_OVER.0);
        send(&source, Hook::Tc, &udp(), 2);
        let counted = source.counted(&key, 0);
        let of = |counter: source_counter| counted[counter.0 as usize];
        let bytes = ip_bytes(&udp());
        assert_eq!(of(source_counter::COUNT_SOURCE_NO_LEASE), (1, bytes));
        assert_eq!(of(source_counter::COUNT_SOURCE_TAGGED), (2, 2 * bytes));
    }

    #[test]
    fn bytes_are_those_of_ip_packets_each_segment_with_its_headers() {
        struct Case {
            name: &'static str,
            frame: Frame,
            /// Segment size, and the segments that the kernel knows of.
            segments: Option<(u32, u32)>,
            reason: source_counter,
            expected: (u64, u64),
        }
        let cases = [
            Case {
                name: "padding is none of the packet",
                frame: udp().payload(1).more_fragments().padding(17),
                segments: None,
                reason: source_counter::COUNT_SOURCE_FRAGMENT,
                expected: (1, 29),
            },
            Case {
                name: "VLAN tags are none either",
                frame: udp().payload(2).vlan(1).vlan(2).more_fragments(),
                segments: None,
                reason: source_counter::COUNT_SOURCE_FRAGMENT,
                expected: (1, 30),
            },
            Case {
                name: "more extension headers than are read",
                frame: udp6().extension_header(0, 40).extension_header(60, 40),
                segments: None,
                reason: source_counter::COUNT_SOURCE_IP_OPTIONS,
                expected: (1, 40 + 80 + 8 + 64),
            },
            Case {
                name: "three segments of TCP",
                frame: tcp().payload(2_500),
                segments: Some((1_000, 3)),
                reason: source_counter::COUNT_SOURCE_SUPERPACKET,
                expected: (3, 3 * 40 + 2_500),
            },
            Case {
                name: "TCP options are in each segment",
                frame: tcp6().tcp_options(12).payload(2_500),
                segments: Some((1_000, 3)),
                reason: source_counter::COUNT_SOURCE_SUPERPACKET,
                expected: (3, 3 * 72 + 2_500),
            },
            Case {
                name: "a guest's superpacket, whose segments the kernel did not count",
                frame: tcp().payload(2_500),
                segments: Some((1_000, 0)),
                reason: source_counter::COUNT_SOURCE_SUPERPACKET,
                expected: (3, 3 * 40 + 2_500),
            },
            Case {
                name: "three datagrams",
                frame: udp().payload(3_000),
                segments: Some((1_000, 3)),
                reason: source_counter::COUNT_SOURCE_SUPERPACKET,
                expected: (3, 3 * 28 + 3_000),
            },
        ];
        let source = Source::load(&Options::default());
        // What a packet before it left behind counts for none.
        let before = tcp().tcp_options(40);
        for case in &cases {
            source.run(&before.bytes());
            let of_pair = if case.frame.is_ipv6() { udp6() } else { udp() };
            let key = source.model.look(&of_pair.bytes()).expect("may be tagged");
            let of = |source: &Source| source.counted(&key, 0)[case.reason.0 as usize];
            let earlier = of(&source);
            let bytes = case.frame.bytes();
            match case.segments {
                None => drop(source.run(&bytes)),
                Some((size, count)) => drop(source.run_superpacket(&bytes, size, count)),
            }
            let now = of(&source);
            let more = (now.0 - earlier.0, now.1 - earlier.1);
            assert_eq!(more, case.expected, "{}", case.name);
        }
    }

    #[test]
    fn a_superpacket_without_room_for_its_flow_counts_its_segments() {
        let source = Source::load(&Options {
            superpackets: superpackets::SUPER_ENCAP,
            flows: 1,
            ..Options::default()
        });
        run(&source, Hook::Tc, &udp().bytes());
        let frame = tcp().payload(2_500);
        source.run_superpacket(&frame.bytes(), 1_000, 3);
        let key = source.model.look(&frame.bytes()).expect("may be tagged");
        let full = source.counted(&key, 0)[source_counter::COUNT_SOURCE_TABLE_FULL.0 as usize];
        assert_eq!(full, (3, 3 * 40 + 2_500));
    }
}
