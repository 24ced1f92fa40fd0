//! The source's peer program clamps the MSS of TCP's SYNs, so that INT has room.

use hostint::datapath::abi::peer_counter as count;
use hostint_testing::checksum::verify_packet;
use hostint_testing::frame::{TCP, UDP};
use hostint_testing::icmp::{FAMILIES, Family, Host, Ip, ethernet, mend_header};
use hostint_testing::peer_cases::{assert_becomes, assert_left};
use hostint_testing::programs::peer::{Options, Peer};

const SYN: u8 = 0x02;
const SYN_ACK: u8 = 0x12;

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;

    fn option(mss: u16) -> [u8; 4] {
        let [high, low] = mss.to_be_bytes();
        [2, 4, high, low]
    }

    fn syn(family: Family, flags: u8, options: &[u8]) -> Vec<u8> {
        let ip = Ip::new(family, Host::Watched, Host::Source, TCP);
        ethernet(0, &ip.around(&ip.l4(flags, options, &[])))
    }

    /// What is left of 1500 bytes for a segment.
    fn limit(family: Family) -> u16 {
        1500 - 36 - 20 - family.header_len() as u16
    }

    #[test]
    fn a_syns_mss_leaves_room_wherever_it_stands() {
        let peer = Peer::load(&Options::default());
        type Around = (&'static str, &'static [u8], &'static [u8]);
        let cases: [Around; 8] = [
            ("alone", &[], &[]),
            (
                "as Linux sends it",
                &[],
                &[4, 2, 8, 10, 1, 2, 3, 4, 0, 0, 0, 0, 1, 3, 3, 7],
            ),
            ("behind one NOP", &[1], &[1, 1, 1]),
            ("behind two NOPs", &[1, 1], &[1, 0]),
            ("behind three NOPs", &[1, 1, 1], &[0]),
            ("behind an option of three bytes", &[3, 3, 7], &[1]),
            ("at the very end", &[1; 36], &[]),
            ("behind one that nobody knows", &[253, 5, 9, 9, 9], &[1; 3]),
        ];
        for family in FAMILIES {
            for flags in [SYN, SYN_ACK] {
                for (sentence, before, behind) in cases {
                    for (stated, then) in [
                        (limit(family) + 1, limit(family)),
                        (1460, limit(family)),
                        (9000, limit(family)),
                        (0xffff, limit(family)),
                        (limit(family), limit(family)),
                        (536, 536),
                        (0, 0),
                    ] {
                        let frame =
                            |mss| syn(family, flags, &[before, &option(mss), behind].concat());
                        let sentence = format!("{stated} {sentence}, {family:?}, {flags}");
                        let reason = (stated != then).then_some(count::COUNT_PEER_MSS_CLAMPED);
                        let expected = frame(then);
                        verify_packet(&expected[14..]).expect(&sentence);
                        assert_becomes(&peer, &frame(stated), &expected, reason, &sentence);
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_no_syn_of_a_watched_host_with_an_mss_passes_untouched() {
        let peer = Peer::load(&Options::default());
        for family in FAMILIES {
            let stranger = Ip::new(family, Host::Other, Host::Source, TCP);
            let ours = Ip::new(family, Host::Source, Host::Watched, TCP);
            let datagram = Ip::new(family, Host::Watched, Host::Source, UDP);
            let mss = option(1460);
            let cases = [
                (
                    "a SYN of a host that is not watched",
                    ethernet(0, &stranger.around(&stranger.l4(SYN, &mss, &[]))),
                ),
                (
                    "a SYN to a watched host",
                    ethernet(0, &ours.around(&ours.l4(SYN, &mss, &[]))),
                ),
                (
                    "a UDP datagram",
                    ethernet(0, &datagram.around(&datagram.l4(0, &[], &[2; 60]))),
                ),
                ("a segment with an MSS", syn(family, 0x18, &mss)),
                ("a SYN without options", syn(family, SYN, &[])),
                (
                    "a SYN without an MSS",
                    syn(family, SYN, &[4, 2, 3, 3, 7, 1, 1, 0]),
                ),
                (
                    "an MSS behind the end of options",
                    syn(family, SYN, &[&[0; 4][..], &mss].concat()),
                ),
                (
                    "an MSS of three bytes",
                    syn(family, SYN, &[2, 3, 0x23, 1, 1, 1, 1, 1]),
                ),
                (
                    "an option of no length",
                    syn(family, SYN, &[&[8, 0, 1, 1][..], &mss].concat()),
                ),
                (
                    "an option of one byte",
                    syn(family, SYN, &[&[8, 1, 1, 1][..], &mss].concat()),
                ),
                (
                    "an MSS that the options end within",
                    syn(family, SYN, &[1, 2, 4, 0x23]),
                ),
                (
                    "an option longer than all",
                    syn(family, SYN, &[&[8, 200, 1, 1][..], &mss].concat()),
                ),
            ];
            for (sentence, frame) in cases {
                assert_left(&peer, &frame, None, &format!("{sentence}, {family:?}"));
            }
            let body = Ip::new(family, Host::Watched, Host::Source, TCP);
            let mut payload = body.around(&body.l4(SYN, &[], &option(9000)));
            assert_left(
                &peer,
                &ethernet(0, &payload),
                None,
                "an MSS that is payload",
            );
            payload[family.header_len() + 12] = 0xf0;
            assert_left(
                &peer,
                &ethernet(0, &payload),
                None,
                "options beyond the packet",
            );
        }
        let mut fragment = syn(Family::V4, SYN, &option(1460));
        fragment[14 + 6] = 0x20;
        mend_header(&mut fragment[14..]);
        assert_left(&peer, &fragment, None, "a fragment of a SYN");
    }

    #[test]
    fn tags_options_and_extension_headers_are_looked_behind() {
        let peer = Peer::load(&Options::default());
        for (sentence, family, tags, options, extensions) in [
            ("a VLAN tag", Family::V4, 1, 0, &[][..]),
            ("two VLAN tags", Family::V6, 2, 0, &[]),
            ("IPv4 options", Family::V4, 0, 4, &[]),
            ("IPv6 extension headers", Family::V6, 1, 0, &[0, 43, 60, 60]),
        ] {
            let ip = Ip {
                options,
                extensions: extensions.to_vec(),
                ..Ip::new(family, Host::Watched, Host::Source, TCP)
            };
            let frame = |mss| ethernet(tags, &ip.around(&ip.l4(SYN, &option(mss), &[])));
            let expected = frame(limit(family));
            verify_packet(&expected[14 + 4 * tags..]).expect(sentence);
            let done = Some(count::COUNT_PEER_MSS_CLAMPED);
            assert_becomes(&peer, &frame(1461), &expected, done, sentence);
        }
    }

    #[test]
    fn the_limit_follows_room_and_mtu() {
        for (room, fixed_mtu, stated, then) in [
            (44, 1500, 1460, 1416),
            (88, 1500, 1460, 1372),
            (36, 9000, 8960, 8924),
            (36, 9000, 1460, 1460),
            // Less than Linux would send in any case.
            (36, 123, 1460, 1460),
            (36, 124, 1460, 48),
            // The device's: that of loopback.
            (36, 0, 65495, 65459),
        ] {
            let peer = Peer::load(&Options { room, fixed_mtu });
            let sentence = format!("room {room}, MTU {fixed_mtu}, MSS {stated}");
            let frame = |mss| syn(Family::V4, SYN, &option(mss));
            let reason = (stated != then).then_some(count::COUNT_PEER_MSS_CLAMPED);
            assert_becomes(&peer, &frame(stated), &frame(then), reason, &sentence);
        }
    }
}
