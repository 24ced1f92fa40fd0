//! INT in an option behind a datagram's data: the source changes nothing of the datagram, the sink reads the option and
//! cuts it off, and checksums hold whichever length they count.

use hostint::datapath::abi::{lease_way, sink_counter, source_counter};
use hostint_testing::checksum::{be16, put16, suit_checksum, sum, unfinish, verify};
use hostint_testing::frame::Frame;
use hostint_testing::lease_cases::addresses;
use hostint_testing::model::{Key, layout};
use hostint_testing::packets::{udp, udp6};
use hostint_testing::programs::clock::NODE;
use hostint_testing::programs::sink::{Sink, TCX_DROP, XDP_PASS, settings};
use hostint_testing::programs::source::{Hook, Options, Source, TCX_NEXT};
use hostint_testing::source_cases::assert_counted;

use crate::int_option::{IntOption, LEN};

/// The kind of the option in UDP.
const KIND: u8 = 127;
/// Bytes of the option and of its checksum.
const AREA: usize = 26;

fn key_of(frame: &[u8]) -> Key {
    let at = layout::find(frame).unwrap();
    Key::of(frame, &at, &frame[at.l4..], at.protocol)
}

fn source(fixed_mtu: u32) -> Source {
    Source::load_asking(&Options {
        options: true,
        fixed_mtu,
        ..Options::default()
    })
}

/// What the source made of a datagram.
struct Taken {
    datagram: Vec<u8>,
    option: IntOption,
    area: usize,
}

/// Takes the area of options off, and the length of the IP packet back.
fn take(frame: &[u8]) -> Taken {
    let at = layout::find(frame).unwrap();
    let end = at.l3 + at.ip_len;
    assert_eq!(frame.len(), end, "nothing follows the IP packet");
    let udp_len = usize::from(be16(frame, at.l4 + 4));
    let area = end - at.l4 - udp_len;
    let mut datagram = frame[..end - area].to_vec();
    let option = IntOption::read(KIND, &frame[end - LEN..]);
    if area > AREA {
        assert_eq!(frame[at.l4 + udp_len], 0, "the byte in front of it is 0");
    }
    if at.v6 {
        let len = be16(frame, at.l3 + 4) - area as u16;
        put16(&mut datagram, at.l3 + 4, len);
    } else {
        put16(&mut datagram, at.l3 + 2, (at.ip_len - area) as u16);
        put16(&mut datagram, at.l3 + 10, 0);
        let header = sum(&datagram[at.l3..at.l3 + at.header_len()]);
        put16(&mut datagram, at.l3 + 10, 0xffff - header as u16);
    }
    Taken {
        datagram,
        option,
        area,
    }
}

/// A datagram as a source sends it.
fn tagged(frame: &Frame, number: u32) -> Vec<u8> {
    let plain = frame.clone().bytes();
    let at = layout::find(&plain).unwrap();
    let udp_len = plain.len() - at.l4;
    let option = IntOption {
        flags: 0x81,
        size: (udp_len - 8) as u16,
        sequence: number,
        time: 0,
        base: 0,
        node: NODE + 1,
    };
    let padding = vec![0; udp_len % 2];
    let area = (padding.len() + AREA) as u64;
    let check = !((sum(&option.bytes(KIND)) + area) % 65535) as u16;
    let mut bytes = [
        plain.clone(),
        padding,
        check.to_be_bytes().to_vec(),
        option.bytes(KIND),
    ]
    .concat();
    if at.v6 {
        let len = be16(&plain, at.l3 + 4) + area as u16;
        put16(&mut bytes, at.l3 + 4, len);
    } else {
        put16(&mut bytes, at.l3 + 2, (at.ip_len as u64 + area) as u16);
        put16(&mut bytes, at.l3 + 10, 0);
        let header = sum(&bytes[at.l3..at.l3 + at.header_len()]);
        put16(&mut bytes, at.l3 + 10, 0xffff - header as u16);
    }
    bytes
}

fn frames() -> [(&'static str, Frame); 9] {
    [
        ("IPv4", udp().payload(100)),
        ("IPv4, an odd length", udp().payload(101)),
        ("IPv6", udp6().payload(100)),
        ("IPv6, an odd length", udp6().payload(33)),
        ("no data", udp().payload(0)),
        ("a byte", udp6().payload(1)),
        ("behind IPv4 options", udp().ip_options(8).payload(47)),
        ("in a VLAN", udp().vlan(7).payload(60)),
        ("without checksum", udp().without_udp_checksum().payload(80)),
    ]
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;
    use sink_counter as read;
    use source_counter as count;

    #[test]
    fn the_datagram_stays_as_it_is_and_an_option_follows() {
        let source = source(0);
        for (sentence, frame) in frames() {
            source.forget_flows();
            let frame = frame.bytes();
            source.set_ways(&key_of(&frame), lease_way::WAY_UDP_OPTION.0);
            for number in 1..=3 {
                let began = source.clock.now_ns() as u32;
                source.zero_counters();
                let ran = source.run_lengthened(&frame);
                assert_eq!(ran.verdict, TCX_NEXT, "{sentence}");
                // What counts the whole packet, and what counts the datagram alone, find the checksum right.
                verify(&ran.bytes).unwrap_or_else(|wrong| panic!("{sentence}: {wrong}"));
                let taken = take(&ran.bytes);
                assert!(taken.datagram == frame, "{sentence}: the datagram changed");
                assert_eq!(taken.area, AREA + frame.len() % 2, "{sentence}");
                let time = taken.option.time;
                assert!(time.wrapping_sub(began) < 1_000_000_000, "{sentence}");
                let at = layout::find(&frame).unwrap();
                let expected = IntOption {
                    flags: taken.option.flags,
                    size: (frame.len() - at.l4 - 8) as u16,
                    sequence: number,
                    time,
                    base: 0,
                    node: NODE,
                };
                assert_eq!(taken.option, expected, "{sentence}");
                assert_eq!(taken.option.flags & 0xf0, 0x80, "{sentence}");
                let bytes = frame.len() as u64;
                let tagged = (count::COUNT_SOURCE_TAGGED, 1, bytes);
                let begun = (count::COUNT_SOURCE_FLOW_NEW, 1, 0);
                let counted = [tagged, begun];
                assert_counted(&source, &counted[..2 - usize::from(number > 1)], sentence);
                let lease = source.lease(&key_of(&frame)).expect(sentence);
                assert!(lease.tagged[1] > 0, "{sentence}: beside segments");
                assert_eq!((lease.tagged[0], lease.tagged[2]), (0, 0), "{sentence}");
            }
        }
    }

    #[test]
    fn datagrams_that_take_no_option_leave_as_they_are() {
        let way = lease_way::WAY_UDP_OPTION.0;
        let options_of_its_own = || udp().payload(100).udp_len(80);
        let cases = [
            (
                "nothing is proved of datagrams",
                udp().payload(100),
                lease_way::WAY_TCP_OPTION.0,
                count::COUNT_SOURCE_UNPROVED,
            ),
            (
                "the sink reads tunnels alone",
                udp6().payload(100),
                lease_way::WAY_UDP_GPE.0,
                count::COUNT_SOURCE_UNPROVED,
            ),
            (
                "it would be too long",
                udp().payload(453),
                way,
                count::COUNT_SOURCE_TOO_LONG,
            ),
            (
                "a router may fragment it",
                udp().dont_fragment(false).payload(460),
                way,
                count::COUNT_SOURCE_TOO_LONG,
            ),
            (
                "something follows the IP packet",
                udp().payload(10).padding(8),
                way,
                count::COUNT_SOURCE_NO_OPTION,
            ),
            (
                "it has options",
                options_of_its_own(),
                way,
                count::COUNT_SOURCE_MALFORMED,
            ),
        ];
        let source = source(500);
        for (sentence, frame, ways, reason) in cases {
            source.forget_flows();
            let frame = frame.bytes();
            source.set_ways(&key_of(&frame), ways);
            source.zero_counters();
            let ran = source.run(&frame);
            assert!(ran.bytes == frame, "{sentence}");
            assert_counted(&source, &[(reason, 1, frame.len() as u64)], sentence);
        }
    }

    /// At TC, what is behind the IP packet then is padding.
    fn run(sink: &Sink, hook: Hook, frame: &[u8], expected: &[u8], sentence: &str) {
        let (ran, passes) = match hook {
            Hook::Xdp => (sink.run(frame), XDP_PASS),
            Hook::Tc => (sink.run_tc(frame), TCX_NEXT),
        };
        assert_eq!(ran.verdict, passes, "{sentence}");
        let padding = match hook {
            Hook::Xdp => &[],
            Hook::Tc => &frame[expected.len()..],
        };
        let expected = [expected, padding].concat();
        assert!(ran.bytes == expected, "{sentence}, {hook:?}");
    }

    #[test]
    fn the_sink_reads_it_at_both_hooks_and_cuts_it_off() {
        for hook in [Hook::Xdp, Hook::Tc] {
            for (sentence, frame) in frames() {
                let sink = Sink::load_both(&settings());
                let plain = frame.bytes();
                let at = layout::find(&plain).unwrap();
                let source = addresses(at.v6).0;
                sink.set_grant(source, u64::MAX);
                for number in [1, 2, 3, 6, 7] {
                    run(&sink, hook, &tagged(&frame, number), &plain, sentence);
                }
                let stripped = sink.grant(source).expect(sentence).stripped;
                assert_eq!(stripped, [0, 5, 0], "{sentence}: beside segments");
                let flow = sink.flow(&key_of(&plain)).expect(sentence);
                assert_eq!((flow.packets, flow.head), (5, 7), "{sentence}");
                assert_eq!(flow.source_node, NODE + 1, "{sentence}");
                assert_eq!(flow.awaited, 2, "{sentence}: 4 and 5 are awaited");
                assert_eq!(sink.count(read::COUNT_SINK_RECEIVED), 5, "{sentence}");
                assert_eq!(flow.bytes, 5 * at.ip_len as u64, "{sentence}");
            }
        }
    }

    #[test]
    fn what_stands_around_the_datagram_does_not_matter() {
        for hook in [Hook::Xdp, Hook::Tc] {
            for (sentence, frame) in frames() {
                let plain = frame.clone().bytes();
                let padded = [tagged(&frame, 1), vec![0; 9]].concat();
                let sink = Sink::load_both(&settings());
                let sentence = format!("{sentence}, and padding behind it");
                run(&sink, hook, &padded, &plain, &sentence);
            }
        }
        for (sentence, frame) in frames() {
            let mut bytes = tagged(&frame, 1);
            let at = layout::find(&bytes).unwrap();
            if be16(&bytes, at.l4 + 6) == 0 {
                continue;
            }
            // A source counts in the length of what it puts behind.
            let mut plain = frame.bytes();
            unfinish(&mut bytes);
            unfinish(&mut plain);
            let unfinished = format!("{sentence}: an unfinished checksum");
            let sink = || Sink::load_both(&settings());
            run(&sink(), Hook::Xdp, &bytes, &plain, &unfinished);
            if plain.len() < at.l4 + 8 + 12 {
                continue;
            }
            let area = bytes.len() - plain.len();
            suit_checksum(&mut bytes, area + plain.len() % 2);
            let sentence = format!("{sentence}: a checksum that is finished or not");
            run(&sink(), Hook::Xdp, &bytes, &bytes, &sentence);
        }
    }

    #[test]
    fn what_is_no_int_passes_and_damage_is_counted() {
        let frame = udp().payload(100);
        let changed = |back: usize, bits: u8| {
            let mut bytes = tagged(&frame, 1);
            let at = bytes.len() - back;
            bytes[at] ^= bits;
            bytes
        };
        let foreign = read::COUNT_SINK_FOREIGN_MARK;
        let cases = [
            ("of another kind", changed(24, 1), None),
            ("of another program", changed(21, 1), None),
            ("not filled in", changed(20, 0x80), None),
            ("its number was damaged", changed(13, 4), Some(foreign)),
            ("its checksum was damaged", changed(26, 0x80), Some(foreign)),
            ("a plain datagram", frame.clone().bytes(), None),
        ];
        for (sentence, bytes, reason) in cases {
            for hook in [Hook::Xdp, Hook::Tc] {
                let sink = Sink::load_both(&settings());
                run(&sink, hook, &bytes, &bytes, sentence);
                assert_eq!(sink.flows(), 0, "{sentence}, {hook:?}");
                assert_eq!(sink.count(read::COUNT_SINK_RECEIVED), 0, "{sentence}");
                let refused = reason.map_or(0, |reason| sink.count(reason));
                assert_eq!(refused, u64::from(reason.is_some()), "{sentence}");
            }
        }
        let mut set = settings();
        set.flags |= hostint::datapath::abi::sink_flag::SINK_DROP_TAGGED.0;
        let sink = Sink::load_both(&set);
        assert_eq!(sink.run_tc(&tagged(&frame, 1)).verdict, TCX_DROP);
    }
}
