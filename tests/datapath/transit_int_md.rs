//! A transit hop pushes onto standard INT-MD of other sources, as its instructions, its marks and its flags say.

use hostint::datapath::abi::transit_counter;
use hostint_testing::checksum::verify;
use hostint_testing::frame::Frame;
use hostint_testing::model::int_md::{ALL_KNOWN, Header, Known, insert, push, with_flags};
use hostint_testing::packets::{tcp, tcp6, udp, udp6};
use hostint_testing::programs::source::TCX_NEXT;
use hostint_testing::programs::transit::{EGRESS, Hop, INGRESS, INT_MD, OWN, Options};
use hostint_testing::sink_cases::int;
use hostint_testing::transit_cases::{NODE, assert_counted, hop};
use hostint_testing::{golden, int_block::FLAG_BUDGET};

const DSCP: u8 = 0x17;
const PORT: u16 = 51_966;
const SECOND: i64 = 1_000_000_000;

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;
    use transit_counter as count;

    fn md_hop() -> Hop {
        hop(&md_options())
    }

    fn md_options() -> Options<'static> {
        Options {
            carriers: INT_MD | OWN,
            int_md: (DSCP, 0x3f, PORT),
            ..Options::default()
        }
    }

    fn marked(frame: &Frame, header: &Header) -> Vec<u8> {
        insert(&frame.bytes(), header, Some(DSCP))
    }

    /// The packet leaves with an entry, which is returned.
    fn assert_pushed(hop: &Hop, wire: &[u8], header: &Header, sentence: &str) -> Known {
        let ran = hop.leave(wire);
        assert_eq!(ran.verdict, TCX_NEXT, "{sentence}");
        assert!(ran.bytes.len() > wire.len(), "{sentence}: no entry");
        let said = Known::of_newest(&ran.bytes);
        let entry = said.entry(header.bitmap, header.hop_words);
        assert_eq!(ran.bytes, push(wire, &entry), "{sentence}");
        verify(&ran.bytes).unwrap_or_else(|why| panic!("{sentence}: {why}"));
        said
    }

    #[test]
    fn an_entry_says_what_is_known() {
        let hop = md_hop();
        let header = Header::asking(ALL_KNOWN);
        for (sentence, frame) in [
            ("UDP", udp()),
            ("an empty datagram", udp().payload(0)),
            ("UDP without checksum", udp().without_udp_checksum()),
            ("TCP", tcp()),
            ("TCP options", tcp().tcp_options(40).payload(501)),
            ("IPv4 options", udp().ip_options(40)),
            ("padding", tcp().payload(1).padding(17)),
            ("UDP over IPv6", udp6()),
            ("TCP over IPv6", tcp6().extension_header(60, 48)),
        ] {
            let wire = marked(&frame, &header);
            let before = hop.clock.now_ns();
            hop.arrive(&wire);
            let said = assert_pushed(&hop, &wire, &header, sentence);
            let after = hop.clock.now_ns();
            let ports = u32::from(INGRESS) << 16 | u32::from(EGRESS);
            assert_eq!((said.node, said.ports), (NODE, ports), "{sentence}");
            assert!(before <= said.ingress_ns, "{sentence}: {said:?}");
            assert!(said.ingress_ns <= said.egress_ns, "{sentence}: {said:?}");
            assert!(said.egress_ns <= after, "{sentence}: {said:?}");
            let latency = said.egress_ns - said.ingress_ns;
            assert_eq!(u64::from(said.latency_ns), latency, "{sentence}");
        }
    }

    #[test]
    fn packets_of_switches_get_an_entry() {
        let hop = md_hop();
        for name in [
            "int21_md_tcp_dscp",
            "int21_md_udp_dport",
            "int21_md_ipv6_tcp_tclass",
            "int21_md_m_bit_source",
            "int21_md_newudp_tcp",
            "int21_md_all_bits",
        ] {
            let wire = golden::frame(name);
            hop.zero_counters();
            hop.arrive(&wire);
            let ran = hop.leave(&wire);
            let bitmap = if name == "int21_md_all_bits" {
                0xff81
            } else {
                0x9000
            };
            let said = Known::of_newest(&ran.bytes);
            assert_eq!(said.node, NODE, "{name}");
            let entry = said.entry(bitmap, if bitmap == 0x9000 { 2 } else { 14 });
            assert_eq!(ran.bytes, push(&wire, &entry), "{name}");
            verify(&ran.bytes).unwrap_or_else(|why| panic!("{name}: {why}"));
        }
    }

    #[test]
    fn the_entry_is_as_long_as_the_source_says() {
        let hop = md_hop();
        for bit in 0..16 {
            for more in [0, 1, 18] {
                let header = Header::asking(0x8000 >> bit);
                let header = Header {
                    hop_words: header.hop_words + more,
                    ..header
                };
                let wire = marked(&udp(), &header);
                assert_pushed(
                    &hop,
                    &wire,
                    &header,
                    &format!("bit {bit}, {more} words more"),
                );
            }
        }
    }

    #[test]
    fn a_hop_says_why_it_pushes_nothing() {
        let header = Header::asking(ALL_KNOWN);
        let full = Header {
            stack: vec![7; 252 * 4 - 28],
            ..header.clone()
        };
        let long = udp().payload(1_440);
        let fragile = udp().dont_fragment(false).payload(501);
        for (sentence, frame, header, flag, reason) in [
            (
                "no hops remain",
                udp(),
                Header {
                    remaining: 0,
                    ..header.clone()
                },
                4,
                count::COUNT_TRANSIT_NO_BUDGET,
            ),
            (
                "no room in the MTU",
                long,
                header.clone(),
                2,
                count::COUNT_TRANSIT_TOO_LONG,
            ),
            (
                "routers may fragment it",
                fragile,
                header.clone(),
                2,
                count::COUNT_TRANSIT_TOO_LONG,
            ),
            (
                "the shim cannot say more",
                udp(),
                full,
                2,
                count::COUNT_TRANSIT_TOO_LONG,
            ),
        ] {
            let hop = hop(&Options {
                fixed_mtu: 1_500,
                ..md_options()
            });
            let wire = marked(&frame, &header);
            let expected = with_flags(&wire, flag);
            for (again, wire) in [(false, &wire), (true, &expected)] {
                hop.zero_counters();
                let left = hop.leave(wire).bytes;
                assert_eq!(left, expected, "{sentence}, said already: {again}");
                assert_counted(&hop, &[(reason, 1, wire.len() as u64)], sentence);
            }
        }
    }

    /// A datagram with a header that differs from the usual one.
    #[test]
    fn only_allowed_sources_get_entries_if_some_are_named() {
        let header = Header::asking(ALL_KNOWN);
        for (sentence, frame, own) in [
            ("IPv4", udp(), "192.0.2.1"),
            ("IPv6", udp6(), "2001:db8::1"),
            ("TCP", tcp(), "192.0.2.1"),
        ] {
            let wire = marked(&frame, &header);
            let own = own.parse().expect("an address");
            let other = "192.0.2.99".parse().expect("an address");
            let allowed = hop(&Options {
                allowed: Some(&[other, own]),
                ..md_options()
            });
            assert_pushed(&allowed, &wire, &header, sentence);
            let stranger = hop(&Options {
                allowed: Some(&[other]),
                ..md_options()
            });
            assert_eq!(stranger.leave(&wire).bytes, wire, "{sentence}");
            let counted = [(count::COUNT_TRANSIT_NOT_ALLOWED, 1, wire.len() as u64)];
            assert_counted(&stranger, &counted, sentence);
        }
    }

    fn differing(change: fn(&mut Header)) -> Vec<u8> {
        let mut header = Header::asking(ALL_KNOWN);
        change(&mut header);
        marked(&udp(), &header)
    }

    #[test]
    fn what_is_no_int_md_of_this_version_passes_unchanged_and_is_counted() {
        let hop = md_hop();
        for (sentence, frame, reason) in [
            (
                "a DSCP without INT",
                udp().dscp(DSCP).bytes(),
                count::COUNT_TRANSIT_FOREIGN_MARK,
            ),
            (
                "a port without INT",
                udp().ports(9, PORT).payload(7).bytes(),
                count::COUNT_TRANSIT_FOREIGN_MARK,
            ),
            (
                "INT v1.0",
                differing(|header| (header.shim, header.version) = (1, 0x10)),
                count::COUNT_TRANSIT_BAD_VERSION,
            ),
            (
                "a later version",
                differing(|header| header.version = 0x30),
                count::COUNT_TRANSIT_BAD_VERSION,
            ),
            (
                "a reserved bit",
                differing(|header| header.reserved = 1),
                count::COUNT_TRANSIT_BAD_VERSION,
            ),
            (
                "a reserved bit beside the words of a hop",
                differing(|header| header.hop_words = 0x28),
                count::COUNT_TRANSIT_BAD_VERSION,
            ),
            (
                "INT-MX",
                differing(|header| header.shim = 0x30),
                count::COUNT_TRANSIT_BAD_SHIM,
            ),
            (
                "a replaced port where none marks",
                differing(|header| header.shim = 0x14),
                count::COUNT_TRANSIT_BAD_SHIM,
            ),
            (
                "less than a metadata header",
                differing(|header| header.length = Some(2)),
                count::COUNT_TRANSIT_BAD_SHIM,
            ),
            (
                "fewer words than instructions",
                differing(|header| header.hop_words = 7),
                count::COUNT_TRANSIT_BAD_BITMAP,
            ),
            (
                "no words",
                differing(|header| (header.bitmap, header.hop_words) = (0, 0)),
                count::COUNT_TRANSIT_BAD_BITMAP,
            ),
            (
                "more words than the packet",
                differing(|header| header.length = Some(200)),
                count::COUNT_TRANSIT_BAD_LENGTH,
            ),
            (
                "a fragment",
                marked(&udp().more_fragments(), &Header::asking(ALL_KNOWN)),
                count::COUNT_TRANSIT_FRAGMENT,
            ),
        ] {
            hop.zero_counters();
            for ran in [hop.arrive(&frame), hop.leave(&frame)] {
                assert_eq!((ran.verdict, &ran.bytes), (TCX_NEXT, &frame), "{sentence}");
            }
            assert_counted(&hop, &[(reason, 1, frame.len() as u64)], sentence);
        }
    }

    #[test]
    fn only_chosen_kinds_of_int_get_entries() {
        let block = int().flags(FLAG_BUDGET).byte(6, 5);
        let own = udp().tagged(block).bytes();
        let header = Header::asking(ALL_KNOWN);
        let other = marked(&udp(), &header);
        let by_port = insert(&udp().ports(9, PORT).bytes(), &header, None);
        let kinds = [(&own, "host-int"), (&other, "DSCP"), (&by_port, "port")];
        for (carriers, int_md, expected) in [
            (OWN, (DSCP, 0x3f, PORT), ["host-int"].as_slice()),
            (INT_MD, (DSCP, 0x3f, PORT), &["DSCP", "port"]),
            (INT_MD, (0, 0, PORT), &["port"]),
            (INT_MD | OWN, (DSCP, 0x3f, 0), &["host-int", "DSCP"]),
            (INT_MD | OWN, (0x16, 0x3e, 0), &["host-int", "DSCP"]),
            (INT_MD, (0x18, 0x3f, 0), &[]),
        ] {
            let hop = hop(&Options {
                carriers,
                int_md,
                ..Options::default()
            });
            let grown = kinds
                .iter()
                .filter(|(wire, _)| hop.leave(wire).bytes.len() > wire.len());
            let grown: Vec<_> = grown.map(|(_, kind)| *kind).collect();
            assert_eq!(grown, expected, "carriers {carriers}, marks {int_md:x?}");
        }
    }

    #[test]
    fn one_dscp_may_be_the_mark_of_both_kinds() {
        let hop = md_hop();
        let block = int().flags(FLAG_BUDGET).byte(6, 5);
        // DSCP 0x17 has hostint's mark, too.
        let own = udp().dscp(0x16).tagged(block).bytes();
        assert!(hop.leave(&own).bytes.len() > own.len(), "hostint's");
        let header = Header::asking(ALL_KNOWN);
        assert_pushed(&hop, &marked(&udp(), &header), &header, "INT-MD");
    }

    #[test]
    fn packets_that_are_alike_have_no_time_or_the_right_one() {
        let hop = md_hop();
        let header = Header::asking(ALL_KNOWN);
        let wire = marked(&udp(), &header);
        let known = |sentence: &str| {
            let said = assert_pushed(&hop, &wire, &header, sentence);
            let unknown = (u64::MAX, u32::MAX);
            (said.ingress_ns, said.latency_ns) != unknown
        };
        hop.arrive(&wire);
        assert!(known("one after the other"), "the first one");
        assert!(!known("a copy"), "the copy of a packet did not arrive");
        hop.arrive(&wire);
        assert!(known("one after the other"), "the second one");
        for _ in 0..3 {
            hop.arrive(&wire);
        }
        for _ in 0..3 {
            assert!(!known("three at once"), "which one it is cannot be told");
        }
        hop.jump(9 * SECOND);
        hop.arrive(&wire);
        assert!(known("later"), "those are gone");
    }

    #[test]
    fn a_host_that_is_in_the_stack_pushes_no_second_entry() {
        let hop = md_hop();
        let header = Header {
            stack: [NODE.to_be_bytes().to_vec(), vec![0; 28]].concat(),
            ..Header::asking(ALL_KNOWN)
        };
        let wire = marked(&tcp(), &header);
        assert_eq!(hop.leave(&wire).bytes, wire);
        let counted = [(count::COUNT_TRANSIT_OWN_HOP, 1, wire.len() as u64)];
        assert_counted(&hop, &counted, "its own");
    }

    #[test]
    fn superpackets_pass_as_they_came() {
        let hop = md_hop();
        let wire = marked(&tcp().payload(900), &Header::asking(ALL_KNOWN));
        assert_eq!(hop.leave_superpacket(&wire, 300, 3).bytes, wire);
        let counted = [(count::COUNT_TRANSIT_SUPERPACKET, 1, wire.len() as u64)];
        assert_counted(&hop, &counted, "merged on the path");
    }
}
