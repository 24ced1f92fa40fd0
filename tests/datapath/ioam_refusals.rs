//! The sink leaves hop-by-hop options alone that are not IOAM as a source draws it, whatever bit routers or others changed, and
//! counts those with hostint's mark.

use hostint::datapath::abi::{sink_counter, sink_flag};
use hostint_testing::model::ioam::{self, Read};
use hostint_testing::packets::udp6;
use hostint_testing::programs::sink::{Sink, settings};
use hostint_testing::programs::source::Hook;
use hostint_testing::random::{Random, env_number};

use crate::ioam::{entry, header, l3_of, run, sink};

const HOOKS: [Hook; 2] = [Hook::Xdp, Hook::Tc];
const ROOM: usize = 4;

/// Where the header begins behind Ethernet and IPv6.
const AT: usize = 14 + 40;

fn wrapped() -> Vec<u8> {
    ioam::wrap(&udp6().payload(100).bytes(), &header(ROOM, 1))
}

/// The packet is left as it is, and counted by this reason alone.
fn assert_refused(sink: &Sink, frame: &[u8], reason: sink_counter, sentence: &str) {
    for hook in HOOKS {
        sink.zero_counters();
        assert_eq!(run(sink, hook, frame).bytes, frame, "{sentence}, {hook:?}");
        assert_eq!(sink.count(reason), 1, "{sentence}, {hook:?}");
        assert_eq!(counted(sink), 1, "{sentence}, {hook:?}");
    }
}

/// The packet comes out as it was sent; is it one that found no room for an entry?
fn assert_taken(sink: &Sink, frame: &[u8], sent: &[u8], is_full: bool, sentence: &str) {
    for hook in HOOKS {
        sink.zero_counters();
        assert_eq!(run(sink, hook, frame).bytes, sent, "{sentence}, {hook:?}");
        let counts = [
            sink_counter::COUNT_SINK_RECEIVED,
            sink_counter::COUNT_SINK_TRACE_FULL,
        ];
        let counts = counts.map(|counter| sink.count(counter));
        assert_eq!(counts, [1, is_full.into()], "{sentence}, {hook:?}");
    }
}

/// The packet is left as it is, and is nobody's business.
fn assert_foreign(sink: &Sink, frame: &[u8], sentence: &str) {
    for hook in HOOKS {
        sink.zero_counters();
        assert_eq!(run(sink, hook, frame).bytes, frame, "{sentence}, {hook:?}");
        assert_eq!(counted(sink), 0, "{sentence}, {hook:?}");
    }
}

/// What all counters have of packets.
fn counted(sink: &Sink) -> u64 {
    sink.counters().iter().map(|(packets, _)| packets).sum()
}

/// Is the packet treated as the model says?
fn assert_as_model(sink: &Sink, hook: Hook, frame: &[u8], sent: &[u8], sentence: &str) {
    sink.zero_counters();
    let read = ioam::read(&frame[AT..]);
    let expected = match read {
        Read::Taken { .. } => sent,
        Read::Foreign | Read::Refused => frame,
    };
    assert_eq!(
        run(sink, hook, frame).bytes,
        expected,
        "{sentence}: {read:?}"
    );
    let stripped = sink.count(sink_counter::COUNT_SINK_RECEIVED);
    let full = sink.count(sink_counter::COUNT_SINK_TRACE_FULL);
    match read {
        Read::Foreign => assert_eq!(counted(sink), 0, "{sentence}"),
        Read::Refused => assert_eq!((counted(sink), stripped), (1, 0), "{sentence}"),
        Read::Taken { is_full } => assert_eq!([stripped, full], [1, is_full.into()], "{sentence}"),
    }
}

/// UDP over IPv6 behind these bytes of hop-by-hop options of others.
fn behind(options: &[u8]) -> Vec<u8> {
    let mut bytes = udp6().payload(100).bytes();
    let mut all = vec![17, 0];
    all.extend(options);
    while all.len() % 8 != 0 {
        all.push(0); // Pad1
    }
    all[1] = (all.len() / 8 - 1) as u8;
    let payload = u16::from_be_bytes([bytes[18], bytes[19]]) + all.len() as u16;
    bytes[18..20].copy_from_slice(&payload.to_be_bytes());
    bytes[20] = 0;
    bytes.splice(AT..AT, all);
    bytes
}

/// IOAM's trace option of others in this namespace, with one entry that a router filled in.
fn trace(kind: u8, namespace: u16, bits: u32, entry: &[u8]) -> Vec<u8> {
    let mut option = vec![1, 0, 0x31, 10 + entry.len() as u8, 0, kind];
    option.extend(namespace.to_be_bytes());
    option.extend((((entry.len() / 4) as u16) << 11).to_be_bytes());
    option.extend((bits << 8).to_be_bytes());
    option.extend(entry);
    option
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;
    use sink_counter as count;

    #[test]
    fn flags_of_the_trace_are_ignored_but_for_that_of_a_full_one() {
        let sink = sink();
        for filled in 0..=ROOM {
            for (name, flags) in [
                ("none", 0),
                ("overflow", 0x400),
                ("loopback", 0x200),
                ("active", 0x100),
                ("the one without a meaning", 0x80),
                ("all", 0x780),
            ] {
                let mut frame = wrapped();
                let mut sent = udp6().payload(100).bytes();
                for node in 1..=filled as u32 {
                    ioam::fill(&mut frame, 14, &entry(node));
                }
                sent[14 + 7] -= filled as u8;
                let words = u16::from_be_bytes([frame[AT + 54], frame[AT + 55]]) | flags;
                frame[AT + 54..AT + 56].copy_from_slice(&words.to_be_bytes());
                let sentence = format!("{filled} filled in, flags: {name}");
                assert_taken(&sink, &frame, &sent, flags & 0x400 != 0, &sentence);
            }
        }
    }

    #[test]
    fn a_trace_of_other_items_is_left_alone() {
        let sink = sink();
        let all = [
            "hop limit and node",
            "ports",
            "seconds",
            "fraction",
            "transit delay",
            "namespace's own data",
            "queue",
            "checksum complement",
            "hop limit and node, wide",
            "ports, wide",
            "namespace's own data, wide",
            "buffer occupancy",
        ];
        for bit in 0..32 {
            let name = match bit {
                22 => "opaque state snapshot",
                23 => "the bit for more bits",
                24.. => "reserved",
                _ => all.get(bit).unwrap_or(&"without a meaning"),
            };
            let mut frame = wrapped();
            frame[AT + 56 + bit / 8] ^= 0x80 >> (bit % 8);
            let sentence = format!("bit {bit}: {name}");
            assert_refused(&sink, &frame, count::COUNT_SINK_BAD_BITMAP, &sentence);
        }
    }

    #[test]
    fn entries_of_another_length_are_left_alone() {
        let sink = sink();
        for words in (0..32).filter(|words| *words != 5) {
            let mut frame = wrapped();
            frame[AT + 54] = words << 3 | frame[AT + 54] & 7;
            let sentence = format!("entries of {words} words");
            assert_refused(&sink, &frame, count::COUNT_SINK_BAD_BITMAP, &sentence);
        }
        let sent = udp6().payload(100).bytes();
        for left in 0..128 {
            let mut frame = wrapped();
            frame[AT + 55] = left;
            let sentence = format!("{left} words left of {}", ROOM * 5);
            match left % 5 == 0 && usize::from(left) <= ROOM * 5 {
                true => assert_taken(&sink, &frame, &sent, false, &sentence),
                false => assert_refused(&sink, &frame, count::COUNT_SINK_BAD_SHIM, &sentence),
            }
        }
    }

    #[test]
    fn other_namespaces_and_kinds_are_left_alone() {
        let sink = sink();
        let cases = [
            ("the trace in the default namespace", 52, [0, 0]),
            ("the trace in one of others", 52, [0x48, 0x48]),
            ("the other option in the default namespace", 32, [0, 0]),
            ("the other option in one of others", 32, [0x49, 0x48]),
        ];
        for (name, place, namespace) in cases {
            let mut frame = wrapped();
            frame[AT + place..AT + place + 2].copy_from_slice(&namespace);
            assert_refused(&sink, &frame, count::COUNT_SINK_BAD_SHIM, name);
        }
        for (name, kind) in [
            ("incremental trace", 1),
            ("proof of transit", 2),
            ("edge to edge", 3),
            ("direct export", 4),
            ("no known kind", 64),
        ] {
            let mut frame = wrapped();
            frame[AT + 51] = kind;
            assert_refused(&sink, &frame, count::COUNT_SINK_BAD_SHIM, name);
        }
    }

    #[test]
    fn options_of_others_are_not_even_counted() {
        let sink = sink();
        let snapshot = [&[0xff; 20][..], &[1, 0, 0, 7], &[9; 4]].concat();
        for (name, frame) in [
            ("a router alert", behind(&[5, 2, 0, 0])),
            ("padding alone", behind(&[1, 4, 0, 0, 0, 0])),
            (
                "IOAM as Linux begins it",
                behind(&trace(0, 0, 0xf2_0000, &[7; 20])),
            ),
            (
                "IOAM in hostint's namespace",
                behind(&trace(0, 0x4849, 0xf2_0000, &[7; 20])),
            ),
            (
                "with an opaque state snapshot",
                behind(&trace(0, 0x4849, 0xf2_0002, &snapshot)),
            ),
            (
                "an incremental trace",
                behind(&trace(1, 1, 0xff_f000, &[7; 72])),
            ),
            ("another experiment", behind(&[0x1e, 2, b'h', b'o'])),
            (
                "hostint's option elsewhere",
                behind(&[&[0x1e, 22, b'h', b'i'][..], &[0; 20]].concat()),
            ),
        ] {
            assert_foreign(&sink, &frame, name);
        }
    }

    #[test]
    fn malformed_options_are_counted_and_left_alone() {
        use sink_counter as refused;
        let sink = sink();
        let bytes = udp6().bytes();
        let at = l3_of(&bytes) + 40;
        let cases: [(&str, usize, u8, sink_counter); 14] = [
            ("longer header", 1, 18, refused::COUNT_SINK_BAD_SHIM),
            ("other padding", 2, 0, refused::COUNT_SINK_BAD_SHIM),
            ("own option shorter", 5, 21, refused::COUNT_SINK_BAD_SHIM),
            ("other version", 8, 1, refused::COUNT_SINK_BAD_VERSION),
            ("unknown flag", 9, 0x10, refused::COUNT_SINK_BAD_VERSION),
            (
                "no end-to-end option",
                28,
                0x11,
                refused::COUNT_SINK_BAD_SHIM,
            ),
            ("its length", 29, 17, refused::COUNT_SINK_BAD_SHIM),
            ("its kind", 31, 1, refused::COUNT_SINK_BAD_SHIM),
            ("its bits", 34, 0x71, refused::COUNT_SINK_BAD_BITMAP),
            ("other namespace", 52, 0, refused::COUNT_SINK_BAD_SHIM),
            (
                "words of an entry",
                54,
                4 << 3,
                refused::COUNT_SINK_BAD_BITMAP,
            ),
            (
                "more words free than there are",
                55,
                21,
                refused::COUNT_SINK_BAD_SHIM,
            ),
            (
                "bits of the trace",
                56,
                0xf3,
                refused::COUNT_SINK_BAD_BITMAP,
            ),
            (
                "another header follows",
                0,
                60,
                refused::COUNT_SINK_BAD_PROTOCOL,
            ),
        ];
        for hook in [Hook::Xdp, Hook::Tc] {
            for (name, place, value, reason) in cases {
                let mut wrapped = ioam::wrap(&bytes, &header(4, 1));
                wrapped[at + place] = value;
                sink.zero_counters();
                let ran = run(&sink, hook, &wrapped);
                assert_eq!(ran.bytes, wrapped, "{name}, {hook:?}");
                assert_eq!(sink.count(reason), 1, "{name}, {hook:?}");
                assert_eq!(sink.count(refused::COUNT_SINK_RECEIVED), 0, "{name}");
            }
            // Hosts that do not read IOAM count nothing.
            sink.zero_counters();
            let mut without = settings();
            without.flags &= !sink_flag::SINK_IOAM.0;
            sink.set(&without);
            let ours = ioam::wrap(&bytes, &header(4, 1));
            assert_eq!(run(&sink, hook, &ours).bytes, ours);
            assert_eq!(counted(&sink), 0);
            sink.set(&settings());
        }
    }

    #[test]
    fn each_value_of_each_byte_is_taken_or_refused_as_the_model_says() {
        let sink = sink();
        let sent = udp6().payload(100).bytes();
        for place in 0..ioam::HEAD {
            for value in 0..=u8::MAX {
                let mut frame = wrapped();
                frame[AT + place] = value;
                // The next header says what the packet is, which these bytes are not.
                if place == 0 && value == 6 {
                    continue;
                }
                for hook in HOOKS {
                    let sentence = format!("byte {place} is {value:#x}, {hook:?}");
                    assert_as_model(&sink, hook, &frame, &sent, &sentence);
                }
            }
            sink.forget_flows();
        }
    }

    #[test]
    fn any_damage_is_taken_or_refused_as_the_model_says() {
        let (mut random, seed) = Random::from_env();
        let sink = sink();
        let sent = udp6().payload(100).bytes();
        for number in 0..env_number("HOSTINT_TEST_FRAMES", 5_000) {
            let room = random.below(9);
            let mut frame = ioam::wrap(&sent, &header(room, 1));
            for _ in 0..1 + random.below(4) {
                let place = 1 + random.below(ioam::len(room) - 1);
                // Bits near those that are known are likelier to be taken.
                frame[AT + place] ^= match random.one_in(2) {
                    true => 1 << random.below(8),
                    false => random.u8(),
                };
            }
            let hook = random.pick(&HOOKS);
            let sentence = format!("seed {seed}, frame {number}, {hook:?}, room for {room}");
            assert_as_model(&sink, hook, &frame, &sent, &sentence);
            if number % 100 == 0 {
                sink.forget_flows();
            }
        }
    }

    #[test]
    fn packets_that_end_too_soon_are_left_alone() {
        let sink = sink();
        let wrapped = ioam::wrap(&udp6().payload(0).bytes(), &header(4, 1));
        for len in 54..wrapped.len() {
            let cut = &wrapped[..len];
            for hook in [Hook::Xdp, Hook::Tc] {
                assert_eq!(run(&sink, hook, cut).bytes, cut, "{len} bytes, {hook:?}");
            }
        }
        assert_eq!(sink.count(sink_counter::COUNT_SINK_RECEIVED), 0);
    }
}
