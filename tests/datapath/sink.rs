//! The INT sink restores single tagged packets as they were sent, and counts each one.

use hostint::datapath::abi::{sink_counter, sink_flag};
use hostint_testing::frame::{Frame, MARK};
use hostint_testing::int_block::Block;
use hostint_testing::packets::{key, tcp, tcp6, udp, udp6};
use hostint_testing::programs::sink::{
    Sink, Sizes, XDP_DROP, XDP_PASS, latencies, model_of, settings,
};
use hostint_testing::sink_cases::{
    Case, Outcome, check, check_all, extension, int, stripped, with_zero_checksum,
};

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;
    use sink_counter as count;

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
            stripped("IPv4 options", udp().ip_options(4).tagged(int())),
            stripped("40 bytes of options", tcp().ip_options(40).tagged(int())),
            stripped(
                "options and an extension",
                tcp().ip_options(12).extended(extension()),
            ),
            stripped("UDP over IPv6", udp6().tagged(int())),
            stripped("TCP over IPv6", tcp6().tcp_options(12).tagged(int())),
            stripped(
                "an IPv6 hop-by-hop header",
                udp6().extension_header(0, 8).tagged(int()),
            ),
            stripped(
                "four IPv6 extension headers",
                tcp6()
                    .extension_header(0, 16)
                    .extension_header(43, 24)
                    .extension_header(60, 8)
                    .extension_header(60, 16)
                    .tagged(int()),
            ),
            stripped("an extension over IPv6", tcp6().extended(extension())),
            stripped(
                "an extension behind an IPv6 extension header",
                udp6().extension_header(60, 16).extended(extension()),
            ),
            stripped("a VLAN tag", udp().vlan(5).tagged(int())),
            stripped("two VLAN tags", tcp().vlan(5).vlan(6).extended(extension())),
            stripped(
                "two VLAN tags and IPv6",
                tcp6().vlan(4094).vlan(1).tagged(int()),
            ),
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
            frame: hostint_testing::golden::frame(wire),
            outcome: Outcome::StrippedFromHostInt(hostint_testing::golden::frame(restored)),
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
            cases.push(stripped("IPv6", udp6().dscp(dscp).ecn(ecn).tagged(int())));
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
            own.flags &= !sink_flag::SINK_INT_MD.0;
            let sink = Sink::load_both(&own);
            let model = model_of(&own);
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
        assert_eq!(sink.count(count::COUNT_SINK_RECEIVED), 0, "not as stripped");
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
            sink.count(count::COUNT_SINK_RECEIVED),
            10,
            "all are stripped"
        );
        let len = udp().tagged(int()).bytes().len() as u64;
        let untracked = sink.counters()[count::COUNT_SINK_UNTRACKED.0 as usize];
        assert_eq!(untracked, (6, 6 * len), "the rest is counted as untracked");
        let told: Vec<_> = sink
            .unmeasured()
            .into_iter()
            .map(|(key, packets, bytes)| (key.flow().unwrap().sport, key.reason(), packets, bytes))
            .collect();
        let reason = count::COUNT_SINK_UNTRACKED.0 as u8;
        let ip_bytes = udp().bytes().len() as u64 - 14;
        let expected: Vec<_> = (4..10).map(|port| (port, reason, 1, ip_bytes)).collect();
        assert_eq!(told, expected, "by flow and reason, of packets without INT");
        assert_eq!(sink.count(count::COUNT_SINK_FLOW_NEW), 4, "new flows");
        assert_eq!(
            latencies(&sink.events()).len(),
            4,
            "no event tells of an untracked flow"
        );
    }
}
