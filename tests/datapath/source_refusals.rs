//! The INT source leaves packets that it cannot tag unmodified, and counts each one with its reason.

use std::net::{Ipv4Addr, Ipv6Addr};

use hostint::datapath::abi::source_counter;
use hostint_testing::frame::{EXTENSION_PORT, Frame};
use hostint_testing::int_block::Block;
use hostint_testing::model::Encapsulation;
use hostint_testing::packets::{tcp, tcp6, udp, udp6};
use hostint_testing::programs::source::{Hook, Options, Source, TCX_NEXT};
use hostint_testing::source_cases::{assert_counted, assert_left, assert_tagged, every_way, with};

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;
    use source_counter as count;

    fn five_headers() -> Frame {
        (0..5).fold(tcp6(), |frame, _| frame.extension_header(60, 8))
    }

    #[test]
    fn what_is_not_tagged_leaves_unmodified_and_counted_by_reason() {
        let cases = [
            (
                "ARP",
                count::COUNT_SOURCE_OTHER_PROTOCOL,
                Frame::ethernet().ethertype(0x0806).payload(46),
            ),
            (
                "ICMPv6",
                count::COUNT_SOURCE_OTHER_PROTOCOL,
                udp6().protocol(58),
            ),
            (
                "an IPv6 frame that is none",
                count::COUNT_SOURCE_MALFORMED,
                Frame::ethernet().ethertype(0x86dd).payload(60),
            ),
            (
                "an unknown extension header",
                count::COUNT_SOURCE_OTHER_PROTOCOL,
                tcp6().extension_header(51, 16),
            ),
            (
                "more extension headers than are looked through",
                count::COUNT_SOURCE_IP_OPTIONS,
                five_headers(),
            ),
            (
                "a longer extension header than is looked through",
                count::COUNT_SOURCE_IP_OPTIONS,
                tcp6().extension_header(60, 72),
            ),
            (
                "to an IPv6 multicast group",
                count::COUNT_SOURCE_GROUP_ADDRESS,
                udp6().addresses6(
                    Ipv6Addr::LOCALHOST,
                    Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1),
                ),
            ),
            (
                "an IPv6 fragment",
                count::COUNT_SOURCE_FRAGMENT,
                udp6().extension_header(44, 8),
            ),
            (
                "an IPv6 report",
                count::COUNT_SOURCE_REPORT,
                udp6().ports(5000, 32766),
            ),
            (
                "VXLAN-GPE, whatever it is",
                count::COUNT_SOURCE_HAS_INT,
                udp6().ports(1, 4790),
            ),
            (
                "tagged already, IPv6",
                count::COUNT_SOURCE_HAS_INT,
                tcp6().tagged(Block::hostint()),
            ),
            (
                "longer than the MTU, IPv6",
                count::COUNT_SOURCE_TOO_LONG,
                udp6().payload(3_100),
            ),
            (
                "ICMP",
                count::COUNT_SOURCE_OTHER_PROTOCOL,
                udp().protocol(1),
            ),
            (
                "SCTP",
                count::COUNT_SOURCE_OTHER_PROTOCOL,
                udp().protocol(132),
            ),
            (
                "to a multicast group",
                count::COUNT_SOURCE_GROUP_ADDRESS,
                udp().to([224, 0, 0, 251]),
            ),
            (
                "to the last multicast group",
                count::COUNT_SOURCE_GROUP_ADDRESS,
                udp().to([239, 255, 255, 255]),
            ),
            (
                "to everybody",
                count::COUNT_SOURCE_GROUP_ADDRESS,
                udp().destination([0xff; 6]),
            ),
            (
                "in a multicast frame",
                count::COUNT_SOURCE_GROUP_ADDRESS,
                udp().destination([1, 0, 0x5e, 0, 0, 1]),
            ),
            (
                "an IPv6 version in an IPv4 frame",
                count::COUNT_SOURCE_MALFORMED,
                udp().version_ihl(0x65),
            ),
            (
                "an IPv4 header of 16 bytes",
                count::COUNT_SOURCE_MALFORMED,
                udp().version_ihl(0x44),
            ),
            (
                "a first fragment",
                count::COUNT_SOURCE_FRAGMENT,
                udp().more_fragments(),
            ),
            (
                "a later fragment",
                count::COUNT_SOURCE_FRAGMENT,
                udp().fragment_offset(185),
            ),
            (
                "half a UDP header",
                count::COUNT_SOURCE_MALFORMED,
                udp().cut(41).total_len(27),
            ),
            (
                "half a TCP header",
                count::COUNT_SOURCE_MALFORMED,
                tcp().cut(53).total_len(39),
            ),
            (
                "no byte behind the IP header",
                count::COUNT_SOURCE_MALFORMED,
                udp().cut(34).total_len(20),
            ),
            (
                "TCP data offset below 5",
                count::COUNT_SOURCE_MALFORMED,
                tcp().tcp_words(4),
            ),
            (
                "TCP options beyond the packet",
                count::COUNT_SOURCE_MALFORMED,
                tcp().payload(3).tcp_words(6),
            ),
            (
                "IP length beyond the frame",
                count::COUNT_SOURCE_MALFORMED,
                tcp().total_len(105),
            ),
            (
                "IP length within its own header",
                count::COUNT_SOURCE_MALFORMED,
                udp().total_len(19),
            ),
            (
                "IP length within the UDP header",
                count::COUNT_SOURCE_MALFORMED,
                udp().total_len(27).udp_len(7),
            ),
            (
                "UDP length one short",
                count::COUNT_SOURCE_MALFORMED,
                udp().udp_len(71),
            ),
            (
                "UDP length one long",
                count::COUNT_SOURCE_MALFORMED,
                udp().udp_len(73),
            ),
            (
                "UDP length zero",
                count::COUNT_SOURCE_MALFORMED,
                udp().udp_len(0),
            ),
            (
                "a report",
                count::COUNT_SOURCE_REPORT,
                udp().ports(5000, 32766),
            ),
            (
                "a report to the second collector",
                count::COUNT_SOURCE_REPORT,
                udp().ports(5000, 9555),
            ),
            (
                "tagged already",
                count::COUNT_SOURCE_HAS_INT,
                udp().tagged(Block::hostint()),
            ),
            (
                "tagged already, TCP",
                count::COUNT_SOURCE_HAS_INT,
                tcp().tagged(Block::hostint()),
            ),
            (
                "tagged already by Host-INT",
                count::COUNT_SOURCE_HAS_INT,
                tcp().tagged(Block::host_int()),
            ),
            (
                "to the extension port, whatever it is",
                count::COUNT_SOURCE_HAS_INT,
                udp().ports(1, EXTENSION_PORT),
            ),
            (
                "TCP to the extension port",
                count::COUNT_SOURCE_HAS_INT,
                tcp().ports(1, EXTENSION_PORT),
            ),
            (
                "TCP to the port of a lease's stray probes, from another port",
                count::COUNT_SOURCE_HAS_INT,
                tcp6().ports(1, 64_511),
            ),
            (
                "tagged already, in an extension",
                count::COUNT_SOURCE_HAS_INT,
                tcp().extended(Block::hostint_extension()),
            ),
            (
                "longer than the MTU",
                count::COUNT_SOURCE_TOO_LONG,
                udp().payload(3_100),
            ),
            (
                "long, and routers may fragment it",
                count::COUNT_SOURCE_MAY_FRAGMENT,
                udp().payload(1_000).dont_fragment(false),
            ),
        ];
        for (source, hook) in every_way() {
            for (name, reason, frame) in &cases {
                assert_left(&source, hook, frame, *reason, name);
            }
        }
    }

    /// Options that sign a segment.
    fn signatures() -> [(&'static str, Vec<u8>); 3] {
        let ao = [&[29, 16][..], &[7; 14]].concat();
        let md5 = [&[1, 1, 19, 18][..], &[7; 16]].concat();
        let timed = [&[1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2][..], &ao].concat();
        [
            ("TCP-AO", ao),
            ("MD5", md5),
            ("TCP-AO behind timestamps", timed),
        ]
    }

    #[test]
    fn a_signed_connection_goes_untagged_from_its_syn_to_its_end() {
        const SYN: u8 = 2;
        const ACK: u8 = 16;
        let signed = count::COUNT_SOURCE_SIGNED;
        for (source, hook) in every_way() {
            for (name, options) in signatures() {
                let syn = tcp6().payload(0).segment(1, SYN).tcp_option_bytes(options);
                assert_left(&source, hook, &syn, signed, name);
            }
        }
        for (name, options) in signatures() {
            for frame in [tcp(), tcp6()] {
                for begun_before in [false, true] {
                    let source = Source::load(&Options::default());
                    if begun_before {
                        // Another connection with these ports was tagged.
                        for flags in [SYN, ACK] {
                            let frame = frame.clone().segment(100, flags);
                            assert_tagged(&source, Hook::Tc, &frame, name);
                        }
                    }
                    for flags in [SYN, ACK, ACK | 8, ACK | 1] {
                        let frame = frame
                            .clone()
                            .segment(200, flags)
                            .tcp_option_bytes(options.clone());
                        let sentence = format!("{name}, flags {flags}, {begun_before}");
                        assert_left(&source, Hook::Tc, &frame, signed, &sentence);
                    }
                    // The ports belong to a connection without signatures then.
                    for flags in [SYN, ACK] {
                        let frame = frame.clone().segment(300, flags);
                        assert_tagged(&source, Hook::Tc, &frame, name);
                    }
                }
            }
        }
    }

    #[test]
    fn a_frame_too_short_for_an_ip_header_passes() {
        // An skb like this can't be made for BPF_PROG_RUN.
        let source = Source::load(&with(Encapsulation::ExtensionUdp));
        for len in [14, 15, 33] {
            let other = count::COUNT_SOURCE_OTHER_PROTOCOL;
            assert_left(&source, Hook::Xdp, &udp().cut(len), other, "too short");
        }
    }

    #[test]
    fn a_flow_on_a_narrow_path_is_tagged_where_it_fits() {
        let source = Source::load(&with(Encapsulation::OverTcpUdp));
        let small = udp6().payload(1_000);
        let key = source.model.look(&small.bytes()).expect("is tagged");
        assert_tagged(&source, Hook::Tc, &small, "no limit");
        source.set_path_mtu(&key, 48 + 1_000 + 36);
        assert_tagged(&source, Hook::Tc, &small, "just fits");
        let bytes = udp6().payload(1_001).bytes();
        source.zero_counters();
        assert_eq!(source.run(&bytes).bytes, bytes, "one byte more");
        let counted = [(count::COUNT_SOURCE_TOO_LONG, 1, bytes.len() as u64)];
        assert_counted(&source, &counted, "one byte more");
        assert_tagged(&source, Hook::Tc, &tcp6().payload(1_400), "another flow");
    }

    #[test]
    fn superpackets_are_counted_in_segments_and_left_alone() {
        for encapsulation in Encapsulation::ALL {
            let source = Source::load(&with(encapsulation));
            for frame in [tcp().payload(3_000), udp().payload(3_000)] {
                let bytes = frame.bytes();
                source.zero_counters();
                let ran = source.run_superpacket(&bytes, 1_000, 3);
                assert_eq!((ran.verdict, &ran.bytes), (TCX_NEXT, &bytes), "left alone");
                let counted = [(count::COUNT_SOURCE_SUPERPACKET, 3, bytes.len() as u64)];
                assert_counted(&source, &counted, "three segments");
            }
        }
    }

    #[test]
    fn the_watchlist_matches_prefixes() {
        struct Case {
            name: &'static str,
            watched: &'static [([u8; 4], u32)],
            tagged: &'static [[u8; 4]],
            left: &'static [[u8; 4]],
        }
        let cases = [
            Case {
                name: "nothing is watched",
                watched: &[],
                tagged: &[],
                left: &[[10, 0, 0, 1], [0, 0, 0, 0], [223, 255, 255, 255]],
            },
            Case {
                name: "one address",
                watched: &[([10, 0, 0, 1], 32)],
                tagged: &[[10, 0, 0, 1]],
                left: &[[10, 0, 0, 0], [10, 0, 0, 2], [11, 0, 0, 1]],
            },
            Case {
                name: "a /24",
                watched: &[([10, 1, 2, 0], 24)],
                tagged: &[[10, 1, 2, 0], [10, 1, 2, 255]],
                left: &[[10, 1, 3, 0], [10, 1, 1, 255]],
            },
            Case {
                name: "a /9",
                watched: &[([10, 128, 0, 0], 9)],
                tagged: &[[10, 128, 0, 0], [10, 255, 255, 255]],
                left: &[[10, 127, 255, 255], [11, 0, 0, 0]],
            },
            Case {
                name: "everything",
                watched: &[([0, 0, 0, 0], 0)],
                tagged: &[[0, 0, 0, 1], [10, 0, 0, 1], [223, 255, 255, 255]],
                left: &[],
            },
            Case {
                name: "a prefix within another",
                watched: &[([10, 0, 0, 0], 8), ([10, 1, 2, 3], 32)],
                tagged: &[[10, 1, 2, 3], [10, 1, 2, 4]],
                left: &[[11, 1, 2, 3]],
            },
        ];
        for Case {
            name,
            watched,
            tagged,
            left,
        } in cases
        {
            let mut source = Source::load_watching_nothing(&Options::default());
            for (prefix, len) in watched {
                source.watch(Ipv4Addr::from(*prefix), *len);
            }
            for address in tagged {
                assert_tagged(&source, Hook::Tc, &udp().to(*address), name);
            }
            for address in left {
                let unwatched = count::COUNT_SOURCE_UNWATCHED;
                assert_left(&source, Hook::Tc, &udp().to(*address), unwatched, name);
            }
        }
    }
}
