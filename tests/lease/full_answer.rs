//! The sink answers questions of version 2, and counts in its grants what arrived of each source's packets.

use hostint::datapath::abi::{
    bytes_of, clock_source, host_settings, lease_capability, sink_counter, sink_flag, sink_grant,
    sink_settings, token_rate,
};
use hostint::datapath::kernel::probe::Features;
use hostint::model::{
    Capabilities, ClockSource, ClockState, ClockSteering, FullAnswer, FullEcho, FullQuestion,
    LeaseKey, LeaseWitness, Marks, NodeId, ShortEcho, ShortQuestion,
};
use hostint::wire::lease::message::{
    FULL_LEN, LeaseEcho, decode_echo, encode_full_question, encode_short_question,
};
use hostint_testing::checksum::verify_packet;
use hostint_testing::frame::{EXTENSION_PORT, Frame, MARK, UDP};
use hostint_testing::lease_cases::{HOOKS, Hook, KEY, addresses, assert_counted};
use hostint_testing::model::{gpe, layout};
use hostint_testing::packets::{key, udp};
use hostint_testing::programs::clock::{NODE, coarse_ns, monotonic_ns};
use hostint_testing::programs::sink::{Sink, Sizes, settings};
use hostint_testing::sink_cases::{extension, int};

use super::answer::{
    ASKING, GRANT_NS, NONCE, assert_remembers_nothing, echo, every_way, icmp, sink, tagged,
};

const ROUND: u64 = 0x6162_6364_6566_6768;
const MS: i64 = 1_000_000;
/// Length of the frame before the message.
pub(super) fn message_at(v6: bool, vlans: u16) -> usize {
    14 + 4 * usize::from(vlans) + if v6 { 40 } else { 20 } + 8
}

pub(super) fn full_question(v6: bool) -> FullQuestion {
    let source = addresses(v6).0;
    FullQuestion {
        nonce: NONCE,
        flow_source: source,
        origin: source,
        asked_ns: 42,
        source_node: ASKING,
        capabilities: Capabilities::from_bits(7),
        round: 0,
    }
}

pub(super) fn full(v6: bool, question: &FullQuestion) -> Frame {
    full_by(v6, question, KEY)
}

pub(super) fn full_by(v6: bool, question: &FullQuestion, key: LeaseKey) -> Frame {
    echo(v6, &encode_full_question(question, addresses(v6).1, key))
}

pub(super) fn short(v6: bool) -> Frame {
    let (origin, dest) = addresses(v6);
    let nonce = NONCE;
    echo(
        v6,
        &encode_short_question(&ShortQuestion { nonce, origin }, dest, KEY),
    )
}

/// The answer in a frame that came back, which is otherwise as it was.
fn ask(sink: &Sink, hook: &Hook, frame: &[u8], at: usize, name: &str) -> LeaseEcho {
    let ran = (hook.run)(sink, frame);
    let name = format!("{}: {name}", hook.name);
    assert_eq!(ran.verdict, hook.pass, "{name}: verdict");
    let message = &ran.bytes[at..];
    let echo = decode_echo(message, KEY);
    let echo = echo.unwrap_or_else(|err| panic!("{name}: {err}"));
    let answer_at = if message.len() == FULL_LEN { 64 } else { 24 };
    let mut as_asked = ran.bytes.clone();
    for changed in [at - 6..at - 4, at + answer_at..frame.len()] {
        as_asked[changed.clone()].copy_from_slice(&frame[changed]);
    }
    assert_eq!(as_asked, frame, "{name}: the rest of the frame");
    echo
}

fn ask_full(sink: &Sink, question: &FullQuestion) -> FullAnswer {
    let v6 = question.flow_source.is_ipv6();
    let frame = full(v6, question).bytes();
    match ask(
        sink,
        &HOOKS[0],
        &frame,
        message_at(v6, 0),
        "a full question",
    ) {
        LeaseEcho::Full(FullEcho {
            answer: Some(answer),
            ..
        }) => answer,
        other => panic!("{other:?}"),
    }
}

fn ask_short(sink: &Sink) -> LeaseWitness {
    let frame = short(false).bytes();
    match ask(sink, &HOOKS[0], &frame, message_at(false, 0), "a short one") {
        LeaseEcho::Short(ShortEcho {
            answer: Some(answer),
            ..
        }) => answer,
        other => panic!("{other:?}"),
    }
}

/// Packets of a flow with these numbers, in its form.
fn send(sink: &Sink, form: usize, numbers: impl Iterator<Item = u32>) {
    for number in numbers {
        let frame = match form {
            0 => udp().tagged(int().sequence(number)).bytes(),
            1 => udp().extended(extension().sequence(number)).bytes(),
            _ => {
                let original = udp().bytes();
                let at = layout::find(&original).expect("UDP");
                let block = gpe::Block {
                    sequence: number,
                    ..gpe::Block::single(false)
                };
                gpe::wrap(&original, &at, 0xc123, &block)
            }
        };
        sink.run(&frame);
    }
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;
    use sink_counter as count;

    /// Changes settings of this type.
    type Change<T> = fn(&mut T);

    #[test]
    fn both_questions_come_back_with_the_sinks_answer() {
        for atomics in [true, false] {
            let sizes = Sizes {
                atomics,
                tc: true,
                ..Sizes::default()
            };
            let sink = Sink::load_sized(&settings(), sizes);
            sink.set_lease_key(KEY);
            sink.set_host(|host| {
                host.instance = 0x1122_3344_5566_7788;
                host.clock_source = clock_source::CLOCK_REALTIME_OFFSET.0;
                host.clock_synchronised = 1;
                host.tai_offset_s = -37;
                host.clock_steering = 3;
                host.told_until_ns = u64::MAX;
            });
            let every_way = every_way().flat_map(|way| (0..3).map(move |vlans| (way, vlans)));
            for ((hook, v6), vlans) in every_way {
                let name = format!("IPv6: {v6}, {vlans} VLAN tags");
                let in_vlans =
                    |frame| (0..vlans).fold(frame, |frame: Frame, id| frame.vlan(id + 5));
                let at = message_at(v6, vlans);
                let frame = in_vlans(full(v6, &full_question(v6))).bytes();
                let earliest = coarse_ns();
                sink.zero_counters();
                let answered = ask(&sink, hook, &frame, at, &name);
                let granted = (count::COUNT_SINK_LEASE_GRANTED, 1, frame.len() as u64);
                assert_counted(&sink, &[granted], &name);
                let LeaseEcho::Full(FullEcho {
                    nonce: NONCE,
                    asked_ns: 42,
                    answer: Some(answer),
                }) = answered
                else {
                    panic!("{name}: {answered:?}")
                };
                let expected = FullAnswer {
                    witness: LeaseWitness {
                        digest: answer.witness.digest,
                        answered_ns: answer.witness.answered_ns,
                        ..LeaseWitness::default()
                    },
                    instance: 0x1122_3344_5566_7788,
                    node: NodeId(NODE),
                    capabilities: Capabilities::from_bits(4096 + 2048 + 128 + 64 + 32 + 15),
                    marks: Marks {
                        tos_value: MARK,
                        tos_mask: MARK,
                        extension_port: EXTENSION_PORT,
                    },
                    clock: ClockState {
                        source: ClockSource::Realtime,
                        synchronised: true,
                    },
                    clock_steering: ClockSteering::from_bits(3),
                    mtu: if Features::probe().check_mtu {
                        u16::MAX
                    } else {
                        0
                    },
                    tai_offset_s: -37,
                    software: (3, 4),
                    ..FullAnswer::default()
                };
                assert_eq!(answer, expected, "{name}");
                assert!(answer.witness.answered_ns > 0, "{name}: when it answered");
                let grant = sink.grant(addresses(v6).0).expect("a grant");
                let until = earliest + GRANT_NS..=monotonic_ns() + GRANT_NS;
                assert!(until.contains(&grant.until_ns), "{name}: for a minute");
                assert_eq!(grant.source_node, ASKING.0, "{name}: to whom");

                let frame = in_vlans(short(v6)).bytes();
                let answered = ask(&sink, hook, &frame, at, &name);
                let LeaseEcho::Short(ShortEcho {
                    nonce: NONCE,
                    answer: Some(witness),
                }) = answered
                else {
                    panic!("{name}: {answered:?}")
                };
                assert!(
                    witness.answered_ns >= answer.witness.answered_ns,
                    "{name}: it answered later"
                );
                let told = LeaseWitness {
                    answered_ns: answer.witness.answered_ns,
                    ..witness
                };
                assert_eq!(told, answer.witness, "{name}: the same counts and digest");
            }
            assert_eq!(sink.grants(), 2, "one for each address");
            assert_eq!(sink.events().len(), 0, "nobody need know");
        }
    }

    #[test]
    fn the_checksum_of_an_answered_message_is_as_right_as_it_was() {
        let sink = sink();
        for (hook, v6) in every_way() {
            for frame in [full(v6, &full_question(v6)), short(v6)] {
                let mut frame = frame.bytes();
                let ran = (hook.run)(&sink, &frame);
                assert_ne!(ran.bytes, frame, "it was answered");
                assert_eq!(verify_packet(&ran.bytes[14..]), Ok(()), "{}", hook.name);
                let checksum = message_at(v6, 0) - 6;
                frame[checksum] ^= 0x10;
                let ran = (hook.run)(&sink, &frame);
                let damaged = verify_packet(&ran.bytes[14..]);
                assert!(damaged.is_err(), "{}: the stack drops it", hook.name);
            }
        }
    }

    #[test]
    fn what_is_no_right_question_passes_and_grants_nothing() {
        let sink = sink();
        let forged = count::COUNT_SINK_LEASE_FORGED;
        for (hook, v6) in every_way() {
            let question = full_question(v6);
            let messages = [
                encode_full_question(&question, addresses(v6).1, KEY).to_vec(),
                short(v6).bytes()[message_at(v6, 0)..].to_vec(),
            ];
            for message in messages {
                let changed = |at: usize| {
                    let mut message = message.clone();
                    message[at] ^= 1;
                    echo(v6, &message)
                };
                let tag = if message.len() == FULL_LEN { 56 } else { 16 };
                let reply = icmp(v6, [if v6 { 129 } else { 0 }, 0], &message);
                let longer = [&message[..], &[0]].concat();
                let cases = [
                    ("a wrong tag", changed(tag), Some(forged)),
                    ("another nonce", changed(15), Some(forged)),
                    ("another magic", changed(0), None),
                    ("another version", changed(7), None),
                    ("an echo reply", reply, None),
                    ("a byte more", echo(v6, &longer), None),
                    ("a byte less", echo(v6, &message[1..]), None),
                    (
                        "three VLAN tags",
                        echo(v6, &message).vlan(1).vlan(2).vlan(3),
                        None,
                    ),
                ];
                for (name, frame, counted) in cases {
                    let frame = frame.bytes();
                    sink.zero_counters();
                    let ran = (hook.run)(&sink, &frame);
                    let name = format!("{}, {} bytes: {name}", hook.name, message.len());
                    assert_eq!(ran.verdict, hook.pass, "{name}: verdict");
                    let mut expected = frame.clone();
                    if counted.is_some() {
                        let end = frame.len();
                        let check = message_at(v6, 0) - 6;
                        expected[end - 8..].fill(0xff);
                        expected[check..check + 2].copy_from_slice(&ran.bytes[check..check + 2]);
                        assert_eq!(verify_packet(&ran.bytes[14..]), Ok(()), "{name}");
                    }
                    assert_eq!(
                        ran.bytes, expected,
                        "{name}: only the tag's place is marked"
                    );
                    let counted = counted.map(|which| (which, 1, frame.len() as u64));
                    assert_counted(&sink, counted.as_slice(), &name);
                    assert_remembers_nothing(&sink, &name);
                }
            }
        }
    }

    #[test]
    fn a_sink_that_closes_or_has_no_room_does_not_answer() {
        let mut closing = settings();
        closing.flags |= sink_flag::SINK_CLOSING.0;
        for (name, settings, sizes, counted) in [
            (
                "closing",
                closing,
                Sizes::default(),
                count::COUNT_SINK_LEASE_CLOSING,
            ),
            (
                "no room",
                settings(),
                Sizes {
                    grants: 1,
                    ..Sizes::default()
                },
                count::COUNT_SINK_LEASE_FULL,
            ),
        ] {
            let sink = Sink::load_sized(&settings, Sizes { tc: true, ..sizes });
            sink.set_lease_key(KEY);
            sink.set_grant([203, 0, 113, 1].into(), u64::MAX);
            for (hook, v6) in every_way() {
                for frame in [full(v6, &full_question(v6)), short(v6)] {
                    let frame = frame.bytes();
                    sink.zero_counters();
                    let ran = (hook.run)(&sink, &frame);
                    assert_eq!((ran.verdict, &ran.bytes), (hook.pass, &frame), "{name}");
                    assert_counted(&sink, &[(counted, 1, frame.len() as u64)], name);
                }
            }
            assert_eq!(sink.grants(), 1, "{name}: no other grant");
        }
    }

    #[test]
    fn an_astray_sink_says_so_and_grants_nothing_but_strips_for_those_with_a_grant() {
        let sink = sink();
        let mut astray = settings();
        astray.flags |= sink_flag::SINK_ASTRAY.0;
        sink.set(&astray);
        for (hook, v6) in every_way() {
            let refused = count::COUNT_SINK_LEASE_ASTRAY;
            for frame in [full(v6, &full_question(v6)), short(v6)] {
                let frame = frame.bytes();
                sink.zero_counters();
                let echo = ask(&sink, hook, &frame, message_at(v6, 0), "astray");
                let (LeaseEcho::Full(FullEcho {
                    answer: Some(FullAnswer { witness, .. }),
                    ..
                })
                | LeaseEcho::Short(ShortEcho {
                    answer: Some(witness),
                    ..
                })) = echo
                else {
                    panic!("{echo:?}")
                };
                assert!(witness.astray, "{}: the flag", hook.name);
                assert_counted(&sink, &[(refused, 1, frame.len() as u64)], "astray");
                assert_remembers_nothing(&sink, "astray");
            }
        }
        let source = addresses(false).0;
        sink.set_grant(source, u64::MAX);
        assert!(ask_short(&sink).astray, "in spite of the grant");
        let grant = sink.grant(source).expect("still there");
        assert_eq!(grant.until_ns, u64::MAX, "the grant is as it was");
        let (name, frame, original) = tagged().remove(0);
        assert_eq!(sink.run(&frame).bytes, original, "{name} is stripped still");
    }

    #[test]
    fn a_grant_keeps_its_counts_when_it_is_renewed() {
        let source = addresses(false).0;
        let begun = sink_grant {
            until_ns: 1,
            source_node: 5,
            round: ROUND,
            stripped: [1, 2, 1 << 32 | 3],
            lost: 4,
            arrived: [[5, 6], [7, 8], [9, 10], [11, 12]],
            tos_changed: [1, 2, 3, 4],
            ..sink_grant::default()
        };
        let question = FullQuestion {
            round: ROUND,
            ..full_question(false)
        };
        for (name, frame, node) in [
            ("a short question", short(false), 5),
            ("a full question", full(false, &question), ASKING.0),
        ] {
            for hook in &HOOKS {
                let sink = sink();
                sink.put_grant(source, &begun);
                (hook.run)(&sink, &frame.bytes());
                let renewed = sink.grant(source).expect("the grant");
                assert!(renewed.until_ns > 1, "{name}: longer");
                let expected = sink_grant {
                    until_ns: renewed.until_ns,
                    source_node: node,
                    ..begun
                };
                let same = bytes_of(&renewed) == bytes_of(&expected);
                assert!(same, "{name}: else as it was: {renewed:?}");
            }
        }
        let sink = sink();
        sink.put_grant(source, &begun);
        let answer = ask_full(&sink, &question);
        let witness = answer.witness;
        assert_eq!((witness.stripped, witness.lost), ([1, 2, 3], 4), "counts");
        let [over, extension, gpe] = [[5, 6], [7, 8], [9, 10]].map(|[low, high]| high << 64 | low);
        // Behind the stray packets are the probes of INT-MD.
        let arrived = [over, extension, gpe, 11, 12 << 32];
        assert_eq!(answer.arrived, arrived, "probes of the round");
        assert_eq!(answer.tos_changed, [1, 2, 3, 4, 0], "and their changes");
        let other = FullQuestion {
            round: ROUND + 1,
            ..question
        };
        let answer = ask_full(&sink, &other);
        assert_eq!(answer.arrived, [0; 5], "another round begins");
        assert_eq!(answer.tos_changed, [0; 5], "another round begins");
        assert_eq!(answer.witness.stripped, [1, 2, 3], "counts stay");
    }

    #[test]
    fn the_digest_changes_with_all_that_a_short_answer_lacks() {
        let sink = sink();
        ask_full(&sink, &full_question(false));
        let usual = ask_short(&sink).digest;
        assert_eq!(ask_short(&sink).digest, usual, "nothing changed");
        let changes: [(&str, Change<sink_settings>); 5] = [
            ("an encapsulation", |set| {
                set.flags ^= sink_flag::SINK_VXLAN_GPE.0
            }),
            ("the mark", |set| set.tos_value = 8),
            ("its mask", |set| set.tos_mask = 0xfc),
            ("the port", |set| set.extension_port = 1),
            ("nothing", |_| {}),
        ];
        for (name, change) in changes {
            let mut changed = settings();
            change(&mut changed);
            sink.set(&changed);
            let same = ask_short(&sink).digest == usual;
            assert_eq!(same, name == "nothing", "{name}");
        }
        let changes: [(&str, Change<host_settings>); 7] = [
            ("the node", |host| host.node_id += 1),
            ("the instance", |host| host.instance += 1),
            ("the clock", |host| host.clock_synchronised ^= 1),
            ("its kind", |host| host.clock_source = 1),
            ("the TAI offset", |host| host.tai_offset_s += 1),
            ("its steering", |host| {
                host.clock_steering += 1;
                host.told_until_ns = u64::MAX;
            }),
            ("its daemon", |host| host.sends_strays = 1),
        ];
        let mut digests = vec![usual];
        for (name, change) in changes {
            sink.set_host(change);
            let digest = ask_short(&sink).digest;
            assert!(!digests.contains(&digest), "{name}");
            digests.push(digest);
        }
        let known = ask_short(&sink).digest;
        sink.forget_grant(addresses(false).0);
        assert_ne!(ask_short(&sink).digest, known, "the grant was lost");
        assert_eq!(sink.grants(), 1, "and a short question begins another");
        ask_full(&sink, &full_question(false));
        assert_eq!(ask_short(&sink).digest, known, "a full one says who asks");
    }

    #[test]
    fn capabilities_are_what_the_sink_recognises() {
        use lease_capability as can;
        use sink_flag as flag;
        for (flags, capabilities) in [
            (flag::SINK_SEGMENTS, can::CAPABLE_UDP_SUPERPACKETS),
            (flag::SINK_OVER_TCP_UDP, can::CAPABLE_OVER_TCP_UDP),
            (flag::SINK_EXTENSION_UDP, can::CAPABLE_EXTENSION_UDP),
            (flag::SINK_VXLAN_GPE, can::CAPABLE_VXLAN_GPE),
            (flag::SINK_IOAM, can::CAPABLE_IOAM),
            (flag::SINK_OPTIONS, can::CAPABLE_OPTIONS),
            (
                flag::SINK_INT_MD,
                can(can::CAPABLE_INT_MD.0 | can::CAPABLE_INT_MX.0),
            ),
        ] {
            let sink = sink();
            sink.set(&sink_settings {
                flags: flags.0 | flag::SINK_STRICT.0 | flag::SINK_DROP_TAGGED.0,
                ..settings()
            });
            let answer = ask_full(&sink, &full_question(false));
            let capabilities = can::CAPABLE_STACKS.0 | can::CAPABLE_PATH_ITEMS.0 | capabilities.0;
            assert_eq!(answer.capabilities.bits(), capabilities, "{flags:?}");
            assert_eq!(answer.capabilities.stack(), 9, "{flags:?}");
            assert!(answer.capabilities.path_items(), "{flags:?}");
            let segments = flags == flag::SINK_SEGMENTS;
            assert_eq!(
                answer.capabilities.udp_superpackets(),
                segments,
                "{flags:?}"
            );
        }
    }

    #[test]
    fn a_daemon_that_sends_strays_is_told_of_while_it_lives() {
        for (name, until_ns, sends, told) in [
            ("it lives", u64::MAX, 1, true),
            ("it keeps no leases", u64::MAX, 0, false),
            ("it has ended", 1, 1, false),
            ("there was none", 0, 0, false),
        ] {
            let sink = sink();
            sink.set_host(|host| {
                host.told_until_ns = until_ns;
                host.sends_strays = sends;
            });
            let answer = ask_full(&sink, &full_question(false));
            assert_eq!(answer.capabilities.strays(), told, "{name}");
        }
    }

    #[test]
    fn counts_follow_every_packet_of_a_short_flow_and_all_but_a_32nd_of_a_long_one() {
        for (form, atomics) in [(0, true), (1, true), (2, true), (0, false), (2, false)] {
            let sizes = Sizes {
                atomics,
                ..Sizes::default()
            };
            let sink = Sink::load_sized(&settings(), sizes);
            sink.set_lease_key(KEY);
            ask_full(&sink, &full_question(false));
            for sent in 1..=3_000u32 {
                send(&sink, form, sent..=sent);
                if sent > 64 && !sent.is_multiple_of(97) {
                    continue;
                }
                let stripped = ask_short(&sink).stripped;
                let least = if sent <= 32 {
                    sent
                } else {
                    sent - sent / 32 - 1
                };
                let told = stripped[form];
                assert!((least..=sent).contains(&told), "{told} of {sent}");
                assert_eq!(stripped.iter().sum::<u32>(), told, "one encapsulation");
            }
            let packets = sink.flow(&key(UDP)).expect("a flow").packets;
            assert_eq!(packets, 3_000, "all arrived");
        }
    }

    #[test]
    fn packets_that_are_stripped_but_not_measured_are_counted_at_once() {
        let no_flows = Sink::load(&sink_settings {
            new_flows_total: token_rate {
                interval_ns: u64::MAX >> 2,
                burst_ns: 0,
            },
            ..settings()
        });
        no_flows.set_lease_key(KEY);
        ask_full(&no_flows, &full_question(false));
        send(&no_flows, 2, 1..=40);
        assert_eq!(no_flows.flows(), 0, "none is tracked");
        assert_eq!(ask_short(&no_flows).stripped, [0, 0, 40]);
    }

    #[test]
    fn losses_are_counted_and_taken_back() {
        let sink = Sink::load(&sink_settings {
            loss_timeout_ns: 100 * MS as u64,
            ..settings()
        });
        sink.set_lease_key(KEY);
        ask_full(&sink, &full_question(false));
        send(&sink, 0, (1..=10).chain(16..=20));
        assert_eq!(ask_short(&sink).lost, 0, "not yet");
        sink.jump(101 * MS);
        sink.sweep(&[key(UDP)]);
        sink.jump(101 * MS);
        sink.sweep(&[key(UDP)]);
        assert_eq!(ask_short(&sink).lost, 5, "after the timeout");
        send(&sink, 0, 12..=13);
        assert_eq!(ask_short(&sink).lost, 3, "two arrived after all");
        send(&sink, 0, 30..=30);
        for number in 31..=33 {
            sink.jump(101 * MS);
            send(&sink, 0, number..=number);
        }
        assert_eq!(ask_short(&sink).lost, 12, "a packet ends the period");
    }

    #[test]
    fn without_a_key_only_the_packets_source_is_told_their_counts() {
        for (has_key, told) in [(1, true), (0, false)] {
            let sink = sink();
            sink.set_host(|host| host.has_lease_key = has_key);
            let own = FullQuestion {
                round: ROUND,
                ..full_question(false)
            };
            ask_full(&sink, &own);
            send(&sink, 0, 1..=3);
            let source = addresses(false).0;
            let mut grant = sink.grant(source).expect("a grant");
            grant.arrived[2] = [7, 0];
            sink.put_grant(source, &grant);
            // Another host asks about the same packets.
            let other = std::net::IpAddr::from([192, 0, 2, 77]);
            let question = FullQuestion {
                origin: other,
                ..own
            };
            let message = encode_full_question(&question, addresses(false).1, KEY);
            let frame = echo(false, &message).from([192, 0, 2, 77]).bytes();
            let answered = ask(
                &sink,
                &HOOKS[0],
                &frame,
                message_at(false, 0),
                "another host",
            );
            let LeaseEcho::Full(FullEcho {
                answer: Some(answer),
                ..
            }) = answered
            else {
                panic!("{answered:?}")
            };
            let stripped = answer.witness.stripped[0];
            let expected = if told { (3, 7) } else { (0, 0) };
            assert_eq!((stripped, answer.arrived[2]), expected, "{has_key}");
            assert_eq!(answer.witness.untold, !told, "{has_key}: it says so");
            let question = FullQuestion {
                round: ROUND + 1,
                ..question
            };
            let message = encode_full_question(&question, addresses(false).1, KEY);
            let frame = echo(false, &message).from([192, 0, 2, 77]).bytes();
            sink.run(&frame);
            let round = sink.grant(source).expect("a grant").round;
            assert_eq!(
                round == ROUND,
                !told,
                "{has_key}: nor does it begin a round"
            );
            let own = ask_full(&sink, &own);
            assert_eq!(own.witness.stripped[0], 3, "{has_key}: the source is told");
            assert!(!own.witness.untold, "{has_key}: the source is told");
        }
    }

    #[test]
    fn a_message_of_another_version_gets_no_answer() {
        let sink = sink();
        for version in [1, 3] {
            let mut other = full(false, &full_question(false)).bytes();
            other[message_at(false, 0) + 7] = version;
            assert_eq!(sink.run(&other).bytes, other, "version {version}");
        }
        assert_remembers_nothing(&sink, "another version");
    }
}
