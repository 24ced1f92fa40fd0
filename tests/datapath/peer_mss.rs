//! The source's peer program clamps the MSS of TCP's SYNs, so that INT has room.

use std::ops::Range;

use hostint::datapath::abi::{
    lease_state, lease_way, peer_counter as count, source_lease, watch_flag,
};
use hostint_testing::checksum::verify_packet;
use hostint_testing::frame::{TCP, UDP};
use hostint_testing::icmp::{FAMILIES, Family, Host, Ip, ethernet, mend_header};
use hostint_testing::peer_cases::{assert_becomes, assert_left};
use hostint_testing::programs::peer::{Options, Peer, lease_in};

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

    /// The upper half of the sequence number.
    fn numbered(family: Family) -> Range<usize> {
        let tcp = 14 + family.header_len();
        tcp + 4..tcp + 6
    }

    /// What the interface has room for in a segment without INT.
    fn widest(family: Family) -> u16 {
        1500 - 20 - family.header_len() as u16
    }

    /// What no MSS is lowered below.
    fn least(family: Family) -> u16 {
        match family {
            Family::V4 => 536,
            Family::V6 => 1220,
        }
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
                    let (widest, least) = (widest(family), least(family));
                    for (stated, then) in [
                        (widest, widest - 36),
                        (widest + 1, widest - 36),
                        (9000, widest - 36),
                        (0xffff, widest - 36),
                        // A narrower link on the path may have lowered it.
                        (widest - 36, widest - 72),
                        (1340, 1304),
                        (least + 37, least + 1),
                        (least + 36, least),
                        (least + 1, least),
                        (least, least),
                        (least - 1, least - 1),
                        (0, 0),
                    ] {
                        let frame =
                            |mss| syn(family, flags, &[before, &option(mss), behind].concat());
                        let sentence = format!("{stated} {sentence}, {family:?}, {flags}");
                        let reason = (stated != then).then_some(count::COUNT_PEER_MSS_CLAMPED);
                        let expected = frame(then);
                        verify_packet(&expected[14..]).expect(&sentence);
                        peer.forget_syns();
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
    fn the_mss_of_a_signed_syn_stays_as_it_is() {
        let peer = Peer::load(&Options::default());
        let ao = [29, 16, 100, 100, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
        let short_ao = [29, 4, 1, 1];
        let md5 = [&[19, 18][..], &[7; 16]].concat();
        let mss = option(1460);
        let cases: [(&str, Vec<u8>); 6] = [
            ("TCP-AO as Linux sends it", [&ao[..], &mss].concat()),
            ("TCP-AO behind the MSS", [&mss[..], &ao].concat()),
            (
                "TCP-AO behind the MSS and others",
                [&mss[..], &[1, 3, 3, 7, 4, 2], &ao, &[1, 1]].concat(),
            ),
            ("TCP-AO without a code", [&mss[..], &short_ao].concat()),
            ("MD5 as Linux sends it", [&[1, 1][..], &md5, &mss].concat()),
            ("MD5 behind the MSS", [&mss[..], &md5, &[1, 1]].concat()),
        ];
        for family in FAMILIES {
            for flags in [SYN, SYN_ACK] {
                for (sentence, options) in &cases {
                    let sentence = format!("{sentence}, {family:?}, {flags}");
                    let reason = Some(count::COUNT_PEER_MSS_SIGNED);
                    assert_left(&peer, &syn(family, flags, options), reason, &sentence);
                }
            }
        }
        // These bytes are another option's, or lie behind the end.
        for behind in [&[254, 4, 29, 16][..], &[0, 29, 4, 1]] {
            let frame = |mss| syn(Family::V4, SYN, &[&option(mss)[..], behind].concat());
            let done = Some(count::COUNT_PEER_MSS_CLAMPED);
            assert_becomes(&peer, &frame(1460), &frame(1424), done, "not signed");
        }
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
            let expected = frame(widest(family) - 36);
            verify_packet(&expected[14 + 4 * tags..]).expect(sentence);
            let done = Some(count::COUNT_PEER_MSS_CLAMPED);
            assert_becomes(&peer, &frame(1461), &expected, done, sentence);
        }
    }

    #[test]
    fn room_is_made_only_where_segments_may_be_tagged() {
        let in_state = |state| Some(lease_in(state));
        let proved = |ways| {
            Some(source_lease {
                has_answer: 1,
                ways,
                ..lease_in(lease_state::LEASE_GRANTED)
            })
        };
        let narrow = |longest| {
            Some(source_lease {
                longest,
                ..proved(lease_way::WAY_TCP_GPE.0).unwrap_or_default()
            })
        };
        type Case = (&'static str, u32, Option<source_lease>, [u16; 2]);
        let cases: [Case; 13] = [
            ("leased", 0, in_state(lease_state::LEASE_GRANTED), [36, 36]),
            ("asking", 0, in_state(lease_state::LEASE_ASKING), [36, 36]),
            ("never asked", 0, None, [0, 0]),
            ("no sink", 0, in_state(lease_state::LEASE_NO_SINK), [0, 0]),
            ("silent", 0, in_state(lease_state::LEASE_SILENT), [0, 0]),
            ("other key", 0, in_state(lease_state::LEASE_FORGED), [0, 0]),
            ("static", watch_flag::WATCH_STATIC.0, None, [36, 36]),
            (
                "TCP in vxlan-gpe",
                0,
                proved(lease_way::WAY_TCP_GPE.0),
                [88, 108],
            ),
            (
                "TCP in extension-udp",
                0,
                proved(lease_way::WAY_TCP_EXTENSION.0),
                [44, 44],
            ),
            (
                "only UDP passes",
                0,
                proved(lease_way::WAY_UDP_GPE.0),
                [0, 0],
            ),
            ("nothing proved yet", 0, proved(0), [0, 0]),
            (
                "probes had 1400 bytes",
                0,
                narrow(1400),
                [40 + 88, 60 + 108],
            ),
            ("probes had 1480 bytes", 0, narrow(1480), [88, 108]),
        ];
        for (sentence, watch_flags, lease, rooms) in cases {
            let peer = Peer::load(&Options {
                watch_flags,
                lease,
                ..Options::default()
            });
            for (family, room) in FAMILIES.into_iter().zip(rooms) {
                let frame = |mss| syn(family, SYN, &option(mss));
                let then = 1400 - room;
                let reason = (room > 0).then_some(count::COUNT_PEER_MSS_CLAMPED);
                let sentence = format!("{sentence}, {family:?}");
                assert_becomes(&peer, &frame(1400), &frame(then), reason, &sentence);
            }
        }
    }

    #[test]
    fn a_syn_that_passes_several_programs_of_a_host_makes_room_once() {
        let load = |room, fixed_mtu, other: Option<&Peer>| {
            let options = Options {
                room,
                fixed_mtu,
                ..Options::default()
            };
            Peer::load_beside(&options, other)
        };
        let port = load(36, 1500, None);
        let bridge = load(36, 1500, Some(&port));
        let wide = load(88, 1500, Some(&port));
        let narrow = load(36, 1400, Some(&port));
        type Case<'a> = (&'static str, &'a [(&'a Peer, u16, u16)]);
        let cases: [Case; 6] = [
            (
                "a bridge behind its port",
                &[(&port, 1460, 1424), (&bridge, 1424, 1424)],
            ),
            (
                "a repeated SYN",
                &[
                    (&port, 1460, 1424),
                    (&bridge, 1424, 1424),
                    (&port, 1460, 1424),
                    (&bridge, 1424, 1424),
                ],
            ),
            (
                "one that needs more room",
                &[(&port, 1460, 1424), (&wide, 1424, 1372)],
            ),
            (
                "one that needs less room",
                &[(&wide, 1460, 1372), (&port, 1372, 1372)],
            ),
            (
                "a narrower interface",
                &[(&port, 1460, 1424), (&narrow, 1424, 1324)],
            ),
            (
                "a clamp of this host between them",
                &[(&port, 1460, 1424), (&bridge, 1300, 1264)],
            ),
        ];
        for family in FAMILIES {
            let less = family.header_len() as u16 - 20;
            for (sequence, (sentence, steps)) in cases.iter().enumerate() {
                for (peer, came, left) in *steps {
                    let frame = |mss: u16| {
                        let number = [0, sequence as u8];
                        let mut frame = syn(family, SYN, &option(mss - less));
                        frame[numbered(family)].copy_from_slice(&number);
                        frame
                    };
                    let reason = (came != left).then_some(count::COUNT_PEER_MSS_CLAMPED);
                    let sentence = format!("{sentence}: {came} to {left}, {family:?}");
                    assert_becomes(peer, &frame(*came), &frame(*left), reason, &sentence);
                }
            }
        }
    }

    #[test]
    fn the_limit_follows_room_and_mtu() {
        for (room, fixed_mtu, stated, then) in [
            (44, 1500, 1460, 1416),
            (88, 1500, 1460, 1372),
            (88, 1500, 1360, 1272),
            (36, 9000, 8960, 8924),
            (36, 9000, 1460, 1424),
            // Less than what every host takes.
            (36, 500, 1460, 536),
            // The device's: that of loopback.
            (36, 0, 65495, 65459),
        ] {
            let peer = Peer::load(&Options {
                room,
                fixed_mtu,
                ..Options::default()
            });
            let sentence = format!("room {room}, MTU {fixed_mtu}, MSS {stated}");
            let frame = |mss| syn(Family::V4, SYN, &option(mss));
            let reason = (stated != then).then_some(count::COUNT_PEER_MSS_CLAMPED);
            assert_becomes(&peer, &frame(stated), &frame(then), reason, &sentence);
        }
    }
}
