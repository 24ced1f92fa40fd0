//! The source leaves room for the entries of transit hops where the sink reads them, and nowhere else.

use hostint::datapath::abi::{
    lease_state, lease_way, peer_counter, sink_counter, source_counter, source_lease,
};
use hostint_testing::checksum::{be16, put16};
use hostint_testing::frame::{Frame, TCP, UDP};
use hostint_testing::icmp::{
    Carrier, FAMILIES, Family, Host, Ip, Kind, added_len, error, ethernet, tagged, translated,
};
use hostint_testing::int_block::FLAG_BUDGET;
use hostint_testing::model::Encapsulation::{self, ExtensionUdp, IntMd, OverTcpUdp, VxlanGpe};
use hostint_testing::model::layout;
use hostint_testing::model::transit::{Entry, push};
use hostint_testing::packets::{tcp, tcp6, udp, udp6};
use hostint_testing::peer_cases::assert_becomes;
use hostint_testing::programs::peer::{Options as PeerOptions, Peer, lease_in};
use hostint_testing::programs::sink::{Sink, settings};
use hostint_testing::programs::source::{Hook, Options, Source};
use hostint_testing::source_cases::{assert_counted, assert_tagged, run};
use hostint_testing::transit_cases::{STACK, lease_anew};

const MTU: usize = 1_500;

const HOOKS: [(Encapsulation, Hook); 5] = [
    (OverTcpUdp, Hook::Tc),
    (ExtensionUdp, Hook::Tc),
    (ExtensionUdp, Hook::Xdp),
    (VxlanGpe, Hook::Tc),
    (IntMd, Hook::Tc),
];

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;

    /// A source that wants this number of hops. Its destinations need a lease.
    fn source(encapsulation: Encapsulation, max_hops: u32, atomics: bool) -> Source {
        source_of(encapsulation, max_hops, atomics, false)
    }

    /// Entries of transit hops may have no queue.
    fn source_of(
        encapsulation: Encapsulation,
        max_hops: u32,
        atomics: bool,
        without_queue: bool,
    ) -> Source {
        Source::load_asking(&Options {
            encapsulation,
            max_hops,
            without_queue,
            fixed_mtu: MTU as u32,
            atomics,
            ..Options::default()
        })
    }

    /// Packets that take this form with a lease that has proved all ways: no TCP goes in int-md.
    fn frames(encapsulation: Encapsulation) -> Vec<Frame> {
        let mut frames = vec![udp(), udp6()];
        if encapsulation != IntMd {
            frames.extend([tcp().segment(9, 2), tcp6().segment(9, 2)]);
        }
        frames
    }

    fn ip_len(frame: &[u8]) -> usize {
        layout::find(frame).expect("an IP packet").ip_len
    }

    /// The frame with the longest payload that still fits with this number of bytes more.
    fn filled(frame: &Frame, more: usize) -> Frame {
        let empty = ip_len(&frame.clone().payload(0).bytes());
        frame.clone().payload(MTU - more - empty)
    }

    #[test]
    fn a_packet_is_tagged_if_all_hops_have_room() {
        for (encapsulation, hook) in HOOKS {
            // The program with locks takes its numbers in another way, and has the same room.
            for (atomics, without_queue, some) in [
                (true, false, 0..=8u8),
                (false, false, 8..=8),
                (true, true, 0..=8),
                (false, true, 8..=8),
            ] {
                for hops in some {
                    let mut source = source_of(encapsulation, hops.into(), atomics, without_queue);
                    for frame in frames(encapsulation) {
                        let queue = if without_queue { "without" } else { "with" };
                        let sentence =
                            format!("{encapsulation:?} at {hook:?}, {hops} hops {queue} queue");
                        let base = if frame.bytes()[12] == 0x86 { 40 } else { 20 };
                        source.model.budget = (hops > 0).then_some(hops);
                        source.model.encapsulation = encapsulation;
                        lease_anew(&source, &frame.bytes(), STACK);
                        let room = encapsulation.added(base)
                            + encapsulation.hops_room(hops.into(), without_queue);
                        let fits = filled(&frame, room);
                        assert_tagged(&source, hook, &fits, &sentence);
                        let longer = filled(&frame, room - 1);
                        let bytes = longer.bytes();
                        source.zero_counters();
                        let ran = run(&source, hook, &bytes);
                        assert_eq!(ran.bytes, bytes, "{sentence}: a byte more");
                        let long = source_counter::COUNT_SOURCE_TOO_LONG;
                        let len = bytes.len() as u64;
                        assert_counted(&source, &[(long, 1, len)], &sentence);
                    }
                }
            }
        }
    }

    #[test]
    fn hops_fill_the_room_and_the_sink_gives_it_back() {
        let sink = Sink::load(&settings());
        for (encapsulation, hook) in HOOKS {
            for (hops, without_queue) in (1..=8u8).flat_map(|hops| [(hops, false), (hops, true)]) {
                let source = source_of(encapsulation, hops.into(), true, without_queue);
                for frame in frames(encapsulation) {
                    lease_anew(&source, &frame.bytes(), STACK);
                    let base = if frame.bytes()[12] == 0x86 { 40 } else { 20 };
                    let room = encapsulation.added(base)
                        + encapsulation.hops_room(hops.into(), without_queue);
                    let frame = filled(&frame, room);
                    let mut wire = run(&source, hook, &frame.bytes()).bytes;
                    for node in 1..=u32::from(hops) {
                        let entry = Entry {
                            node,
                            ..Entry::default()
                        };
                        wire = push(&wire, encapsulation, &entry);
                    }
                    let sentence = format!("{encapsulation:?} at {hook:?}, {hops} hops");
                    assert_eq!(ip_len(&wire), MTU, "{sentence}: the room is filled");
                    let at = layout::find(&wire).expect("an IP packet");
                    match encapsulation {
                        VxlanGpe => {
                            assert_eq!(wire[at.l4 + 8 + 15], 0, "{sentence}: no hop is left");
                        }
                        IntMd => {
                            assert_eq!(wire[at.l4 + 8 + 7], 0, "{sentence}: no hop is left");
                        }
                        OverTcpUdp | ExtensionUdp => {
                            let tcp = encapsulation == OverTcpUdp && at.protocol == TCP;
                            let block = at.l4 + if tcp { 20 } else { 8 };
                            let words = (wire[block + 6], wire[block + 7]);
                            assert_eq!(words, (1 + hops, 1 + hops), "{sentence}");
                        }
                    }
                    let ran = sink.run(&wire);
                    assert_eq!(ran.bytes, frame.bytes(), "{sentence}: as it was sent");
                }
            }
        }
        let refused = sink.count(sink_counter::COUNT_SINK_BAD_LENGTH);
        assert_eq!(refused, 0, "all were stripped");
    }

    #[test]
    fn no_more_hops_may_push_than_the_sink_reads() {
        for (encapsulation, hook) in HOOKS {
            let mut source = source(encapsulation, 8, true);
            let frame = udp();
            for (stack, budget, sentence) in [
                (9, Some(8), "a sink of this version"),
                (4, Some(3), "one that reads three hops"),
                (1, Some(0), "one that reads none, but tolerates the word"),
                (0, None, "one of 0.1.0"),
                (9, Some(8), "it was upgraded"),
            ] {
                lease_anew(&source, &frame.bytes(), stack);
                source.model.encapsulation = encapsulation;
                source.model.budget = budget;
                assert_tagged(&source, hook, &frame, sentence);
            }
        }
    }

    #[test]
    fn entries_without_a_queue_need_a_sink_that_says_that_it_reads_them() {
        for (encapsulation, hook) in HOOKS {
            let mut source = source_of(encapsulation, 8, true, true);
            let frame = udp();
            for (items, budget, sentence) in [
                (1, Some(8), "a sink of this version"),
                (0, None, "one that reads the usual items only"),
                (1, Some(8), "it was upgraded"),
            ] {
                lease_anew(&source, &frame.bytes(), STACK);
                let key = source.model.look(&frame.bytes()).expect("may be tagged");
                let lease = source.lease(&key).expect("it was written");
                source.write_lease(&key, &source_lease { items, ..lease });
                source.model.encapsulation = encapsulation;
                source.model.budget = budget;
                assert_tagged(&source, hook, &frame, sentence);
            }
        }
    }

    #[test]
    fn no_hop_pushes_entries_without_a_queue_on_the_way_to_static_destinations() {
        for encapsulation in Encapsulation::ALL {
            let source = Source::load(&Options {
                encapsulation,
                max_hops: 8,
                without_queue: true,
                ..Options::default()
            });
            assert_tagged(&source, Hook::Tc, &udp(), "a static destination");
        }
    }

    #[test]
    fn only_int_md_to_static_destinations_has_a_budget() {
        for encapsulation in Encapsulation::ALL {
            let source = Source::load(&Options {
                encapsulation,
                max_hops: 8,
                ..Options::default()
            });
            assert_tagged(&source, Hook::Tc, &udp(), "a static destination");
        }
    }

    #[test]
    fn the_mss_leaves_room_for_the_hops_that_the_sink_reads() {
        let proved = |ways: lease_way, stack| source_lease {
            has_answer: 1,
            ways: ways.0,
            stack,
            ..lease_in(lease_state::LEASE_GRANTED)
        };
        let reads_items = |ways| source_lease {
            items: 1,
            ..proved(ways, STACK)
        };
        let usual = [
            (
                "vxlan-gpe",
                4,
                proved(lease_way::WAY_TCP_GPE, STACK),
                [88 + 100, 108 + 100],
            ),
            (
                "extension-udp",
                4,
                proved(lease_way::WAY_TCP_EXTENSION, STACK),
                [44 + 64, 44 + 64],
            ),
            (
                "over-tcp-udp",
                8,
                proved(lease_way::WAY_TCP_OVER, STACK),
                [36 + 128, 36 + 128],
            ),
            (
                "a sink that reads fewer",
                8,
                proved(lease_way::WAY_TCP_GPE, 3),
                [88 + 52, 108 + 52],
            ),
            (
                "a sink that reads none",
                8,
                proved(lease_way::WAY_TCP_GPE, 0),
                [88, 108],
            ),
            (
                "a source that wants none",
                0,
                proved(lease_way::WAY_TCP_GPE, STACK),
                [88, 108],
            ),
            (
                "a sink of version 1",
                8,
                lease_in(lease_state::LEASE_GRANTED),
                [36, 36],
            ),
            (
                "a sink that is being asked",
                2,
                lease_in(lease_state::LEASE_ASKING),
                [36 + 52, 36 + 52],
            ),
        ];
        for (sentence, max_hops, lease, rooms) in usual {
            let peer = Peer::load(&PeerOptions {
                max_hops,
                lease: Some(lease),
                ..PeerOptions::default()
            });
            assert_clamped(&peer, rooms, sentence);
        }
        let without_queue = [
            (
                "vxlan-gpe without queues",
                4,
                reads_items(lease_way::WAY_TCP_GPE),
                [88 + 80, 108 + 80],
            ),
            (
                "extension-udp, whose entries never have one",
                4,
                reads_items(lease_way::WAY_TCP_EXTENSION),
                [44 + 64, 44 + 64],
            ),
            (
                "a sink that reads the usual items only",
                8,
                proved(lease_way::WAY_TCP_GPE, STACK),
                [88, 108],
            ),
            (
                "a sink that is being asked, without queues",
                2,
                lease_in(lease_state::LEASE_ASKING),
                [36 + 40, 36 + 40],
            ),
        ];
        for (sentence, max_hops, lease, rooms) in without_queue {
            let peer = Peer::load(&PeerOptions {
                max_hops,
                without_queue: true,
                lease: Some(lease),
                ..PeerOptions::default()
            });
            assert_clamped(&peer, rooms, sentence);
        }
    }

    /// The MSS of answers is less by these bytes, over IPv4 and over IPv6.
    fn assert_clamped(peer: &Peer, rooms: [u16; 2], sentence: &str) {
        for (family, room) in FAMILIES.into_iter().zip(rooms) {
            let frame = |mss: u16| {
                let [high, low] = mss.to_be_bytes();
                let ip = Ip::new(family, Host::Watched, Host::Source, TCP);
                let segment = ip.l4(2, &[2, 4, high, low], &[]);
                ethernet(0, &ip.around(&segment))
            };
            let done = Some(peer_counter::COUNT_PEER_MSS_CLAMPED);
            let sentence = format!("{sentence}, {family:?}");
            assert_becomes(peer, &frame(1440), &frame(1440 - room), done, &sentence);
        }
    }

    /// The frame in INT-MD as if the source had asked for no queue.
    fn without_queue(mut frame: Vec<u8>, head: usize) -> Vec<u8> {
        frame.drain(head + 28..head + 32);
        (frame[head + 1], frame[head + 6], frame[head + 8]) = (10, 5, 0xe8);
        let len_at = if frame[14] >> 4 == 4 { 16 } else { 18 };
        let len = be16(&frame, len_at) - 4;
        put16(&mut frame, len_at, len);
        frame
    }

    #[test]
    fn the_path_mtu_leaves_room_for_hops_behind_the_error() {
        let peer = Peer::load(&PeerOptions {
            max_hops: 4,
            ..PeerOptions::default()
        });
        for family in FAMILIES {
            for (carrier, encapsulation, entry_len, budget_at, brief) in [
                (Carrier::OverTcpUdp, OverTcpUdp, 16, 6, false),
                (Carrier::ExtensionUdp, ExtensionUdp, 16, 6, false),
                (Carrier::VxlanGpe, VxlanGpe, 20, 15, false),
                (Carrier::IntMd, IntMd, 24, 7, false),
                (Carrier::IntMd, IntMd, 20, 7, true),
            ] {
                for protocol in [TCP, UDP] {
                    let mut quote = ethernet(0, &tagged(carrier, family, protocol));
                    let header = if family == Family::V4 { 20 } else { 40 };
                    let tcp = !carrier.is_tunnel() && protocol == TCP;
                    let block = 14 + header + if tcp { 20 } else { 8 };
                    let is_v05 = matches!(carrier, Carrier::OverTcpUdp | Carrier::ExtensionUdp);
                    if brief {
                        quote = without_queue(quote, block);
                    }
                    quote[block + budget_at] = if is_v05 { 5 } else { 4 };
                    if is_v05 {
                        quote[block + 1] |= FLAG_BUDGET;
                    }
                    for pushed in 0..=4 {
                        let frame = error(family, Kind::TooBig(1800), &quote[14..]);
                        let then = match carrier {
                            // Its L4 header stands where the original's does.
                            Carrier::OverTcpUdp | Carrier::IntMd => quote[14..].to_vec(),
                            _ => translated(&quote[14..], family, protocol),
                        };
                        let less = if brief { 4 } else { 0 };
                        let added = added_len(carrier, family) - less + 4 * entry_len;
                        let expected = error(family, Kind::TooBig(1800 - added), &then);
                        let sentence = format!("{pushed} of 4 hops, {family:?}, {carrier:?}");
                        let done = Some(peer_counter::COUNT_PEER_ICMP_TRANSLATED);
                        assert_becomes(&peer, &frame, &expected, done, &sentence);
                        quote = push(&quote, encapsulation, &Entry::default());
                    }
                }
            }
        }
    }
}
