//! A transit hop pushes onto INT-MD in an option of Geneve, and leaves all other Geneve alone.

use hostint::datapath::abi::transit_counter;
use hostint_testing::checksum::verify;
use hostint_testing::frame::Frame;
use hostint_testing::golden;
use hostint_testing::model::geneve::{PORT, Tunnel, other_option};
use hostint_testing::model::int_md::{ALL_KNOWN, Header, Known};
use hostint_testing::packets::{udp, udp6};
use hostint_testing::programs::source::TCX_NEXT;
use hostint_testing::programs::transit::{EGRESS, GENEVE, INGRESS, INT_MD, OWN, Options};
use hostint_testing::sink_cases::int;
use hostint_testing::transit_cases::{NODE, assert_counted, hop};

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;
    use transit_counter as count;

    fn options() -> Options<'static> {
        Options {
            carriers: GENEVE | OWN,
            ..Options::default()
        }
    }

    fn tunnel() -> Tunnel {
        Tunnel::around((0..90).collect())
    }

    fn header() -> Header {
        Header::asking(ALL_KNOWN)
    }

    /// A datagram with a tunnel and a header that differ from the usual ones.
    fn differing(change: fn(&mut Tunnel, &mut Header)) -> Frame {
        let (mut tunnel, mut header) = (tunnel(), header());
        change(&mut tunnel, &mut header);
        tunnel.wrap(udp(), &header)
    }

    #[test]
    fn an_entry_says_what_is_known() {
        let hop = hop(&options());
        let plain = tunnel();
        let among = Tunnel {
            before: [other_option(0), other_option(9), other_option(31)].concat(),
            behind: other_option(2),
            ..tunnel()
        };
        let empty = Tunnel::around(Vec::new());
        let last = Tunnel {
            before: other_option(1).repeat(7),
            ..tunnel()
        };
        for (sentence, tunnel, outer) in [
            ("UDP", &plain, udp()),
            ("without checksum", &plain, udp().without_udp_checksum()),
            ("nothing in the tunnel", &empty, udp()),
            ("among other options", &among, udp()),
            ("the eighth option", &last, udp()),
            ("IPv4 options", &among, udp().ip_options(40)),
            ("padding", &plain, udp().padding(17)),
            ("IPv6", &plain, udp6()),
            ("IPv6 headers", &among, udp6().extension_header(60, 48)),
        ] {
            let wire = tunnel.wrap(outer, &header()).bytes();
            let before = hop.clock.now_ns();
            hop.zero_counters();
            hop.arrive(&wire);
            let ran = hop.leave(&wire);
            let after = hop.clock.now_ns();
            assert_eq!(ran.verdict, TCX_NEXT, "{sentence}");
            assert!(ran.bytes.len() > wire.len(), "{sentence}: no entry");
            let said = Known::of_newest_behind(&ran.bytes, tunnel.head_at(&ran.bytes));
            let ports = u32::from(INGRESS) << 16 | u32::from(EGRESS);
            assert_eq!((said.node, said.ports), (NODE, ports), "{sentence}");
            assert!(before <= said.ingress_ns, "{sentence}: {said:?}");
            assert!(said.ingress_ns <= said.egress_ns, "{sentence}: {said:?}");
            assert!(said.egress_ns <= after, "{sentence}: {said:?}");
            let entry = said.entry(ALL_KNOWN, 8);
            assert_eq!(ran.bytes, tunnel.push(&wire, &entry), "{sentence}");
            verify(&ran.bytes).unwrap_or_else(|why| panic!("{sentence}: {why}"));
            let len = wire.len() as u64;
            let counted = [
                (count::COUNT_TRANSIT_ARRIVED, 1, len),
                (count::COUNT_TRANSIT_PUSHED, 1, len),
            ];
            assert_counted(&hop, &counted, sentence);
        }
    }

    #[test]
    fn a_packet_of_a_switch_gets_an_entry() {
        let hop = hop(&options());
        let wire = golden::frame("int21_md_geneve");
        hop.arrive(&wire);
        let left = hop.leave(&wire).bytes;
        let tunnel = Tunnel::around(Vec::new());
        let said = Known::of_newest_behind(&left, tunnel.head_at(&left));
        assert_eq!(said.node, NODE);
        assert_eq!(left, tunnel.push(&wire, &said.entry(0x9000, 2)));
    }

    #[test]
    fn a_hop_says_why_it_pushes_nothing() {
        let hop = hop(&Options {
            fixed_mtu: 1_500,
            ..options()
        });
        let long = Tunnel::around(vec![7; 1_420]);
        let many = Tunnel {
            behind: [other_option(31), other_option(20)].concat(),
            ..tunnel()
        };
        let with_words = |words: usize| Header {
            stack: vec![7; words * 4],
            ..header()
        };
        let spent = Header {
            remaining: 0,
            ..header()
        };
        let (no_budget, too_long) = (
            count::COUNT_TRANSIT_NO_BUDGET,
            count::COUNT_TRANSIT_TOO_LONG,
        );
        for (sentence, tunnel, outer, header, flag, reason) in [
            ("no hops remain", tunnel(), udp(), spent, 4, no_budget),
            ("no room in the MTU", long, udp(), header(), 2, too_long),
            (
                "routers may fragment it",
                Tunnel::around(vec![7; 501]),
                udp().dont_fragment(false),
                header(),
                2,
                too_long,
            ),
            (
                "the option cannot be longer",
                tunnel(),
                udp(),
                with_words(24),
                2,
                too_long,
            ),
            (
                "nor can all options",
                many,
                udp().without_udp_checksum(),
                header(),
                2,
                too_long,
            ),
        ] {
            let wire = tunnel.wrap(outer, &header).bytes();
            let expected = tunnel.with_flags(&wire, flag);
            assert_ne!(wire, expected, "{sentence}");
            for (again, wire) in [(false, &wire), (true, &expected)] {
                hop.zero_counters();
                let left = hop.leave(wire).bytes;
                assert_eq!(left, expected, "{sentence}, said already: {again}");
                assert_counted(&hop, &[(reason, 1, wire.len() as u64)], sentence);
            }
        }
    }

    #[test]
    fn what_is_no_int_md_of_this_version_passes_unchanged_and_is_counted() {
        let hop = hop(&options());
        for (sentence, frame, reason) in [
            (
                "INT-MX",
                differing(|tunnel, _| tunnel.kind = 3),
                count::COUNT_TRANSIT_BAD_SHIM,
            ),
            (
                "a critical option",
                differing(|tunnel, _| tunnel.kind = 0x81),
                count::COUNT_TRANSIT_BAD_SHIM,
            ),
            (
                "a reserved bit of the option",
                differing(|tunnel, _| tunnel.words = Some(0x23)),
                count::COUNT_TRANSIT_BAD_SHIM,
            ),
            (
                "less than a metadata header",
                differing(|tunnel, _| tunnel.words = Some(2)),
                count::COUNT_TRANSIT_BAD_SHIM,
            ),
            (
                "INT v1.0",
                differing(|_, header| header.version = 0x10),
                count::COUNT_TRANSIT_BAD_VERSION,
            ),
            (
                "a reserved bit",
                differing(|_, header| header.reserved = 1),
                count::COUNT_TRANSIT_BAD_VERSION,
            ),
            (
                "fewer words than instructions",
                differing(|_, header| header.hop_words = 7),
                count::COUNT_TRANSIT_BAD_BITMAP,
            ),
            (
                "an option longer than all options",
                differing(|tunnel, _| tunnel.words = Some(4)),
                count::COUNT_TRANSIT_BAD_LENGTH,
            ),
            (
                "options longer than the datagram",
                differing(|tunnel, _| tunnel.first = Some(63)),
                count::COUNT_TRANSIT_BAD_LENGTH,
            ),
            (
                "a datagram shorter than its packet",
                differing(|_, _| {}).udp_len(40),
                count::COUNT_TRANSIT_BAD_LENGTH,
            ),
            (
                "a packet longer than its frame",
                differing(|_, _| {}).total_len(400).udp_len(380),
                count::COUNT_TRANSIT_BAD_LENGTH,
            ),
            (
                "the first fragment",
                differing(|_, _| {}).more_fragments(),
                count::COUNT_TRANSIT_FRAGMENT,
            ),
            (
                "a frame that ends in the option",
                differing(|_, _| {}).cut(60),
                count::COUNT_TRANSIT_TRUNCATED,
            ),
        ] {
            let frame = frame.bytes();
            hop.zero_counters();
            for ran in [hop.arrive(&frame), hop.leave(&frame)] {
                assert_eq!((ran.verdict, &ran.bytes), (TCX_NEXT, &frame), "{sentence}");
            }
            assert_counted(&hop, &[(reason, 1, frame.len() as u64)], sentence);
        }
    }

    #[test]
    fn geneve_without_int_is_none_of_its_business() {
        let hop = hop(&options());
        for (sentence, frame) in [
            ("another class", differing(|tunnel, _| tunnel.class[1] = 4)),
            (
                "the class of earlier versions",
                differing(|tunnel, _| tunnel.class = [0, 0xab]),
            ),
            ("no options", differing(|tunnel, _| tunnel.first = Some(0))),
            (
                "another version of Geneve",
                differing(|tunnel, _| tunnel.first = Some(0x44)),
            ),
            (
                "behind eight other options",
                differing(|tunnel, _| tunnel.before = other_option(0).repeat(8)),
            ),
            (
                "an option before it that has no end",
                differing(|tunnel, _| tunnel.before = vec![1, 2, 0, 31]),
            ),
            ("a datagram of a few bytes", udp().ports(1, PORT).payload(5)),
            ("a later fragment", differing(|_, _| {}).fragment_offset(9)),
        ] {
            let frame = frame.bytes();
            for ran in [hop.arrive(&frame), hop.leave(&frame)] {
                assert_eq!((ran.verdict, &ran.bytes), (TCX_NEXT, &frame), "{sentence}");
            }
            assert_counted(&hop, &[], sentence);
        }
    }

    #[test]
    fn only_a_hop_that_is_told_to_pushes_into_geneve() {
        let wire = tunnel().wrap(udp(), &header()).bytes();
        for (carriers, grows) in [
            (GENEVE, true),
            (GENEVE | INT_MD, true),
            (OWN, false),
            (OWN | INT_MD, false),
        ] {
            let hop = hop(&Options {
                carriers,
                int_md: (0x17, 0x3f, 51_966),
                ..Options::default()
            });
            let left = hop.leave(&wire).bytes;
            assert_eq!(left.len() > wire.len(), grows, "carriers {carriers}");
        }
    }

    #[test]
    fn a_tunnel_behind_hostints_own_int_gets_the_entry_there() {
        let hop = hop(&options());
        let inside = tunnel().bytes(&header());
        let block = int()
            .flags(hostint_testing::int_block::FLAG_BUDGET)
            .byte(6, 5);
        let frame = udp().ports(9, PORT).payload_bytes(inside.clone());
        let wire = frame.tagged(block).bytes();
        let left = hop.leave(&wire).bytes;
        assert_eq!(left.len(), wire.len() + 16);
        assert_eq!(left[left.len() - inside.len()..], inside);
    }

    #[test]
    fn a_host_that_is_in_the_stack_pushes_no_second_entry() {
        let hop = hop(&options());
        let header = Header {
            stack: [NODE.to_be_bytes().to_vec(), vec![0; 28]].concat(),
            ..header()
        };
        let wire = tunnel().wrap(udp(), &header).bytes();
        assert_eq!(hop.leave(&wire).bytes, wire);
        let counted = [(count::COUNT_TRANSIT_OWN_HOP, 1, wire.len() as u64)];
        assert_counted(&hop, &counted, "its own");
    }

    #[test]
    fn superpackets_pass_as_they_came() {
        let hop = hop(&options());
        for outer in [udp(), udp().without_udp_checksum()] {
            let wire = Tunnel::around(vec![7; 900]).wrap(outer, &header()).bytes();
            hop.zero_counters();
            assert_eq!(hop.leave_superpacket(&wire, 300, 3).bytes, wire);
            let counted = [(count::COUNT_TRANSIT_SUPERPACKET, 1, wire.len() as u64)];
            assert_counted(&hop, &counted, "merged or to be cut");
        }
    }
}
