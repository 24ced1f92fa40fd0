//! The INT source tags single packets in every encapsulation.

use hostint::datapath::abi::source_counter;
use hostint_testing::frame::{Frame, MARK};
use hostint_testing::model::Encapsulation;
use hostint_testing::packets::{tcp, tcp6, udp, udp6};
use hostint_testing::programs::source::{Hook, Options, Source};
use hostint_testing::source_cases::{assert_left, assert_tagged, every_way, stamp_of, with};

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;
    use source_counter as count;

    #[test]
    fn what_is_tagged_leaves_as_the_wire_format_says() {
        let cases = [
            ("UDP", udp()),
            ("TCP", tcp()),
            ("an odd payload", udp().payload(63)),
            ("an odd TCP payload", tcp().payload(1)),
            ("an empty datagram", udp().payload(0)),
            ("a bare ACK", tcp().payload(0)),
            ("TCP options", tcp().tcp_options(40)),
            (
                "TCP options and nothing else",
                tcp().tcp_options(12).payload(0),
            ),
            ("no UDP checksum", udp().without_udp_checksum()),
            (
                "TCP to a report port is no report",
                tcp().ports(5000, 32766),
            ),
            ("a report's source port", udp().ports(32766, 5000)),
            ("the mark without INT behind it", udp().dscp(MARK >> 2)),
            (
                "the mark and a packet too short for INT",
                tcp().payload(4).dscp(MARK >> 2),
            ),
            ("a VPN's DSCP and congestion", tcp().dscp(46).ecn(3)),
            ("Ethernet padding", udp().payload(0).padding(18)),
            (
                "an address next to the multicast groups",
                udp().to([223, 255, 255, 255]),
            ),
            ("a TTL of 1", udp().ttl(1)),
            (
                "short, and routers may fragment it",
                tcp().dont_fragment(false),
            ),
            ("port 0", udp().ports(0, 0)),
            ("long, below the MTU", tcp().payload(2_800)),
            ("UDP over IPv6", udp6()),
            ("TCP over IPv6", tcp6().tcp_options(12)),
            ("an odd payload over IPv6", tcp6().payload(33)),
            ("an empty datagram over IPv6", udp6().payload(0)),
            ("no UDP checksum over IPv6", udp6().without_udp_checksum()),
        ];
        for (source, hook) in every_way() {
            for (name, frame) in &cases {
                assert_tagged(&source, hook, frame, name);
            }
        }
    }

    #[test]
    fn options_are_looked_behind_and_never_hidden_from_routers() {
        let cases = [
            ("IPv4 options", udp().ip_options(4)),
            ("40 bytes of IPv4 options", tcp().ip_options(40)),
            ("a hop-by-hop header", udp6().extension_header(0, 8)),
            (
                "four extension headers",
                tcp6()
                    .extension_header(0, 16)
                    .extension_header(60, 8)
                    .extension_header(43, 24)
                    .extension_header(60, 16),
            ),
        ];
        for (source, hook) in every_way() {
            for (name, frame) in &cases {
                if source.model.encapsulation == Encapsulation::VxlanGpe {
                    assert_left(&source, hook, frame, count::COUNT_SOURCE_IP_OPTIONS, name);
                } else {
                    assert_tagged(&source, hook, frame, name);
                }
            }
        }
    }

    #[test]
    fn every_dscp_and_ecn_is_kept_in_the_packet() {
        for (source, hook) in every_way() {
            for tos in 0..=255u8 {
                for frame in [udp(), tcp(), udp6(), tcp6()] {
                    let frame = frame.dscp(tos >> 2).ecn(tos & 3);
                    assert_tagged(&source, hook, &frame, &format!("ToS {tos:#x}"));
                }
            }
        }
    }

    #[test]
    fn a_mark_may_be_any_value_under_any_mask() {
        for (tos_value, tos_mask) in [(0x04, 0xfc), (0xb8, 0xfc), (0x00, 0x04), (0x0c, 0x1c)] {
            let source = Source::load(&Options {
                tos_value,
                tos_mask,
                ..Options::default()
            });
            for dscp in 0..64 {
                assert_tagged(&source, Hook::Tc, &tcp().dscp(dscp), "own mark");
            }
        }
    }

    #[test]
    fn checksums_that_add_up_to_zero_are_written_as_senders_do() {
        // The payload takes every value, so every checksum occurs, 0 among them, give or take the timestamp.
        let source = Source::load(&Options::default());
        for word in 0..=u16::MAX {
            for frame in [udp(), tcp()] {
                let bytes = frame.payload_bytes(word.to_be_bytes().to_vec()).bytes();
                let ran = source.run(&bytes);
                let stamp = stamp_of(&ran.bytes, Encapsulation::OverTcpUdp);
                assert_eq!(
                    ran.bytes,
                    source.model.tag(&bytes, stamp),
                    "payload {word:#x}"
                );
            }
        }
    }

    #[test]
    fn a_packet_is_tagged_if_it_still_fits() {
        for (encapsulation, hook) in [
            (Encapsulation::OverTcpUdp, Hook::Tc),
            (Encapsulation::ExtensionUdp, Hook::Tc),
            (Encapsulation::ExtensionUdp, Hook::Xdp),
        ] {
            let source = Source::load(&Options {
                fixed_mtu: 1_500,
                ..with(encapsulation)
            });
            let room = 1_500 - encapsulation.added(20);
            assert_tagged(
                &source,
                hook,
                &udp().payload(room - 28),
                "UDP that just fits",
            );
            assert_tagged(
                &source,
                hook,
                &tcp().payload(room - 40),
                "TCP that just fits",
            );
            let long = count::COUNT_SOURCE_TOO_LONG;
            assert_left(
                &source,
                hook,
                &udp().payload(room - 27),
                long,
                "UDP one byte longer",
            );
            assert_left(
                &source,
                hook,
                &tcp().payload(room - 39),
                long,
                "TCP one byte longer",
            );
            let open = |frame: Frame| frame.dont_fragment(false);
            let room = 576 - encapsulation.added(20);
            assert_tagged(
                &source,
                hook,
                &open(udp().payload(room - 28)),
                "576 bytes without DF",
            );
            let may = count::COUNT_SOURCE_MAY_FRAGMENT;
            assert_left(
                &source,
                hook,
                &open(udp().payload(room - 27)),
                may,
                "577 bytes without DF",
            );
            assert_left(
                &source,
                hook,
                &open(tcp().payload(1_300)),
                may,
                "1340 bytes without DF",
            );
        }
    }

    #[test]
    fn the_mtu_is_the_devices_unless_fixed() {
        let source = Source::load(&Options::default());
        assert_tagged(
            &source,
            Hook::Tc,
            &udp().payload(3_200),
            "loopback has 65536 bytes",
        );
    }
}
