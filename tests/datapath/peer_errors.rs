//! The source's peer program turns ICMP errors about tagged packets into errors about the packets that the stack sent.

use hostint::datapath::abi::peer_counter as count;
use hostint_testing::checksum::verify_packet;
use hostint_testing::frame::{EXTENSION_PORT, MARK, TCP, UDP};
use hostint_testing::icmp::{
    CARRIERS, Carrier, FAMILIES, Family, Host, Ip, Kind, added_len, error, error_body, ethernet,
    mend_header, original, tagged, translated,
};
use hostint_testing::model::transit::{Entry, push};
use hostint_testing::model::{Encapsulation, Key};
use hostint_testing::peer_cases::{assert_becomes, assert_left};
use hostint_testing::programs::peer::{Options, Peer};
use hostint_testing::programs::source::TCX_NEXT;

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;

    #[test]
    fn an_error_about_a_tagged_packet_becomes_one_about_the_original() {
        let peer = Peer::load(&Options::default());
        let kinds = [
            Kind::TooBig(1400),
            Kind::TimeExceeded,
            Kind::HostUnreachable,
            Kind::ParameterProblem,
        ];
        for family in FAMILIES {
            for carrier in CARRIERS {
                for protocol in [TCP, UDP] {
                    for kind in kinds {
                        let quote = tagged(carrier, family, protocol);
                        let frame = error(family, kind, &quote);
                        let kind_then = match kind {
                            Kind::TooBig(mtu) => Kind::TooBig(mtu - added_len(carrier, family)),
                            kind => kind,
                        };
                        let expected =
                            error(family, kind_then, &translated(&quote, family, protocol));
                        let reason =
                            (expected != frame).then_some(count::COUNT_PEER_ICMP_TRANSLATED);
                        let sentence = format!("{kind:?}, {family:?}, {carrier:?}, {protocol}");
                        verify_packet(&expected[14..]).expect(&sentence);
                        assert_becomes(&peer, &frame, &expected, reason, &sentence);
                        assert_eq!(
                            reason.is_none(),
                            !carrier.is_tunnel() && kind == kind_then,
                            "{sentence}: only there all is well already"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn what_refuses_a_tunnel_does_not_refuse_the_packet_in_it() {
        let peer = Peer::load(&Options::default());
        let of_v4 = [2, 3, 9, 10, 13].map(|code| (3, code));
        let of_v6 = [1, 4].map(|code| (1, code));
        for (family, refusals) in [(Family::V4, &of_v4[..]), (Family::V6, &of_v6[..])] {
            for carrier in CARRIERS {
                for (number, code) in refusals {
                    let quote = tagged(carrier, family, TCP);
                    let frame = error(family, Kind::Other(*number, *code), &quote);
                    // Packets in over-tcp-udp and int-md have their own ports, so the error is theirs already.
                    let tunnelled = carrier.is_tunnel();
                    let counted = tunnelled.then_some(count::COUNT_PEER_ICMP_REFUSED);
                    let sentence = format!("type {number}, code {code}, {carrier:?}");
                    assert_left(&peer, &frame, counted, &sentence);
                }
            }
        }
    }

    #[test]
    fn entries_of_transit_hops_in_front_of_the_error_are_skipped() {
        let peer = Peer::load(&Options::default());
        let entry = Entry {
            node: 7,
            ..Entry::default()
        };
        for family in FAMILIES {
            for (carrier, encapsulation, entry_len) in [
                (Carrier::OverTcpUdp, Encapsulation::OverTcpUdp, 16),
                (Carrier::ExtensionUdp, Encapsulation::ExtensionUdp, 16),
                (Carrier::VxlanGpe, Encapsulation::VxlanGpe, 20),
                (Carrier::IntMd, Encapsulation::IntMd, 24),
            ] {
                for protocol in [TCP, UDP] {
                    let mut quote = ethernet(0, &tagged(carrier, family, protocol));
                    for hops in 1..=8 {
                        quote = push(&quote, encapsulation, &entry);
                        let frame = error(family, Kind::TooBig(1800), &quote[14..]);
                        let added = added_len(carrier, family) + hops * entry_len;
                        let then = match carrier {
                            // Its L4 header stands where the original's does.
                            Carrier::OverTcpUdp | Carrier::IntMd => quote[14..].to_vec(),
                            _ => translated(&quote[14..], family, protocol),
                        };
                        let expected = error(family, Kind::TooBig(1800 - added), &then);
                        let sentence = format!("{hops} hops, {family:?}, {carrier:?}, {protocol}");
                        let done = Some(count::COUNT_PEER_ICMP_TRANSLATED);
                        assert_becomes(&peer, &frame, &expected, done, &sentence);
                    }
                }
            }
        }
    }

    #[test]
    fn a_quote_is_translated_if_it_reaches_to_the_originals_ports_and_sequence_number() {
        let peer = Peer::load(&Options::default());
        for family in FAMILIES {
            let header = family.header_len();
            let cases = [
                (Carrier::OverTcpUdp, header + 8),
                (Carrier::ExtensionUdp, header + 44 + 8),
                (Carrier::VxlanGpe, header + 68 + header + 8),
                (Carrier::IntMd, header + 8),
            ];
            for (carrier, enough) in cases {
                let quote = tagged(carrier, family, TCP);
                let least = match carrier {
                    Carrier::OverTcpUdp | Carrier::IntMd => enough,
                    _ => header + 8,
                };
                for len in least..quote.len() {
                    let frame = error(family, Kind::TooBig(1500), &quote[..len]);
                    let sentence = format!("{len} bytes quoted, {family:?}, {carrier:?}");
                    if len < enough {
                        let short = Some(count::COUNT_PEER_ICMP_TOO_SHORT);
                        assert_left(&peer, &frame, short, &sentence);
                        continue;
                    }
                    let kind = Kind::TooBig(1500 - added_len(carrier, family));
                    let expected = error(family, kind, &translated(&quote[..len], family, TCP));
                    verify_packet(&expected[14..]).expect(&sentence);
                    let done = Some(count::COUNT_PEER_ICMP_TRANSLATED);
                    assert_becomes(&peer, &frame, &expected, done, &sentence);
                }
            }
        }
    }

    #[test]
    fn no_mtu_goes_below_what_ip_allows() {
        let peer = Peer::load(&Options::default());
        for family in FAMILIES {
            for carrier in CARRIERS {
                let quote = tagged(carrier, family, TCP);
                let least = family.least_mtu();
                let added = added_len(carrier, family);
                for mtu in [0, added, least, least + added - 1] {
                    let frame = error(family, Kind::TooBig(mtu), &quote);
                    let small = Some(count::COUNT_PEER_ICMP_MTU_TOO_SMALL);
                    let sentence = format!("{mtu}, {family:?}, {carrier:?}");
                    assert_left(&peer, &frame, small, &sentence);
                }
                for left in [least, 0xffff - added] {
                    let frame = error(family, Kind::TooBig(left + added), &quote);
                    let quote = translated(&quote, family, TCP);
                    let expected = error(family, Kind::TooBig(left), &quote);
                    let done = Some(count::COUNT_PEER_ICMP_TRANSLATED);
                    let sentence = format!("{left} is left, {family:?}, {carrier:?}");
                    assert_becomes(&peer, &frame, &expected, done, &sentence);
                }
            }
        }
    }

    #[test]
    fn an_ipv6_path_without_room_beside_the_least_mtu_is_remembered_for_the_flow() {
        let peer = Peer::load(&Options::default());
        let family = Family::V6;
        let address = |host| family.address(host).try_into().expect("16 bytes");
        for carrier in CARRIERS {
            for protocol in [TCP, UDP] {
                let key = Key {
                    source: address(Host::Source),
                    target: address(Host::Watched),
                    sport: 40000,
                    dport: 5001,
                    layers: protocol.into(),
                };
                peer.add_flow(&key);
                let quote = tagged(carrier, family, protocol);
                let least = family.least_mtu();
                let frame = |mtu| error(family, Kind::TooBig(mtu), &quote);
                let sentence = format!("{carrier:?}, {protocol}");
                let small = Some(count::COUNT_PEER_ICMP_MTU_TOO_SMALL);
                assert_left(&peer, &frame(least - 1), small, &sentence);
                assert_eq!(peer.path_mtu(&key), 0, "{sentence}: below what IPv6 allows");
                for mtu in [least, 1300, least + added_len(carrier, family) - 1] {
                    let quote = translated(&quote, family, protocol);
                    let expected = error(family, Kind::TooBig(least), &quote);
                    let done = Some(count::COUNT_PEER_ICMP_TRANSLATED);
                    let sentence = format!("{mtu}, {sentence}");
                    assert_becomes(&peer, &frame(mtu), &expected, done, &sentence);
                    assert_eq!(peer.path_mtu(&key), u32::from(mtu), "{sentence}");
                }
            }
        }
    }

    #[test]
    fn a_path_without_room_behind_a_datagram_is_remembered_for_the_flow() {
        let peer = Peer::load(&Options::default());
        for family in FAMILIES {
            let address = |host| {
                let mapped = match family {
                    Family::V4 => [&[0; 10][..], &[0xff; 2], &family.address(host)].concat(),
                    Family::V6 => family.address(host),
                };
                mapped.try_into().expect("16 bytes")
            };
            let key = Key {
                source: address(Host::Source),
                target: address(Host::Watched),
                sport: 40000,
                dport: 5001,
                layers: UDP.into(),
            };
            peer.add_flow(&key);
            let mut quote = original(family, UDP);
            // The option begins at an even place of the datagram.
            quote.resize(quote.len() + 26 + quote.len() % 2, 0);
            let len = quote.len() as u16;
            match family {
                Family::V4 => quote[2..4].copy_from_slice(&len.to_be_bytes()),
                Family::V6 => quote[4..6].copy_from_slice(&(len - 40).to_be_bytes()),
            }
            if family == Family::V4 {
                mend_header(&mut quote);
            }
            for (kind, limit) in [(Kind::TimeExceeded, 0), (Kind::TooBig(1450), 1450)] {
                let sentence = format!("{kind:?}, {family:?}: the stack sent less, and is told");
                assert_left(&peer, &error(family, kind, &quote), None, &sentence);
                assert_eq!(peer.path_mtu(&key), limit, "{sentence}");
            }
        }
    }

    #[test]
    fn what_quotes_no_packet_of_ours_passes_untouched() {
        let peer = Peer::load(&Options::default());
        const BIG: Kind = Kind::TooBig(1400);
        let changed = |quote: Vec<u8>, at: usize, byte: u8| {
            let mut quote = quote;
            quote[at] = byte;
            if quote[0] >> 4 == 4 {
                mend_header(&mut quote);
            }
            quote
        };
        for family in FAMILIES {
            let header = family.header_len();
            let elsewhere = header - 1;
            let quoted = |carrier| tagged(carrier, family, UDP);
            let (over, extension, gpe) = (
                quoted(Carrier::OverTcpUdp),
                quoted(Carrier::ExtensionUdp),
                quoted(Carrier::VxlanGpe),
            );
            let marked = Ip {
                tos: MARK,
                ..Ip::new(family, Host::Source, Host::Watched, UDP)
            };
            let cases = [
                ("an untagged packet", BIG, original(family, UDP)),
                (
                    "a packet with the mark but no INT",
                    BIG,
                    marked.around(&marked.l4(0, &[], &[7; 80])),
                ),
                (
                    "over-tcp-udp to a host that is not watched",
                    BIG,
                    changed(over.clone(), elsewhere, Host::Other as u8),
                ),
                (
                    "over-tcp-udp with another bitmap",
                    BIG,
                    changed(over.clone(), header + 8 + 8, 0xcd),
                ),
                (
                    "neither TCP nor UDP",
                    BIG,
                    changed(over.clone(), family.protocol_at(), 132),
                ),
                (
                    "less than eight bytes of L4",
                    BIG,
                    over[..header + 7].to_vec(),
                ),
                ("less than an IP header", BIG, over[..header - 1].to_vec()),
                ("nothing", BIG, Vec::new()),
                (
                    "the other IP version",
                    BIG,
                    changed(over.clone(), 0, if header == 20 { 0x65 } else { 0x46 }),
                ),
                (
                    "extension-udp to a host that is not watched",
                    BIG,
                    changed(extension.clone(), elsewhere, Host::Other as u8),
                ),
                (
                    "something else to the extension port",
                    BIG,
                    changed(extension.clone(), header + 8, 9),
                ),
                (
                    "SCTP behind an extra UDP header",
                    BIG,
                    changed(extension.clone(), header + 8 + 32, 132),
                ),
                (
                    "vxlan-gpe to a host that is not watched",
                    BIG,
                    changed(gpe.clone(), elsewhere, Host::Other as u8),
                ),
                (
                    "VXLAN-GPE without an instance",
                    BIG,
                    changed(gpe.clone(), header + 8, 4),
                ),
                (
                    "VXLAN-GPE with Ethernet in it",
                    BIG,
                    changed(gpe.clone(), header + 8 + 3, 3),
                ),
                (
                    "vxlan-gpe with another shim",
                    BIG,
                    changed(gpe.clone(), header + 8 + 8, 0x20),
                ),
                (
                    "vxlan-gpe of another length",
                    BIG,
                    changed(gpe.clone(), header + 8 + 9, 13),
                ),
                (
                    "vxlan-gpe of another domain",
                    BIG,
                    changed(gpe.clone(), header + 8 + 8 + 10, 0x47),
                ),
                (
                    "vxlan-gpe around neither IPv4 nor IPv6",
                    BIG,
                    changed(gpe.clone(), header + 8 + 8 + 3, 3),
                ),
                (
                    "vxlan-gpe around a packet to another host",
                    BIG,
                    changed(gpe.clone(), header + 68 + elsewhere, Host::Other as u8),
                ),
                ("a redirect", Kind::Other(5, 1), extension.clone()),
                (
                    "an echo request",
                    Kind::Other(if header == 20 { 8 } else { 128 }, 0),
                    extension.clone(),
                ),
                (
                    "a neighbour solicitation",
                    Kind::Other(135, 0),
                    extension.clone(),
                ),
            ];
            for (sentence, kind, quote) in cases {
                let frame = error(family, kind, &quote);
                assert_left(&peer, &frame, None, &format!("{sentence}, {family:?}"));
            }
        }
        let quench = error(
            Family::V4,
            Kind::Other(4, 0),
            &tagged(Carrier::ExtensionUdp, Family::V4, UDP),
        );
        assert_left(&peer, &quench, None, "a source quench");
        for (fragment, at) in [([0x20, 0], "first"), ([0, 0x20], "later")] {
            let mut quote = tagged(Carrier::ExtensionUdp, Family::V4, UDP);
            quote[6..8].copy_from_slice(&fragment);
            mend_header(&mut quote);
            let frame = error(Family::V4, BIG, &quote);
            assert_left(&peer, &frame, None, &format!("a {at} fragment"));
        }
    }

    #[test]
    fn tags_options_and_extension_headers_are_looked_behind() {
        let peer = Peer::load(&Options::default());
        struct Case {
            name: &'static str,
            family: Family,
            tags: usize,
            outer: (usize, &'static [u8]),
            quoted: &'static [u8],
            seen: bool,
        }
        let plain = Case {
            name: "",
            family: Family::V6,
            tags: 0,
            outer: (0, &[]),
            quoted: &[],
            seen: true,
        };
        let cases = [
            Case {
                name: "a VLAN tag, IPv4",
                family: Family::V4,
                tags: 1,
                ..plain
            },
            Case {
                name: "two VLAN tags",
                tags: 2,
                ..plain
            },
            Case {
                name: "three VLAN tags",
                tags: 3,
                seen: false,
                ..plain
            },
            Case {
                name: "IPv4 options around the error",
                family: Family::V4,
                outer: (40, &[]),
                ..plain
            },
            Case {
                name: "four extension headers around the error",
                outer: (0, &[0, 60, 43, 60]),
                ..plain
            },
            Case {
                name: "five extension headers around the error",
                outer: (0, &[0, 60, 43, 60, 60]),
                seen: false,
                ..plain
            },
            Case {
                name: "a fragment header around the error",
                outer: (0, &[44]),
                seen: false,
                ..plain
            },
            Case {
                name: "two tags and an extension header in the quote",
                tags: 2,
                quoted: &[60],
                ..plain
            },
            Case {
                name: "four extension headers in the quote",
                quoted: &[0, 60, 43, 60],
                ..plain
            },
            Case {
                name: "a fragment header in the quote",
                quoted: &[44],
                seen: false,
                ..plain
            },
        ];
        for case in cases {
            let quoted_ip = Ip {
                extensions: case.quoted.to_vec(),
                ..Ip::new(case.family, Host::Source, Host::Watched, UDP)
            };
            let outer = Ip {
                options: case.outer.0,
                extensions: case.outer.1.to_vec(),
                ..Ip::new(case.family, Host::Router, Host::Source, case.family.icmp())
            };
            let header = case.family.header_len();
            let body = &tagged(Carrier::ExtensionUdp, case.family, TCP)[header..];
            let then = [&body[44..52], &body[8..]].concat();
            let tcp = Ip {
                protocol: TCP,
                ..quoted_ip.clone()
            };
            let frame = |kind, quote: Vec<u8>| {
                let body = error_body(case.family, kind, &outer, &quote);
                ethernet(case.tags, &outer.around(&body))
            };
            let sent = frame(Kind::TooBig(1400), quoted_ip.around(body));
            if case.seen {
                let expected = frame(Kind::TooBig(1356), tcp.around(&then));
                verify_packet(&expected[14 + 4 * case.tags..]).expect(case.name);
                let done = Some(count::COUNT_PEER_ICMP_TRANSLATED);
                assert_becomes(&peer, &sent, &expected, done, case.name);
            } else {
                assert_left(&peer, &sent, None, case.name);
            }
        }
    }

    #[test]
    fn a_wrong_checksum_stays_wrong_by_as_much() {
        let peer = Peer::load(&Options::default());
        for family in FAMILIES {
            let quote = tagged(Carrier::ExtensionUdp, family, UDP);
            let at = 14 + family.header_len() + 8;
            let mut frame = error(family, Kind::TooBig(1400), &quote);
            // A bit of what is quoted and not touched.
            frame[at + 4] ^= 1;
            let ran = peer.run(&frame);
            assert!(verify_packet(&ran.bytes[14..]).is_err(), "{family:?}");
        }
    }

    #[test]
    fn a_frame_that_ends_early_passes() {
        let peer = Peer::load(&Options::default());
        for family in FAMILIES {
            for carrier in [Carrier::ExtensionUdp, Carrier::VxlanGpe] {
                let mut quote = tagged(carrier, family, UDP);
                quote.truncate(family.header_len() + 60);
                let whole = error(family, Kind::TooBig(1400), &quote);
                for len in 14 + family.header_len()..whole.len() {
                    let ran = peer.run(&whole[..len]);
                    assert_eq!(ran.verdict, TCX_NEXT, "{len} bytes, {family:?}");
                    assert_eq!(ran.bytes.len(), len, "{len} bytes, {family:?}");
                }
            }
        }
    }

    #[test]
    fn the_extension_port_is_the_sources() {
        let peer = Peer::load(&Options::default());
        let mut quote = tagged(Carrier::ExtensionUdp, Family::V4, UDP);
        quote[22..24].copy_from_slice(&(EXTENSION_PORT + 1).to_be_bytes());
        let frame = error(Family::V4, Kind::TooBig(1400), &quote);
        assert_left(&peer, &frame, None, "INT to another port");
    }
}
