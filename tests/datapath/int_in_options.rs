//! INT in an option of a TCP segment: the source fills in the room that the stack made and changes nothing else, the sink
//! reads it and makes it no-operations.

use hostint::datapath::abi::{lease_way, sink_counter, sink_flag, source_counter};
use hostint_testing::checksum::{suit_checksum, unfinish, verify};
use hostint_testing::frame::Frame;
use hostint_testing::lease_cases::addresses;
use hostint_testing::model::{Key, layout};
use hostint_testing::packets::{tcp, tcp6};
use hostint_testing::programs::sink::{Sink, TCX_DROP, settings};
use hostint_testing::programs::source::{Hook, Options, Source, TCX_NEXT};
use hostint_testing::source_cases::assert_counted;

use crate::int_option::{EMPTY, IntOption, LEN};

const ACK: u8 = 16;
const SEQ: u32 = 0xffff_ff00;
const NODE: u32 = 7;

/// The kinds of the option, and of no-operations.
const KIND: u8 = 253;
const NOP: u8 = 1;
const TIMESTAMPS: [u8; 12] = [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2];

/// A segment whose last option is this one.
fn segment(frame: Frame, before: &[u8], option: &[u8], payload: usize) -> Frame {
    let options = [before, option].concat();
    frame
        .segment(SEQ, ACK)
        .tcp_option_bytes(options)
        .payload(payload)
}

fn option_at(frame: &[u8]) -> usize {
    let l4 = layout::find(frame).unwrap().l4;
    l4 + usize::from(frame[l4 + 12] >> 4) * 4 - LEN
}

fn key_of(frame: &[u8]) -> Key {
    let at = layout::find(frame).unwrap();
    Key::of(frame, &at, &frame[at.l4..], at.protocol)
}

fn source() -> Source {
    Source::load_asking(&Options {
        options: true,
        ..Options::default()
    })
}

fn open(source: &Source, frame: &[u8]) {
    source.set_ways(&key_of(frame), lease_way::WAY_TCP_OPTION.0);
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;
    use sink_counter as read;
    use source_counter as count;

    #[test]
    fn the_source_fills_in_the_room_and_changes_nothing_else() {
        let cases = [
            ("IPv4", tcp(), &[][..], 100),
            ("IPv6", tcp6(), &[], 100),
            ("behind timestamps", tcp(), &TIMESTAMPS, 1408),
            ("an acknowledgement", tcp6(), &TIMESTAMPS, 0),
            ("an odd length", tcp(), &TIMESTAMPS, 1),
            ("behind IPv4 options", tcp().ip_options(8), &TIMESTAMPS, 33),
            ("in a VLAN", tcp().vlan(7), &[], 10),
        ];
        let source = source();
        for (sentence, frame, before, payload) in cases {
            source.forget_flows();
            let frame = segment(frame, before, &EMPTY.bytes(KIND), payload).bytes();
            open(&source, &frame);
            for number in 1..=3 {
                let began = source.clock.now_ns() as u32;
                source.zero_counters();
                let ran = source.run(&frame);
                assert_eq!(ran.verdict, TCX_NEXT, "{sentence}");
                verify(&ran.bytes).unwrap_or_else(|wrong| panic!("{sentence}: {wrong}"));
                let at = option_at(&frame);
                let filled = IntOption::read(KIND, &ran.bytes[at..at + LEN]);
                assert!(
                    filled.time.wrapping_sub(began) < 1_000_000_000,
                    "{filled:?}"
                );
                let expected = IntOption {
                    flags: 0x81 + (filled.flags & 0x0e),
                    size: payload as u16,
                    sequence: number,
                    time: filled.time,
                    base: SEQ,
                    node: hostint_testing::programs::clock::NODE,
                };
                assert_eq!(filled.flags & 0xf0, 0x80, "{sentence}");
                assert_eq!(
                    IntOption {
                        flags: expected.flags,
                        ..filled
                    },
                    expected,
                    "{sentence}"
                );
                let mut undone = ran.bytes.clone();
                undone[at..at + LEN].copy_from_slice(&frame[at..at + LEN]);
                let check = layout::find(&frame).unwrap().l4 + 16;
                undone[check..check + 2].copy_from_slice(&frame[check..check + 2]);
                assert!(undone == frame, "{sentence}: something else changed");
            }
        }
    }

    #[test]
    fn segments_without_room_and_without_lease_leave_as_they_are() {
        let foreign = |at: usize, byte: u8| {
            let mut bytes = EMPTY.bytes(KIND);
            bytes[at] = byte;
            bytes
        };
        let filled = IntOption {
            flags: 0x80,
            ..EMPTY
        };
        let way = lease_way::WAY_TCP_OPTION.0;
        let cases = [
            ("no option", vec![], way, count::COUNT_SOURCE_NO_OPTION),
            (
                "of another kind",
                foreign(0, 254),
                way,
                count::COUNT_SOURCE_NO_OPTION,
            ),
            (
                "of another length",
                foreign(1, 20),
                way,
                count::COUNT_SOURCE_NO_OPTION,
            ),
            (
                "of another program",
                foreign(3, 0),
                way,
                count::COUNT_SOURCE_NO_OPTION,
            ),
            (
                "filled in by another host",
                filled.bytes(KIND),
                way,
                count::COUNT_SOURCE_HAS_INT,
            ),
            (
                "the sink reads tunnels alone",
                EMPTY.bytes(KIND),
                lease_way::WAY_TCP_GPE.0,
                count::COUNT_SOURCE_UNPROVED,
            ),
            (
                "nothing is proved",
                EMPTY.bytes(KIND),
                0,
                count::COUNT_SOURCE_UNPROVED,
            ),
        ];
        let source = source();
        for (sentence, option, ways, reason) in cases {
            source.forget_flows();
            let frame = segment(tcp(), &[], &option, 100).bytes();
            source.set_ways(&key_of(&frame), ways);
            source.zero_counters();
            let ran = source.run(&frame);
            assert!(ran.bytes == frame, "{sentence}");
            assert_counted(&source, &[(reason, 1, frame.len() as u64)], sentence);
        }
    }

    fn tagged(number: u32, payload: usize) -> Vec<u8> {
        let option = IntOption {
            flags: 0x81,
            size: payload as u16,
            sequence: number,
            time: 0,
            base: SEQ,
            node: NODE,
        };
        segment(tcp(), &TIMESTAMPS, &option.bytes(KIND), payload).bytes()
    }

    fn run(sink: &Sink, hook: Hook, frame: &[u8], expected: &[u8], sentence: &str) {
        let ran = match hook {
            Hook::Xdp => sink.run(frame),
            Hook::Tc => sink.run_tc(frame),
        };
        let passes = match hook {
            Hook::Xdp => hostint_testing::programs::sink::XDP_PASS,
            Hook::Tc => TCX_NEXT,
        };
        assert_eq!(ran.verdict, passes, "{sentence}");
        assert!(ran.bytes == expected, "{sentence}, {hook:?}");
    }

    /// The segment as a sink hands it on.
    fn trimmed(frame: Frame, before: &[u8], payload: usize) -> Vec<u8> {
        segment(frame, before, &[NOP; LEN], payload).bytes()
    }

    #[test]
    fn the_sink_reads_it_at_both_hooks_and_takes_it_out() {
        let plain = trimmed(tcp(), &TIMESTAMPS, 100);
        for hook in [Hook::Xdp, Hook::Tc] {
            let sink = Sink::load_both(&settings());
            let source = addresses(false).0;
            sink.set_grant(source, u64::MAX);
            for number in [1, 2, 3, 6, 7] {
                run(
                    &sink,
                    hook,
                    &tagged(number, 100),
                    &plain,
                    "it passes without",
                );
            }
            let stripped = sink.grant(source).expect("was set").stripped;
            assert_eq!(stripped, [5, 0, 0], "beside datagrams");
            let flow = sink.flow(&key_of(&tagged(1, 100))).expect("it is known");
            assert_eq!((flow.packets, flow.source_node, flow.head), (5, NODE, 7));
            assert_eq!(flow.awaited, 2, "4 and 5 are awaited");
            assert_eq!(sink.count(read::COUNT_SINK_RECEIVED), 5);
            let sent = tagged(1, 100).len() - 14 - LEN;
            assert_eq!(flow.bytes, 5 * sent as u64, "bytes without INT");
        }
    }

    #[test]
    fn what_the_sink_hands_on_is_whole() {
        let option = IntOption {
            flags: 0x81,
            size: 77,
            sequence: 9,
            time: 0xffff_0001,
            base: SEQ,
            node: NODE,
        }
        .bytes(KIND);
        let full = [1; 16];
        let cases: [(&str, Frame, &[u8]); 5] = [
            ("IPv4", tcp(), &[]),
            ("IPv6", tcp6(), &TIMESTAMPS),
            ("behind IPv4 options", tcp().ip_options(8), &TIMESTAMPS),
            ("in a VLAN", tcp().vlan(7), &TIMESTAMPS),
            ("the header is full", tcp(), &full),
        ];
        for (sentence, frame, before) in cases {
            let mut bytes = segment(frame.clone(), before, &option, 77).bytes();
            let mut plain = trimmed(frame, before, 77);
            verify(&plain).unwrap_or_else(|why| panic!("{sentence}: {why}"));
            for hook in [Hook::Xdp, Hook::Tc] {
                run(
                    &Sink::load_both(&settings()),
                    hook,
                    &bytes,
                    &plain,
                    sentence,
                );
            }
            let mut damaged = (bytes.clone(), plain.clone());
            for frame in [&mut damaged.0, &mut damaged.1] {
                *frame.last_mut().unwrap() ^= 4;
            }
            let sentence = format!("{sentence}: damage stays damage");
            for hook in [Hook::Xdp, Hook::Tc] {
                run(
                    &Sink::load_both(&settings()),
                    hook,
                    &damaged.0,
                    &damaged.1,
                    &sentence,
                );
            }
            unfinish(&mut bytes);
            unfinish(&mut plain);
            let sink = || Sink::load_both(&settings());
            run(&sink(), Hook::Xdp, &bytes, &plain, "an unfinished checksum");
            suit_checksum(&mut bytes, 1);
            let sentence = "a checksum that is finished or not";
            run(&sink(), Hook::Xdp, &bytes, &bytes, sentence);
        }
    }

    #[test]
    fn segments_of_a_superpacket_have_numbers_of_their_own() {
        let option = IntOption {
            flags: 0x81,
            size: 100,
            sequence: 10,
            time: 0,
            base: SEQ,
            node: NODE,
        };
        let piece = |offset: u32, payload: usize| {
            let frame = |option: &[u8]| {
                let frame = tcp().segment(SEQ.wrapping_add(offset), ACK);
                let frame = frame.tcp_option_bytes(option.to_vec());
                frame.payload(payload).bytes()
            };
            (frame(&option.bytes(KIND)), frame(&[NOP; LEN]))
        };
        let pass = |sink: &Sink, hook: Hook, (frame, plain): (Vec<u8>, Vec<u8>)| {
            run(sink, hook, &frame, &plain, "it passes without");
        };
        let sink = Sink::load_both(&settings());
        let flow = |sink: &Sink| sink.flow(&key_of(&piece(0, 100).0)).unwrap();
        pass(&sink, Hook::Xdp, piece(0, 100));
        pass(&sink, Hook::Xdp, piece(100, 100));
        assert_eq!((flow(&sink).packets, flow(&sink).head), (2, 11));
        // The receiver put three of them together, the last one shorter.
        pass(&sink, Hook::Tc, piece(200, 230));
        assert_eq!((flow(&sink).packets, flow(&sink).head), (5, 14));
        // Something on the path cut it anew.
        pass(&sink, Hook::Xdp, piece(550, 100));
        assert_eq!(flow(&sink).packets, 5);
        assert_eq!(sink.count(read::COUNT_SINK_BAD_SEGMENT), 1);
    }

    #[test]
    fn what_is_no_int_for_this_sink_passes() {
        let empty = segment(tcp(), &TIMESTAMPS, &EMPTY.bytes(KIND), 100).bytes();
        let strict = |flags: u32| {
            let mut set = settings();
            set.flags |= flags;
            set
        };
        let deaf = {
            let mut set = settings();
            set.flags &= !sink_flag::SINK_OPTIONS.0;
            set
        };
        let short = {
            let mut frame = tagged(1, 100);
            frame.truncate(14 + 20 + 32);
            frame
        };
        let cases = [
            ("room that no source filled in", settings(), empty, true, 0),
            (
                "a sink that does not read it",
                deaf,
                tagged(1, 100),
                true,
                0,
            ),
            ("a packet that is cut off", settings(), short, true, 0),
            (
                "a sender that is not allowed, to a strict sink",
                strict(sink_flag::SINK_STRICT.0),
                tagged(1, 100),
                false,
                1,
            ),
        ];
        for (sentence, set, frame, allowed, refused) in cases {
            for hook in [Hook::Xdp, Hook::Tc] {
                let sink = Sink::load_both(&set);
                if !allowed {
                    sink.allow_nobody();
                }
                run(&sink, hook, &frame, &frame, sentence);
                assert_eq!(sink.flows(), 0, "{sentence}, {hook:?}");
                assert_eq!(sink.count(read::COUNT_SINK_RECEIVED), 0, "{sentence}");
                assert_eq!(
                    sink.count(read::COUNT_SINK_NOT_ALLOWED),
                    refused,
                    "{sentence}"
                );
            }
        }
        // The test option drops these, too.
        let sink = Sink::load_both(&strict(sink_flag::SINK_DROP_TAGGED.0));
        assert_eq!(sink.run_tc(&tagged(1, 100)).verdict, TCX_DROP);
    }
}
