//! The INT source, run on single packets: what it tags and how, what it leaves alone and why.

mod support;

use std::collections::HashSet;
use std::net::Ipv4Addr;
use std::sync::{Barrier, Mutex};
use std::thread;

use hostint::datapath::abi::{int_flag, source_counter};
use support::checksum::{be32, verify, verify_inner};
use support::frame::{EXTENSION_PORT, Frame, MARK};
use support::int_block::Block;
use support::model::source::{Stamp, age_code};
use support::model::{Encapsulation, Key};
use support::programs::sink::XDP_PASS;
use support::programs::source::{Hook, Options, Source, TCX_NEXT};
use support::programs::{Ran, Shared};

fn udp() -> Frame {
    Frame::ethernet().ipv4().udp().payload(64)
}

fn tcp() -> Frame {
    Frame::ethernet().ipv4().tcp().payload(64)
}

/// The flow of the builder's packets.
fn key(protocol: u8) -> Key {
    Key {
        source: [192, 0, 2, 1],
        target: [198, 51, 100, 2],
        sport: 40000,
        dport: 5001,
        protocol,
    }
}

fn with(encapsulation: Encapsulation) -> Options {
    Options {
        encapsulation,
        ..Options::default()
    }
}

/// The place of the INT block in a tagged frame.
fn block_at(tagged: &[u8], encapsulation: Encapsulation) -> usize {
    match encapsulation {
        Encapsulation::OverTcpUdp if tagged[23] == 6 => 54,
        _ => 42,
    }
}

fn stamp_of(tagged: &[u8], encapsulation: Encapsulation) -> Stamp {
    let at = block_at(tagged, encapsulation);
    Stamp {
        sequence: be32(tagged, at + 28),
        timestamp: be32(tagged, at + 20),
        age_code: tagged[at + 1] & 15,
    }
}

/// Every checksum of a tagged packet is right for whoever looks on the way.
fn verify_tagged(tagged: &[u8], encapsulation: Encapsulation) -> Result<(), String> {
    verify(tagged)?;
    match encapsulation {
        Encapsulation::OverTcpUdp => Ok(()),
        Encapsulation::ExtensionUdp => verify_inner(tagged, tagged[42 + 32]),
    }
}

fn passes(hook: Hook) -> i32 {
    match hook {
        Hook::Tc => TCX_NEXT,
        Hook::Xdp => XDP_PASS,
    }
}

fn run(source: &Source, hook: Hook, frame: &[u8]) -> Ran {
    match hook {
        Hook::Tc => source.run(frame),
        Hook::Xdp => source.run_xdp(frame),
    }
}

/// All counters but these are zero.
fn assert_counted(source: &Source, expected: &[(source_counter, u64, u64)], sentence: &str) {
    let mut all = vec![(0, 0); source_counter::COUNT_SOURCE_MAX.0 as usize];
    for (counter, packets, bytes) in expected {
        all[counter.0 as usize] = (*packets, *bytes);
    }
    assert_eq!(source.counters(), all, "{sentence}: counters");
}

/// The packet leaves as it came, for this reason.
fn assert_left(source: &Source, hook: Hook, frame: &Frame, reason: source_counter, name: &str) {
    let bytes = frame.bytes();
    source.zero_counters();
    let ran = run(source, hook, &bytes);
    assert_eq!(ran.verdict, passes(hook), "{name}: verdict");
    assert_eq!(ran.bytes, bytes, "{name}: bytes");
    assert_counted(source, &[(reason, 1, bytes.len() as u64)], name);
    assert_eq!(
        source.model.look(&bytes),
        Err(reason),
        "{name}: the model's reason"
    );
}

/// The packet leaves with INT in it, byte by byte as the model says.
fn assert_tagged(source: &Source, hook: Hook, frame: &Frame, name: &str) -> Stamp {
    let bytes = frame.bytes();
    let key = source.model.look(&bytes);
    let key = key.unwrap_or_else(|reason| panic!("{name}: the model refuses it: {reason:?}"));
    let is_new = !source.knows(&key);
    source.zero_counters();
    let before = source.clock.now_ns();
    let ran = run(source, hook, &bytes);
    let took = source.clock.now_ns() - before;

    assert_eq!(ran.verdict, passes(hook), "{name}: verdict");
    let encapsulation = source.model.encapsulation;
    let stamp = stamp_of(&ran.bytes, encapsulation);
    assert_eq!(ran.bytes, source.model.tag(&bytes, stamp), "{name}: bytes");
    let late = stamp.timestamp.wrapping_sub(before as u32);
    assert!(
        u64::from(late) <= took,
        "{name}: the timestamp is the time of sending"
    );
    verify_tagged(&ran.bytes, encapsulation).unwrap_or_else(|why| panic!("{name}: {why}"));
    let mut counted = vec![(source_counter::COUNT_SOURCE_TAGGED, 1, bytes.len() as u64)];
    if is_new {
        counted.push((source_counter::COUNT_SOURCE_FLOW_NEW, 1, 0));
    }
    assert_counted(source, &counted, name);
    stamp
}

/// Every way in which the program can hang in the kernel.
fn every_way() -> Vec<(Source, Hook)> {
    let small = Options {
        fixed_mtu: 3_000,
        ..Options::default()
    };
    let extension = Options {
        encapsulation: Encapsulation::ExtensionUdp,
        ..small
    };
    let old_kernel = Options {
        kernel_ctx: false,
        ..small
    };
    vec![
        (Source::load(&small), Hook::Tc),
        (Source::load(&old_kernel), Hook::Tc),
        (Source::load(&extension), Hook::Tc),
        (Source::load(&extension), Hook::Xdp),
    ]
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;
    use source_counter as count;

    #[test]
    fn what_is_not_tagged_leaves_unmodified_and_counted_by_reason() {
        let cases = [
            (
                "ARP",
                count::COUNT_SOURCE_OTHER_PROTOCOL,
                Frame::ethernet().ethertype(0x0806).payload(46),
            ),
            (
                "IPv6",
                count::COUNT_SOURCE_OTHER_PROTOCOL,
                Frame::ethernet().ethertype(0x86dd).payload(60),
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
                "a VLAN tag within the frame",
                count::COUNT_SOURCE_OTHER_PROTOCOL,
                udp().vlan(5),
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
                "IPv4 options",
                count::COUNT_SOURCE_IP_OPTIONS,
                tcp().ip_options(4),
            ),
            (
                "40 bytes of IPv4 options",
                count::COUNT_SOURCE_IP_OPTIONS,
                udp().ip_options(40),
            ),
            (
                "an IPv6 version in an IPv4 frame",
                count::COUNT_SOURCE_IP_OPTIONS,
                udp().version_ihl(0x65),
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
    fn what_is_tagged_leaves_as_the_wire_format_says() {
        let cases = [
            ("UDP", udp()),
            ("TCP", tcp()),
            ("an odd payload", udp().payload(63)),
            ("an odd TCP payload", tcp().payload(1)),
            ("an empty datagram", udp().payload(0)),
            ("a bare ACK", tcp().payload(0)),
            ("TCP options", tcp().tcp_options(40)),
            (
                "TCP options and nothing else",
                tcp().tcp_options(12).payload(0),
            ),
            ("no UDP checksum", udp().without_udp_checksum()),
            (
                "TCP to a report port is no report",
                tcp().ports(5000, 32766),
            ),
            ("a report's source port", udp().ports(32766, 5000)),
            (
                "TCP to the extension port",
                tcp().ports(5000, EXTENSION_PORT),
            ),
            ("the mark without INT behind it", udp().dscp(MARK >> 2)),
            (
                "the mark and a packet too short for INT",
                tcp().payload(4).dscp(MARK >> 2),
            ),
            ("a VPN's DSCP and congestion", tcp().dscp(46).ecn(3)),
            ("Ethernet padding", udp().payload(0).padding(18)),
            (
                "an address next to the multicast groups",
                udp().to([223, 255, 255, 255]),
            ),
            ("a TTL of 1", udp().ttl(1)),
            (
                "short, and routers may fragment it",
                tcp().dont_fragment(false),
            ),
            ("port 0", udp().ports(0, 0)),
            ("long, below the MTU", tcp().payload(2_800)),
        ];
        for (source, hook) in every_way() {
            for (name, frame) in &cases {
                assert_tagged(&source, hook, frame, name);
            }
        }
    }

    #[test]
    fn every_dscp_and_ecn_is_kept_in_the_packet() {
        for (source, hook) in every_way() {
            for tos in 0..=255u8 {
                for frame in [udp(), tcp()] {
                    let frame = frame.dscp(tos >> 2).ecn(tos & 3);
                    assert_tagged(&source, hook, &frame, &format!("ToS {tos:#x}"));
                }
            }
        }
    }

    #[test]
    fn a_mark_may_be_any_value_under_any_mask() {
        for (tos_value, tos_mask) in [(0x04, 0xfc), (0xb8, 0xfc), (0x00, 0x04), (0x0c, 0x1c)] {
            let source = Source::load(&Options {
                tos_value,
                tos_mask,
                ..Options::default()
            });
            for dscp in 0..64 {
                assert_tagged(&source, Hook::Tc, &tcp().dscp(dscp), "own mark");
            }
        }
    }

    #[test]
    fn checksums_that_add_up_to_zero_are_written_as_senders_do() {
        // The payload's first word takes every value, so every checksum occurs, 0 among them.
        let source = Source::load(&Options::default());
        for word in (0..=u16::MAX).step_by(if cfg!(debug_assertions) { 5 } else { 1 }) {
            for frame in [udp(), tcp()] {
                let bytes = frame.payload_bytes(word.to_be_bytes().to_vec()).bytes();
                let ran = source.run(&bytes);
                let stamp = stamp_of(&ran.bytes, Encapsulation::OverTcpUdp);
                assert_eq!(
                    ran.bytes,
                    source.model.tag(&bytes, stamp),
                    "payload {word:#x}"
                );
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

    #[test]
    fn a_packet_is_tagged_if_it_still_fits() {
        for (encapsulation, hook) in [
            (Encapsulation::OverTcpUdp, Hook::Tc),
            (Encapsulation::ExtensionUdp, Hook::Tc),
            (Encapsulation::ExtensionUdp, Hook::Xdp),
        ] {
            let source = Source::load(&Options {
                fixed_mtu: 1_500,
                ..with(encapsulation)
            });
            let room = 1_500 - encapsulation.added();
            assert_tagged(
                &source,
                hook,
                &udp().payload(room - 28),
                "UDP that just fits",
            );
            assert_tagged(
                &source,
                hook,
                &tcp().payload(room - 40),
                "TCP that just fits",
            );
            let long = count::COUNT_SOURCE_TOO_LONG;
            assert_left(
                &source,
                hook,
                &udp().payload(room - 27),
                long,
                "UDP one byte longer",
            );
            assert_left(
                &source,
                hook,
                &tcp().payload(room - 39),
                long,
                "TCP one byte longer",
            );
            let open = |frame: Frame| frame.dont_fragment(false);
            let room = 576 - encapsulation.added();
            assert_tagged(
                &source,
                hook,
                &open(udp().payload(room - 28)),
                "576 bytes without DF",
            );
            let may = count::COUNT_SOURCE_MAY_FRAGMENT;
            assert_left(
                &source,
                hook,
                &open(udp().payload(room - 27)),
                may,
                "577 bytes without DF",
            );
            assert_left(
                &source,
                hook,
                &open(tcp().payload(1_300)),
                may,
                "1340 bytes without DF",
            );
        }
    }

    #[test]
    fn the_mtu_is_the_devices_unless_fixed() {
        let source = Source::load(&Options::default());
        assert_tagged(
            &source,
            Hook::Tc,
            &udp().payload(3_200),
            "loopback has 65536 bytes",
        );
    }

    #[test]
    fn numbers_begin_at_1_and_grow_by_1_in_each_flow() {
        for (source, hook) in every_way() {
            let flows = [
                udp(),
                tcp(),
                udp().ports(40001, 5001),
                udp().ports(40000, 5002),
                udp().from([192, 0, 2, 9]),
                tcp().to([198, 51, 100, 9]),
            ];
            let last_stated = int_flag::FLOW_AGE_PACKETS.0;
            for sequence in (1..=5).chain(last_stated - 2..=last_stated + 3) {
                if sequence == last_stated - 2 {
                    let skip = |frame: &Frame| {
                        let key = source.model.look(&frame.bytes()).expect("is tagged");
                        source.set_sequence(&key, sequence - 1);
                    };
                    flows.iter().for_each(skip);
                }
                for frame in &flows {
                    let stamp = assert_tagged(&source, hook, frame, "several flows");
                    assert_eq!(stamp.sequence, sequence, "its flow's own number");
                    let states_age = sequence <= last_stated;
                    assert_eq!(stamp.age_code != 0, states_age, "age in packet {sequence}");
                }
                assert_left(
                    &source,
                    hook,
                    &udp().udp_len(9),
                    count::COUNT_SOURCE_MALFORMED,
                    "no number",
                );
            }
        }
    }

    #[test]
    fn numbers_wrap_and_state_no_age_again() {
        let source = Source::load(&Options::default());
        assert_tagged(&source, Hook::Tc, &udp(), "the flow's first packet");
        source.set_sequence(&key(17), u32::MAX - 2);
        source.jump(HOUR_NS);
        for number in [u32::MAX - 1, u32::MAX, 0, 1, 2] {
            let stamp = assert_tagged(&source, Hook::Tc, &udp(), "around the wrap");
            assert_eq!(
                (stamp.sequence, stamp.age_code),
                (number, 0),
                "number and age"
            );
        }
    }

    const SECOND_NS: i64 = 1_000_000_000;
    const HOUR_NS: i64 = 3_600 * SECOND_NS;

    #[test]
    fn the_first_packets_state_how_old_their_flow_is() {
        let source = Source::load(&Options::default());
        let mut jumped = 0;
        // Far from where the code changes: no machine is that slow.
        let ages = [
            0, 25, 50, 100, 400, 1_600, 6_400, 50_000, 200_000, 263_000, 300_000, 7_200_000,
        ];
        for age_ms in ages {
            source.jump(age_ms * 1_000_000 - jumped);
            jumped = age_ms * 1_000_000;
            let stamp = assert_tagged(&source, Hook::Tc, &udp(), "a young flow");
            let code = stamp.age_code;
            let created = source.flow(&key(17)).unwrap();
            assert_eq!(
                code,
                age_code(created.last_ns - created.created_ns),
                "{age_ms} ms old"
            );
            let expected = match age_ms {
                0 => 1,
                25 => 2,
                300_000.. => 0,
                _ => code,
            };
            assert_eq!(code, expected, "{age_ms} ms old");
        }
        source.jump(-2 * HOUR_NS - SECOND_NS);
        let stamp = assert_tagged(&source, Hook::Tc, &udp(), "the clock was set back");
        assert_eq!(stamp.age_code, 0, "a flow from the future has no age");
    }

    #[test]
    fn a_full_flow_table_leaves_new_flows_untagged() {
        for (encapsulation, hook) in [
            (Encapsulation::OverTcpUdp, Hook::Tc),
            (Encapsulation::ExtensionUdp, Hook::Tc),
            (Encapsulation::ExtensionUdp, Hook::Xdp),
        ] {
            let source = Source::load(&Options {
                flows: 3,
                ..with(encapsulation)
            });
            for port in 0..3 {
                assert_tagged(&source, hook, &udp().ports(port, 7), "a flow with room");
            }
            for port in 3..6 {
                let frame = udp().ports(port, 7).bytes();
                source.zero_counters();
                let ran = run(&source, hook, &frame);
                assert_eq!(ran.bytes, frame, "a flow without room leaves unmodified");
                assert_eq!(ran.verdict, passes(hook), "and goes its way");
                let full = [(count::COUNT_SOURCE_TABLE_FULL, 1, frame.len() as u64)];
                assert_counted(&source, &full, "a flow without room");
            }
            let stamp = assert_tagged(&source, hook, &udp().ports(0, 7), "a flow with room");
            assert_eq!(stamp.sequence, 2, "known flows go on");
        }
    }

    #[test]
    fn superpackets_are_counted_in_segments_and_left_alone() {
        for encapsulation in Encapsulation::BOTH {
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
    fn several_cpus_on_one_flow_use_each_number_once() {
        const THREADS: usize = 4;
        const PACKETS: usize = 20_000;
        let source = Source::load(&Options::default());
        let program = Shared(source.program(Hook::Tc));
        let start = Barrier::new(THREADS);
        let numbers = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    let frame = udp().bytes();
                    start.wait();
                    let mut own = Vec::with_capacity(PACKETS);
                    for _ in 0..PACKETS {
                        let ran = program.run(&frame);
                        own.push(stamp_of(&ran.bytes, Encapsulation::OverTcpUdp).sequence);
                    }
                    assert!(own.is_sorted(), "each CPU's numbers grow");
                    numbers.lock().unwrap().extend(own);
                });
            }
        });
        let numbers: HashSet<u32> = numbers.into_inner().unwrap().into_iter().collect();
        let total = (THREADS * PACKETS) as u32;
        assert_eq!(numbers, (1..=total).collect(), "every number once");
        let (tagged, new) = (
            source.counters()[count::COUNT_SOURCE_TAGGED.0 as usize],
            source.counters()[count::COUNT_SOURCE_FLOW_NEW.0 as usize],
        );
        let bytes = udp().bytes().len() as u64;
        assert_eq!(
            tagged,
            (u64::from(total), u64::from(total) * bytes),
            "all are counted"
        );
        assert_eq!(new.0, 1, "one flow");
    }
}
