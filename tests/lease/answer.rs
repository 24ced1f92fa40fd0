//! The sink answers lease questions in the kernel, strips packets of hosts with a lease, and cannot be misused by
//! others.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hostint::datapath::abi::{event_reason, sink_counter, sink_flag, sink_settings, token_rate};
use hostint::model::{Capabilities, FullAnswer, FullEcho, FullQuestion, LeaseKey, NodeId};
use hostint::wire::lease::MAGIC;
use hostint::wire::lease::message::{FULL_LEN, LeaseEcho, decode_echo, encode_full_question};
use hostint_testing::checksum::{complement, pseudo_header, put16, sum};
use hostint_testing::frame::{Frame, MARK, UDP};
use hostint_testing::generate::{mutate, received};
use hostint_testing::lease_cases::{HOOKS, Hook, KEY, addresses, assert_counted, leasing_sink};
use hostint_testing::model::{gpe, layout};
use hostint_testing::packets::{key, tcp, tcp6, udp, udp6};
use hostint_testing::programs::clock::{coarse_ns, monotonic_ns};
use hostint_testing::programs::sink::{Sink, Sizes, XDP_PASS, latencies, losses, settings};
use hostint_testing::random::{Random, env_number};
use hostint_testing::sink_cases::{extension, int};

pub(super) const NONCE: u64 = 0x0102_0304_0506_0708;
pub(super) const ASKING: NodeId = NodeId(9);
const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;
pub(super) const GRANT_NS: u64 = 60 * SECOND;
/// Far longer than any test takes.
const LONG: u64 = 1_000 * SECOND;
/// Packets that somebody outside invents; HOSTINT_LONG makes more of them.
const FORGED: u64 = 100_000;

/// Each hook with each IP version.
pub(super) fn every_way() -> impl Iterator<Item = (&'static Hook, bool)> {
    HOOKS.iter().flat_map(|hook| [(hook, false), (hook, true)])
}

fn base(v6: bool) -> Frame {
    if v6 { udp6() } else { udp() }
}

fn message_for(flow_source: IpAddr, dest: IpAddr, nonce: u64, key: LeaseKey) -> Vec<u8> {
    message_from(addresses(dest.is_ipv6()).0, flow_source, dest, nonce, key)
}

fn message_from(
    origin: IpAddr,
    flow_source: IpAddr,
    dest: IpAddr,
    nonce: u64,
    key: LeaseKey,
) -> Vec<u8> {
    let question = FullQuestion {
        nonce,
        flow_source,
        origin,
        asked_ns: 42,
        source_node: ASKING,
        capabilities: Capabilities::from_bits(7),
        round: 0,
    };
    encode_full_question(&question, dest, key).to_vec()
}

/// May the builder's packets be tagged?
pub(super) fn message(v6: bool) -> Vec<u8> {
    let (source, dest) = addresses(v6);
    message_for(source, dest, NONCE, KEY)
}

/// An ICMP message of this type and code, its checksum right.
pub(super) fn icmp(v6: bool, kind: [u8; 2], message: &[u8]) -> Frame {
    let mut icmp = vec![kind[0], kind[1], 0, 0, 0x12, 0x34, 0, 7];
    icmp.extend_from_slice(message);
    let (protocol, pseudo) = match addresses(v6) {
        (IpAddr::V6(source), IpAddr::V6(dest)) => {
            let both = [source.octets(), dest.octets()].concat();
            (58, pseudo_header(&both, 58, icmp.len()))
        }
        _ => (1, 0),
    };
    let check = complement(pseudo + sum(&icmp));
    put16(&mut icmp, 2, check);
    base(v6).protocol(protocol).payload_bytes(icmp)
}

pub(super) fn echo(v6: bool, message: &[u8]) -> Frame {
    icmp(v6, [if v6 { 128 } else { 8 }, 0], message)
}

pub(super) fn question(v6: bool) -> Frame {
    echo(v6, &message(v6))
}

/// The message within a frame without VLAN tags.
fn message_at(v6: bool) -> usize {
    14 + if v6 { 40 } else { 20 } + 8
}

pub(super) fn sink() -> Sink {
    leasing_sink(Sizes::default())
}

/// The packet passes as it came; only this is counted, and nothing is remembered.
fn assert_passes(
    sink: &Sink,
    hook: &Hook,
    frame: &[u8],
    counted: Option<sink_counter>,
    name: &str,
) {
    sink.zero_counters();
    let ran = (hook.run)(sink, frame);
    let name = format!("{}: {name}", hook.name);
    assert_eq!(ran.verdict, hook.pass, "{name}: verdict");
    if counted == Some(sink_counter::COUNT_SINK_LEASE_FORGED) {
        assert_marked(&ran.bytes, frame, &name);
    } else {
        assert_eq!(ran.bytes, frame, "{name}: bytes");
    }
    let counted: Vec<_> = counted
        .map(|c| (c, 1, frame.len() as u64))
        .into_iter()
        .collect();
    assert_counted(sink, &counted, &name);
    assert_remembers_nothing(sink, &name);
}

/// A question with a wrong tag is told so, in the place of an answer's tag, and is else as it was.
fn assert_marked(bytes: &[u8], frame: &[u8], name: &str) {
    let magic = MAGIC.to_be_bytes();
    let at = frame.windows(4).position(|bytes| bytes == magic);
    let at = at.unwrap_or_else(|| panic!("{name}: no question"));
    let (tag, check) = (at + FULL_LEN - 8, at - 6);
    let mut expected = frame.to_vec();
    expected[tag..tag + 8].fill(0xff);
    expected[check..check + 2].copy_from_slice(&bytes[check..check + 2]);
    assert_eq!(bytes, expected, "{name}: bytes");
}

pub(super) fn assert_remembers_nothing(sink: &Sink, name: &str) {
    let known = (sink.flows(), sink.grants(), sink.buckets());
    assert_eq!(known, (0, 0, 0), "{name}: flows, grants, token buckets");
    assert_eq!(sink.events().len(), 0, "{name}: events");
}

/// The packet comes back with an answer, and is otherwise as it was; returns the answer.
fn assert_answered(sink: &Sink, hook: &Hook, frame: &[u8], at: usize, name: &str) -> FullAnswer {
    sink.zero_counters();
    let ran = (hook.run)(sink, frame);
    let name = format!("{}: {name}", hook.name);
    assert_eq!(ran.verdict, hook.pass, "{name}: verdict");
    assert_eq!(ran.bytes.len(), frame.len(), "{name}: length");
    let granted = sink_counter::COUNT_SINK_LEASE_GRANTED;
    assert_counted(sink, &[(granted, 1, frame.len() as u64)], &name);

    let echo = decode_echo(&ran.bytes[at..at + FULL_LEN], KEY);
    let Ok(LeaseEcho::Full(FullEcho {
        nonce: NONCE,
        asked_ns: 42,
        answer: Some(answer),
    })) = echo
    else {
        panic!("{name}: {echo:?}")
    };
    let mut as_asked = ran.bytes;
    for changed in [at - 6..at - 4, at + 64..at + FULL_LEN] {
        as_asked[changed.clone()].copy_from_slice(&frame[changed]);
    }
    assert_eq!(as_asked, frame, "{name}: the rest of the frame");
    answer
}

/// A packet of each encapsulation, and what it was before INT came into it.
pub(super) fn tagged() -> Vec<(&'static str, Vec<u8>, Vec<u8>)> {
    let gpe = |frame: &Frame| {
        let original = frame.bytes();
        let at = layout::find(&original).expect("TCP or UDP");
        gpe::wrap(&original, &at, 0xc123, &gpe::Block::single(at.v6))
    };
    vec![
        ("UDP", udp().tagged(int()).bytes(), udp().bytes()),
        ("TCP", tcp().tagged(int()).bytes(), tcp().bytes()),
        ("IPv6", tcp6().tagged(int()).bytes(), tcp6().bytes()),
        (
            "an extension",
            tcp().extended(extension()).bytes(),
            tcp().bytes(),
        ),
        (
            "an extension, IPv6",
            udp6().extended(extension()).bytes(),
            udp6().bytes(),
        ),
        ("vxlan-gpe", gpe(&udp()), udp().bytes()),
        ("vxlan-gpe, IPv6", gpe(&tcp6()), tcp6().bytes()),
    ]
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;
    use sink_counter as count;

    #[test]
    fn marked_and_padded_questions_are_answered_too() {
        let sink = sink();
        for (name, frame) in [
            ("with the DSCP mark", question(false).wire_tos(MARK)),
            ("padding behind it", question(false).padding(9)),
            ("a TTL of 1", question(false).ttl(1)),
            ("DF not set", question(false).dont_fragment(false)),
        ] {
            for hook in &HOOKS {
                assert_answered(&sink, hook, &frame.bytes(), message_at(false), name);
            }
        }
    }

    #[test]
    fn what_is_no_right_question_passes_unmodified_and_grants_nothing() {
        struct Case {
            name: &'static str,
            frame: Frame,
            counted: Option<count>,
        }
        let forged = Some(count::COUNT_SINK_LEASE_FORGED);
        for v6 in [false, true] {
            let (source, dest) = addresses(v6);
            let case = |name, counted, frame| Case {
                name,
                frame,
                counted,
            };
            let changed = |name, counted, at: usize, by: u8| {
                let mut message = message(v6);
                message[at] ^= by;
                case(name, counted, echo(v6, &message))
            };
            let kind = |name, kind| case(name, None, icmp(v6, kind, &message(v6)));
            let other_key = message_for(source, dest, NONCE, LeaseKey([3; 16]));
            let translated = message_from(dest, source, dest, NONCE, KEY);
            let elsewhere = message_for(source, source, NONCE, KEY);
            let longer = [message(v6), vec![0]].concat();
            let mut cases = vec![
                changed("a wrong tag", forged, 56, 1),
                changed("a tag whose last bit is wrong", forged, 63, 1),
                changed("another nonce", forged, 15, 0x80),
                changed("another flow's source", forged, 31, 1),
                changed("another time", forged, 39, 1),
                changed("another node id", forged, 43, 1),
                changed("other capabilities", forged, 47, 1),
                changed("another round", forged, 55, 1),
                case("another key", forged, echo(v6, &other_key)),
                case("a question to another host", forged, echo(v6, &elsewhere)),
                case("a question that NAT changed", forged, echo(v6, &translated)),
                changed("another magic", None, 0, 1),
                changed("another version", None, 7, 2),
                kind("an echo reply", [if v6 { 129 } else { 0 }, 0]),
                kind("destination unreachable", [if v6 { 1 } else { 3 }, 0]),
                kind("an echo request with a code", [if v6 { 128 } else { 8 }, 1]),
                case(
                    "one byte short",
                    None,
                    echo(v6, &message(v6)[..FULL_LEN - 1]),
                ),
                case("one byte long", None, echo(v6, &longer)),
                case("an empty ping", None, echo(v6, &[])),
                case("somebody's ping", None, echo(v6, &[0x68; FULL_LEN])),
                case(
                    "cut off",
                    None,
                    question(v6).cut(message_at(v6) + FULL_LEN - 1),
                ),
                case(
                    "an IP length that is short",
                    None,
                    question(v6).total_len(100),
                ),
                case("UDP", None, base(v6).payload_bytes(message(v6))),
                case(
                    "three VLAN tags",
                    None,
                    question(v6).vlan(5).vlan(6).vlan(7),
                ),
            ];
            if v6 {
                cases.extend([
                    case(
                        "an extension header",
                        None,
                        question(v6).extension_header(60, 8),
                    ),
                    case("a fragment", None, question(v6).extension_header(44, 8)),
                ]);
            } else {
                cases.extend([
                    case("IP options", None, question(v6).ip_options(4)),
                    case("a first fragment", None, question(v6).more_fragments()),
                    case("a later fragment", None, question(v6).fragment_offset(9)),
                    case("another IP version", None, question(v6).version_ihl(0x55)),
                    case("another protocol", None, question(v6).protocol(132)),
                ]);
            }
            let sink = sink();
            for Case {
                name,
                frame,
                counted,
            } in cases
            {
                for hook in &HOOKS {
                    let name = format!("{name}, IPv6: {v6}");
                    assert_passes(&sink, hook, &frame.bytes(), counted, &name);
                }
            }
        }
    }

    #[test]
    fn a_sink_that_is_about_to_be_detached_answers_nobody() {
        let sink = sink();
        let mut closing = settings();
        closing.flags |= sink_flag::SINK_CLOSING.0;
        sink.set(&closing);
        let told = Some(count::COUNT_SINK_LEASE_CLOSING);
        for (hook, v6) in every_way() {
            assert_passes(&sink, hook, &question(v6).bytes(), told, "a question");
            let mut message = message(v6);
            message[56] ^= 1;
            let forged = Some(count::COUNT_SINK_LEASE_FORGED);
            let frame = echo(v6, &message).bytes();
            assert_passes(&sink, hook, &frame, forged, "a forged one");
        }
        let (name, frame, original) = tagged().remove(0);
        sink.set_grant(addresses(false).0, u64::MAX);
        assert_eq!(sink.run(&frame).bytes, original, "{name} is stripped still");
    }

    #[test]
    fn without_room_for_a_grant_a_question_is_not_answered() {
        let sizes = Sizes {
            grants: 2,
            tc: true,
            ..Sizes::default()
        };
        let sink = Sink::load_sized(&settings(), sizes);
        sink.set_lease_key(KEY);
        let asks_for = |last| {
            let source = IpAddr::from(Ipv4Addr::new(203, 0, 113, last));
            let message = message_for(source, addresses(false).1, NONCE, KEY);
            echo(false, &message).bytes()
        };
        for hook in &HOOKS {
            for last in [1, 2, 1] {
                assert_answered(&sink, hook, &asks_for(last), message_at(false), "room");
            }
            sink.zero_counters();
            let ran = (hook.run)(&sink, &asks_for(3));
            assert_eq!(
                (ran.verdict, &ran.bytes),
                (hook.pass, &asks_for(3)),
                "no room"
            );
            let len = asks_for(3).len() as u64;
            assert_counted(&sink, &[(count::COUNT_SINK_LEASE_FULL, 1, len)], "no room");
        }
        assert_eq!(sink.grants(), 2, "as many as there is room for");
    }

    #[test]
    fn tagged_packets_are_stripped_once_their_address_has_a_grant() {
        let not_allowed = Some(count::COUNT_SINK_NOT_ALLOWED);
        for hook in &HOOKS {
            for (name, frame, original) in tagged() {
                let sink = sink();
                let v6 = layout::find(&original).expect("TCP or UDP").v6;
                assert_passes(&sink, hook, &frame, not_allowed, name);
                assert_answered(&sink, hook, &question(v6).bytes(), message_at(v6), name);
                sink.zero_counters();
                let ran = (hook.run)(&sink, &frame);
                assert_eq!((ran.verdict, ran.bytes), (hook.pass, original), "{name}");
                let counted = [
                    (count::COUNT_SINK_RECEIVED, 1, frame.len() as u64),
                    (count::COUNT_SINK_FLOW_NEW, 1, 0),
                    (count::COUNT_SINK_EVENT_SENT, 1, 0),
                ];
                assert_counted(&sink, &counted, name);
                assert_eq!(sink.flows(), 1, "{name}: its flow is known");
            }
        }
    }

    #[test]
    fn a_grant_is_for_one_address() {
        let sink = sink();
        let granted: IpAddr = [203, 0, 113, 7].into();
        let asked = message_for(granted, addresses(false).1, NONCE, KEY);
        let frame = echo(false, &asked).bytes();
        assert_answered(
            &sink,
            &HOOKS[0],
            &frame,
            message_at(false),
            "for another address",
        );
        for (name, from, stripped) in [
            ("the address that was asked for", [203, 0, 113, 7], true),
            ("the address that asked", [192, 0, 2, 1], false),
            ("a neighbour", [203, 0, 113, 6], false),
        ] {
            let frame = udp().from(from).tagged(int());
            let bytes = if stripped {
                frame.clone().untagged()
            } else {
                frame.clone()
            };
            assert_eq!(sink.run(&frame.bytes()).bytes, bytes.bytes(), "{name}");
        }
    }

    #[test]
    fn packets_of_allowed_prefixes_need_no_grant() {
        let sink = sink();
        sink.allow([192, 0, 2, 0], 25);
        sink.allow(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 64);
        let net = |net| Ipv6Addr::new(0x2001, 0xdb8, 0, net, 0, 0, 0, 9);
        for (name, frame, stripped) in [
            ("the first address", udp().from([192, 0, 2, 0]), true),
            ("the last address", tcp().from([192, 0, 2, 127]), true),
            ("behind the prefix", udp().from([192, 0, 2, 128]), false),
            ("before the prefix", udp().from([192, 0, 1, 255]), false),
            ("IPv6", udp6().addresses6(net(0), net(5)), true),
            (
                "another IPv6 network",
                udp6().addresses6(net(1), net(5)),
                false,
            ),
        ] {
            let wire = frame.clone().tagged(int()).bytes();
            let bytes = if stripped {
                frame.bytes()
            } else {
                wire.clone()
            };
            for hook in &HOOKS {
                assert_eq!(
                    (hook.run)(&sink, &wire).bytes,
                    bytes,
                    "{}: {name}",
                    hook.name
                );
            }
        }
    }

    #[test]
    fn a_strict_sink_drops_what_nobody_may_tag() {
        let mut strict = settings();
        strict.flags |= sink_flag::SINK_STRICT.0;
        let sink = sink();
        sink.set(&strict);
        for hook in &HOOKS {
            for (name, frame, original) in tagged() {
                sink.zero_counters();
                assert_eq!((hook.run)(&sink, &frame).verdict, hook.drop, "{name}");
                let len = frame.len() as u64;
                let counted = [(count::COUNT_SINK_NOT_ALLOWED, 1, len)];
                assert_counted(&sink, &counted, name);
                assert_remembers_nothing(&sink, name);
                assert_passes(&sink, hook, &original, None, "an untagged packet");
            }
        }
    }

    #[test]
    fn when_a_grant_has_ended_its_flows_are_stripped_no_longer() {
        let sink = sink();
        let source = addresses(false).0;
        let frame = udp().tagged(int()).bytes();
        for hook in &HOOKS {
            // A busy machine takes several grants.
            let until_ns = loop {
                let until_ns = monotonic_ns() + 20 * MS;
                sink.set_grant(source, until_ns);
                if (hook.run)(&sink, &frame).bytes != frame {
                    break until_ns;
                }
            };
            while coarse_ns() <= until_ns {
                std::thread::yield_now();
            }
            let packets = sink.flow(&key(UDP)).expect("it was stripped").packets;
            let ran = (hook.run)(&sink, &frame);
            assert_eq!(
                (ran.verdict, &ran.bytes),
                (hook.pass, &frame),
                "{}",
                hook.name
            );
            let after = sink.flow(&key(UDP)).expect("it stays").packets;
            assert_eq!(after, packets, "{}: not accounted for", hook.name);
        }
    }

    /// Anything that somebody outside may send: all encapsulations, damaged or not, and questions without the key.
    fn invented(random: &mut Random, vlans: bool) -> Vec<u8> {
        let mut frame = if random.one_in(8) {
            let v6 = random.one_in(2);
            let key = LeaseKey(random.bytes(16).try_into().expect("16 bytes"));
            let (source, dest) = addresses(v6);
            echo(v6, &message_for(source, dest, random.next(), key)).bytes()
        } else {
            received(random, vlans)
        };
        if random.one_in(3) {
            mutate(random, &mut frame);
        }
        frame
    }

    #[test]
    fn nobody_outside_makes_the_sink_do_anything() {
        let (_, seed) = Random::from_env();
        let sink = sink();
        let frames = env_number("HOSTINT_LONG", FORGED);
        let mut marked = 0;
        for number in 0..frames {
            let mut random = Random::seeded(seed.wrapping_mul(0x1_0000_0001).wrapping_add(number));
            let mut hook = &HOOKS[random.below(2)];
            let frame = invented(&mut random, hook.pass == XDP_PASS);
            // BPF_PROG_RUN makes skbs of whole IP headers only.
            if frame.len() < 54 {
                hook = &HOOKS[0];
            }
            let ran = (hook.run)(&sink, &frame);
            assert_eq!(
                ran.verdict, hook.pass,
                "seed {seed}, frame {number}: verdict"
            );
            let name = format!("seed {seed}, frame {number}");
            if sink.count(count::COUNT_SINK_LEASE_FORGED) > marked {
                marked += 1;
                assert_marked(&ran.bytes, &frame, &name);
            } else {
                assert!(ran.bytes == frame, "{name} is changed");
            }
        }
        let at = |which: count| sink.count(which);
        let not_allowed = at(count::COUNT_SINK_NOT_ALLOWED);
        assert!(not_allowed > frames / 4, "{not_allowed} carried INT");
        let forged = at(count::COUNT_SINK_LEASE_FORGED);
        assert!(forged > frames / 20, "{forged} asked for a lease");
        for none in [
            count::COUNT_SINK_RECEIVED,
            count::COUNT_SINK_LEASE_GRANTED,
            count::COUNT_SINK_FLOW_NEW,
            count::COUNT_SINK_EVENT_SENT,
            count::COUNT_SINK_EVENT_LOST,
        ] {
            assert_eq!(at(none), 0, "{none:?}");
        }
        assert_remembers_nothing(&sink, "after all of them");
    }

    const REPORT_BYTES: u32 = 500;

    /// Every packet is news, if only its flow can pay.
    fn paid() -> sink_settings {
        sink_settings {
            report_bytes: REPORT_BYTES,
            report_period_ns: 0,
            loss_timeout_ns: 200 * MS,
            ..settings()
        }
    }

    /// Runs packets of a flow, sweeping now and then; how many bytes came and how many reports would go out.
    fn reports_for(
        sink: &Sink,
        key: &hostint_testing::model::Key,
        frames: impl Iterator<Item = Vec<u8>>,
    ) -> (u64, u64) {
        let (mut bytes, mut reports) = (0, 0);
        for (number, frame) in frames.enumerate() {
            bytes += frame.len() as u64;
            sink.run(&frame);
            if number % 10 == 9 {
                sink.jump(201 * MS as i64);
                sink.sweep(&[*key]);
            }
            let events = sink.events();
            reports += (latencies(&events).len() + losses(&events).len()) as u64;
            let spent = reports * u64::from(REPORT_BYTES);
            assert!(
                spent <= bytes,
                "packet {number}: {spent} bytes out for {bytes} bytes in"
            );
        }
        (bytes, reports)
    }

    #[test]
    fn a_flow_is_reported_with_no_more_bytes_than_it_sent() {
        let mut random = Random::seeded(13);
        let mut sequence = 0;
        let mut next_number = |random: &mut Random| {
            sequence += 1 + if random.one_in(5) {
                random.u32() % 400
            } else {
                0
            };
            sequence
        };
        let with_block = |name: &str, len: usize, sequence: u32| match name {
            "UDP" => udp().payload(len).tagged(int().sequence(sequence)).bytes(),
            "an extension" => udp()
                .payload(len)
                .extended(extension().sequence(sequence))
                .bytes(),
            _ => {
                let original = udp().payload(len).bytes();
                let at = layout::find(&original).expect("UDP");
                let block = gpe::Block {
                    sequence,
                    ..gpe::Block::single(false)
                };
                gpe::wrap(&original, &at, 0xc123, &block)
            }
        };
        for name in ["UDP", "an extension", "vxlan-gpe"] {
            let sink = Sink::load(&paid());
            let frames = (0..2_000).map(|_| {
                let len = random.below(600);
                with_block(name, len, next_number(&mut random))
            });
            let frames: Vec<_> = frames.collect();
            let (bytes, reports) = reports_for(&sink, &key(UDP), frames.into_iter());
            let spent = reports * u64::from(REPORT_BYTES);
            assert!(
                spent > bytes / 2,
                "{name}: but reported it is: {spent} of {bytes}"
            );
        }
    }

    #[test]
    fn segments_that_were_never_sent_earn_no_reports() {
        let sink = Sink::load(&paid());
        let original = tcp().payload(128).bytes();
        let at = layout::find(&original).expect("TCP");
        let frames = (0..200).map(|number| {
            let block = gpe::Block {
                sequence: 1 + number * 128,
                base: 0x1122_3344,
                size: 1,
                count: 128,
                ..gpe::Block::single(false)
            };
            gpe::wrap(&original, &at, 0xc123, &block)
        });
        reports_for(&sink, &key(6), frames);
    }

    #[test]
    fn a_flow_is_announced_as_new_when_it_can_pay_for_it() {
        let sink = Sink::load(&sink_settings {
            report_period_ns: 3_600 * SECOND,
            report_bytes: 300,
            ..settings()
        });
        // 92 bytes of IP as sent, 36 of INT.
        for (sequence, told) in [(1, 0), (2, 0), (3, 1), (4, 0), (5, 0)] {
            sink.run(&udp().tagged(int().sequence(sequence)).bytes());
            let events = latencies(&sink.events());
            assert_eq!(events.len(), told, "packet {sequence}");
            for event in events {
                let new = event_reason::REASON_NEW_FLOW.0;
                assert_eq!(u32::from(event.reasons), new, "packet {sequence}");
            }
        }
    }

    /// So many at once, and one more after each LONG time.
    fn rate(burst: u64) -> token_rate {
        token_rate {
            interval_ns: LONG,
            burst_ns: burst * LONG,
        }
    }

    #[test]
    fn new_flows_are_limited_by_address_and_in_total() {
        struct Case {
            name: &'static str,
            source: token_rate,
            total: token_rate,
            /// Flows tracked of 5 of each of two addresses, and of 5 more of each after one token's time.
            at_once: [usize; 2],
            later: [usize; 2],
        }
        let cases = [
            Case {
                name: "no limit",
                source: token_rate::default(),
                total: token_rate::default(),
                at_once: [5, 5],
                later: [5, 5],
            },
            Case {
                name: "three of one address",
                source: rate(3),
                total: token_rate::default(),
                at_once: [3, 3],
                later: [1, 1],
            },
            Case {
                name: "four in total",
                source: token_rate::default(),
                total: rate(4),
                at_once: [4, 0],
                later: [1, 0],
            },
            Case {
                name: "three of one address, four in total",
                source: rate(3),
                total: rate(4),
                at_once: [3, 1],
                later: [1, 0],
            },
        ];
        for Case {
            name,
            source,
            total,
            at_once,
            later,
        } in cases
        {
            for hook in &HOOKS {
                let sink = Sink::load_both(&sink_settings {
                    new_flows_source: source,
                    new_flows_total: total,
                    ..settings()
                });
                for (begin, expected) in [(0, at_once), (100, later)] {
                    for (host, tracked) in (1..).zip(expected) {
                        sink.zero_counters();
                        let before = sink.flows();
                        for port in begin..begin + 5 {
                            let frame = udp().from([192, 0, 2, host]).ports(port, 7).tagged(int());
                            let ran = (hook.run)(&sink, &frame.bytes());
                            assert_eq!(ran.bytes, frame.untagged().bytes(), "{name}: stripped");
                        }
                        let name = format!("{}: {name}, host {host}, from {begin}", hook.name);
                        assert_eq!(sink.flows() - before, tracked, "{name}: flows");
                        let limited = sink.count(count::COUNT_SINK_NEW_FLOW_LIMITED);
                        assert_eq!(limited, 5 - tracked as u64, "{name}: limited");
                        assert_eq!(sink.count(count::COUNT_SINK_RECEIVED), 5, "{name}");
                    }
                    sink.jump(LONG as i64);
                }
            }
        }
    }

    #[test]
    fn a_flow_that_is_known_needs_no_token() {
        let sink = Sink::load(&sink_settings {
            new_flows_source: rate(1),
            ..settings()
        });
        for sequence in 1..=50 {
            sink.run(&udp().tagged(int().sequence(sequence)).bytes());
            sink.run(&udp().ports(1, 2).tagged(int().sequence(sequence)).bytes());
        }
        assert_eq!(sink.flow(&key(UDP)).unwrap().packets, 50, "the first flow");
        assert_eq!(
            sink.count(count::COUNT_SINK_NEW_FLOW_LIMITED),
            50,
            "the other"
        );
        assert_eq!(sink.flows(), 1, "which is never tracked");
    }

    #[test]
    fn reports_are_limited_by_address_and_in_total() {
        for (name, source, total, told) in [
            (
                "no limit",
                token_rate::default(),
                token_rate::default(),
                [5, 5],
            ),
            (
                "three of one address",
                rate(3),
                token_rate::default(),
                [3, 3],
            ),
            ("four in total", token_rate::default(), rate(4), [4, 0]),
            ("both", rate(3), rate(4), [3, 1]),
        ] {
            let sink = Sink::load(&sink_settings {
                report_period_ns: 0,
                reports_source: source,
                reports_total: total,
                ..settings()
            });
            for (host, told) in (1..).zip(told) {
                sink.zero_counters();
                for sequence in 1..=5 {
                    let frame = udp()
                        .from([192, 0, 2, host])
                        .tagged(int().sequence(sequence));
                    let ran = sink.run(&frame.bytes());
                    assert_eq!(ran.bytes, frame.untagged().bytes(), "{name}: stripped");
                }
                let events = latencies(&sink.events()).len();
                assert_eq!(events, told, "{name}: host {host}'s reports");
                let limited = sink.count(count::COUNT_SINK_REPORT_LIMITED);
                assert_eq!(limited, 5 - told as u64, "{name}: host {host}, not told");
                assert_eq!(sink.count(count::COUNT_SINK_FLOW_NEW), 1, "{name}: tracked");
            }
            sink.jump(LONG as i64);
            sink.run(&udp().from([192, 0, 2, 1]).tagged(int().sequence(6)).bytes());
            assert_eq!(latencies(&sink.events()).len(), 1, "{name}: a while later");
        }
    }

    /// The flow's packets 1, 3 and 5 arrive, two timeouts pass.
    fn lose_two(sink: &Sink) {
        for sequence in [1, 3, 5] {
            sink.run(&udp().tagged(int().sequence(sequence)).bytes());
        }
        for _ in 0..2 {
            sink.jump(201 * MS as i64);
            sink.sweep(&[key(UDP)]);
        }
        assert_eq!(sink.flow(&key(UDP)).unwrap().lost, 2, "2 and 4 are lost");
        assert!(losses(&sink.events()).is_empty(), "but not told of yet");
    }

    fn told(sink: &Sink) -> Vec<(u32, u32)> {
        sink.sweep(&[key(UDP)]);
        let events = losses(&sink.events());
        events.iter().map(|l| (l.first, l.count)).collect()
    }

    #[test]
    fn losses_that_the_limit_withholds_are_told_later() {
        let sink = Sink::load(&sink_settings {
            loss_timeout_ns: 200 * MS,
            reports_source: rate(1),
            ..settings()
        });
        lose_two(&sink);
        assert_eq!(told(&sink), [], "no token yet");
        sink.jump(LONG as i64);
        assert_eq!(told(&sink), [(2, 2)], "both at once");
        sink.jump(LONG as i64);
        assert_eq!(told(&sink), [], "once");
    }

    #[test]
    fn losses_that_a_flow_cannot_pay_for_yet_are_told_later() {
        let sink = Sink::load(&sink_settings {
            loss_timeout_ns: 200 * MS,
            report_bytes: 450,
            ..settings()
        });
        lose_two(&sink);
        assert_eq!(told(&sink), [], "it sent too little");
        for sequence in 6..11 {
            sink.run(&udp().tagged(int().sequence(sequence)).bytes());
        }
        assert_eq!(told(&sink), [(2, 2)], "it sent enough for this, too");
        assert_eq!(told(&sink), [], "once");
    }
}
