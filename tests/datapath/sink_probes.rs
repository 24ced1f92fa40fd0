//! The sink notes the probes of hosts with a lease, takes every probe out of the traffic, and takes nothing else for one.

use std::net::{IpAddr, Ipv4Addr};

use hostint::datapath::abi::{bytes_of, sink_counter, sink_flag, sink_grant, sink_settings};
use hostint::model::{LeaseKey, LeaseProbe, NodeId, ProbeForm};
use hostint::wire::lease::probe::PROBES;
use hostint::wire::lease::probe_packet::ProbePacket;
use hostint_testing::checksum::verify_packet;
use hostint_testing::frame::{EXTENSION_PORT, Frame, INT_MD_MARK, MARK};
use hostint_testing::lease_cases::{HOOKS, Hook, KEY, addresses, assert_counted, leasing_sink};
use hostint_testing::packets::{tcp, udp, udp6};
use hostint_testing::programs::run_often;
use hostint_testing::programs::sink::{Sink, Sizes, XDP_DROP, settings};

const ROUND: u64 = 0x6162_6364_6566_6768;
/// The data's DSCP, and ECT(0).
const TOS: u8 = 0x2a;

fn packet(form: ProbeForm, v6: bool) -> ProbePacket {
    let (source, dest) = addresses(v6);
    let tos = match form {
        ProbeForm::OverUdp => TOS & !MARK | MARK,
        ProbeForm::IntMd => TOS & !INT_MD_MARK.1 | INT_MD_MARK.0,
        _ => TOS & !MARK,
    };
    ProbePacket {
        probe: LeaseProbe {
            form,
            number: 5,
            tos,
            round: ROUND,
        },
        source,
        dest,
        node: NodeId(2),
        entries: 3,
        is_back: false,
    }
}

/// Where the probe begins in a packet, or a payload, of this form and length without padding.
fn probe_at(form: ProbeForm, len: usize) -> usize {
    let behind = match form {
        ProbeForm::Options => 26,
        _ => 0,
    };
    len - behind - 24
}

/// The word and the bit that say that a probe of this form and number arrived.
fn place(form: ProbeForm, number: u8) -> (usize, usize, u64) {
    let (at, number) = match form {
        ProbeForm::IntMd => (3, number + 32),
        form => (form.place(), number),
    };
    (at, usize::from(number / 64), 1 << (number % 64))
}

fn frame_by(packet: &ProbePacket, key: LeaseKey) -> Frame {
    let payload = packet.payload(key, 0);
    let frame = if packet.dest.is_ipv6() { udp6() } else { udp() };
    let frame = frame.wire_tos(packet.probe.tos);
    if packet.raw_protocol().is_some() {
        // The builder writes no header for a protocol that it does not know.
        return frame.protocol(253).payload_bytes(payload);
    }
    frame
        .ports(packet.sport(), packet.dport(EXTENSION_PORT))
        .payload_bytes(payload)
}

/// The packet of a probe as it arrives.
fn bytes_by(packet: &ProbePacket, key: LeaseKey, change: impl Fn(Frame) -> Frame) -> Vec<u8> {
    let mut bytes = change(frame_by(packet, key)).bytes();
    if let Some(protocol) = packet.raw_protocol() {
        name_protocol(&mut bytes, protocol);
    }
    bytes
}

/// Names this protocol in the IP header of a frame that was built with another one.
fn name_protocol(bytes: &mut [u8], protocol: u8) {
    let mut l3 = 14;
    while bytes[l3 - 2..l3] == [0x81, 0] {
        l3 += 4;
    }
    if bytes[l3] >> 4 == 6 {
        bytes[l3 + 6] = protocol;
        return;
    }
    bytes[l3 + 9] = protocol;
    bytes[l3 + 10..l3 + 12].fill(0);
    let check = hostint_testing::checksum::complement(hostint_testing::checksum::sum(
        &bytes[l3..l3 + usize::from(bytes[l3] & 15) * 4],
    ));
    bytes[l3 + 10..l3 + 12].copy_from_slice(&check.to_be_bytes());
}

fn bytes(packet: &ProbePacket) -> Vec<u8> {
    bytes_by(packet, KEY, |frame| frame)
}

fn granted() -> sink_grant {
    sink_grant {
        until_ns: u64::MAX,
        round: ROUND,
        ..sink_grant::default()
    }
}

/// A sink that granted leases to both addresses and awaits the probes of a round.
fn sink() -> Sink {
    let sink = leasing_sink(Sizes::default());
    grant(&sink, &granted());
    sink
}

fn grant(sink: &Sink, grant: &sink_grant) {
    for v6 in [false, true] {
        sink.put_grant(addresses(v6).0, grant);
    }
}

fn assert_grants(sink: &Sink, expected: &sink_grant, name: &str) {
    for v6 in [false, true] {
        let grant = sink.grant(addresses(v6).0).expect("the grant");
        let same = bytes_of(&grant) == bytes_of(expected);
        assert!(same, "{name}: the grant is {grant:?}");
    }
    assert_eq!(sink.grants(), 2, "{name}: grants");
    assert_eq!((sink.flows(), sink.buckets()), (0, 0), "{name}: flows");
    assert_eq!(sink.events().len(), 0, "{name}: events");
}

/// Each form, with each IP version that it is for, at each hook.
fn every_way() -> impl Iterator<Item = (ProbeForm, bool, &'static Hook)> {
    ProbeForm::ALL.into_iter().flat_map(|form| {
        [false, true]
            .into_iter()
            .filter(move |v6| *v6 || form != ProbeForm::Ioam)
            .flat_map(move |v6| HOOKS.iter().map(move |hook| (form, v6, hook)))
    })
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;
    use sink_counter as count;

    #[test]
    fn the_frames_of_these_tests_are_right() {
        for (form, v6, _) in every_way() {
            let frame = bytes(&packet(form, v6));
            assert_eq!(verify_packet(&frame[14..]), Ok(()), "{form:?}, IPv6: {v6}");
        }
    }

    #[test]
    fn probes_are_noted_by_form_and_number_and_dropped() {
        for atomics in [true, false] {
            let sink = leasing_sink(Sizes {
                atomics,
                ..Sizes::default()
            });
            for (form, v6, hook) in every_way() {
                grant(&sink, &granted());
                let mut expected = [[0u64; 2]; 4];
                for number in [0, 1, 63, 64, PROBES - 1] {
                    let name = format!("{}: {form:?} {number}, IPv6: {v6}", hook.name);
                    let mut packet = packet(form, v6);
                    packet.probe.number = number;
                    let frame = bytes(&packet);
                    sink.zero_counters();
                    let ran = (hook.run)(&sink, &frame);
                    assert_eq!(ran.verdict, hook.drop, "{name}: verdict");
                    let counted = (count::COUNT_SINK_PROBE, 1, frame.len() as u64);
                    assert_counted(&sink, &[counted], &name);
                    let (at, word, bit) = place(form, number);
                    expected[at][word] |= bit;
                    let noted = sink.grant(addresses(v6).0).expect("the grant");
                    assert_eq!(noted.arrived, expected, "{name}");
                    assert_eq!(noted.tos_changed, [0; 4], "{name}");
                }
            }
            assert_eq!((sink.flows(), sink.grants()), (0, 2), "nothing else");
        }
    }

    #[test]
    fn probes_are_recognised_in_vlans_and_in_full_length() {
        let sink = sink();
        for (form, v6, hook) in every_way() {
            let name = format!("{}: {form:?}, IPv6: {v6}", hook.name);
            let packet = packet(form, v6);
            let long = packet.payload(KEY, 1472 - 20);
            for frame in [
                bytes_by(&packet, KEY, |frame| frame.vlan(5)),
                bytes_by(&packet, KEY, |frame| frame.vlan(5).vlan(6)),
                bytes_by(&packet, KEY, |frame| frame.payload_bytes(long.clone())),
                bytes_by(&packet, KEY, |frame| frame.padding(9)),
            ] {
                grant(&sink, &granted());
                let ran = (hook.run)(&sink, &frame);
                assert_eq!(ran.verdict, hook.drop, "{name}: verdict");
                let noted = sink.grant(addresses(v6).0).expect("the grant");
                let (at, word, bit) = place(form, 5);
                assert_eq!(noted.arrived[at][word], bit, "{name}");
            }
        }
    }

    #[test]
    fn a_changed_tos_byte_is_told_and_a_lost_mark_is_no_arrival() {
        struct Case {
            name: &'static str,
            form: ProbeForm,
            arrives_as: u8,
            arrived: bool,
        }
        let case = |name, form, arrives_as, arrived| Case {
            name,
            form,
            arrives_as,
            arrived,
        };
        let sink = sink();
        for hook in &HOOKS {
            for v6 in [false, true] {
                for case in [
                    case("a rewritten mark", ProbeForm::OverUdp, 0, false),
                    case("congestion", ProbeForm::OverUdp, TOS | MARK | 3, true),
                    case("another DSCP", ProbeForm::OverUdp, 0x48 | MARK, true),
                    case("a rewritten mark", ProbeForm::IntMd, 0, false),
                    case("the other mark", ProbeForm::IntMd, MARK, false),
                    case("congestion", ProbeForm::IntMd, INT_MD_MARK.0 | 3, true),
                    case("DSCP 0", ProbeForm::Gpe, 0, true),
                    case("DSCP 0", ProbeForm::Extension, 0, true),
                    case("DSCP 0", ProbeForm::Stray, 0, true),
                    case("a mark from the path", ProbeForm::Gpe, TOS | MARK, true),
                    case("a mark from the path", ProbeForm::Stray, TOS | MARK, true),
                ] {
                    let name = format!("{}: {}, {:?}", hook.name, case.name, case.form);
                    let packet = packet(case.form, v6);
                    let frame = bytes_by(&packet, KEY, |frame| frame.wire_tos(case.arrives_as));
                    grant(&sink, &granted());
                    let ran = (hook.run)(&sink, &frame);
                    assert_eq!(ran.verdict, hook.drop, "{name}: verdict");
                    let noted = sink.grant(addresses(v6).0).expect("the grant");
                    let (at, word, _) = place(case.form, 5);
                    let arrived = noted.arrived[at][word] != 0;
                    assert_eq!(arrived, case.arrived, "{name}: arrived");
                    let changed = match case.form {
                        ProbeForm::IntMd => 0,
                        _ => packet.probe.tos ^ case.arrives_as,
                    };
                    assert_eq!(noted.tos_changed[at], changed, "{name}: changed bits");
                }
            }
        }
    }

    #[test]
    fn probes_that_are_not_right_are_dropped_and_change_nothing() {
        struct Case {
            name: &'static str,
            grant: sink_grant,
            change: fn(&mut ProbePacket),
            key: LeaseKey,
            counted: count,
        }
        let case = |name, counted, change| Case {
            name,
            grant: granted(),
            change,
            key: KEY,
            counted,
        };
        let (probe, forged) = (count::COUNT_SINK_PROBE, count::COUNT_SINK_PROBE_FORGED);
        let nothing: fn(&mut ProbePacket) = |_| {};
        let cases = [
            case("another round", probe, |packet| packet.probe.round += 1),
            case("no round", probe, |packet| packet.probe.round = 0),
            Case {
                grant: sink_grant {
                    round: 0,
                    ..granted()
                },
                ..case("no round, and none awaited", probe, |packet| {
                    packet.probe.round = 0;
                })
            },
            case("number 72", forged, |packet| packet.probe.number = 72),
            case("number 255", forged, |packet| packet.probe.number = 255),
            Case {
                key: LeaseKey::default(),
                ..case("another key", forged, nothing)
            },
            Case {
                grant: sink_grant {
                    until_ns: 1,
                    ..granted()
                },
                ..case("a grant that ended", forged, nothing)
            },
        ];
        let sink = sink();
        for (form, v6, hook) in every_way() {
            for case in &cases {
                let name = format!("{}: {}, {form:?}, IPv6: {v6}", hook.name, case.name);
                let mut packet = packet(form, v6);
                (case.change)(&mut packet);
                if form == ProbeForm::Stray && packet.probe.number > PROBES {
                    continue; // its port would be another one, so it is no probe
                }
                grant(&sink, &case.grant);
                sink.zero_counters();
                let frame = bytes_by(&packet, case.key, |frame| frame);
                let ran = (hook.run)(&sink, &frame);
                assert_eq!(ran.verdict, hook.drop, "{name}: verdict");
                assert_counted(&sink, &[(case.counted, 1, frame.len() as u64)], &name);
                assert_grants(&sink, &case.grant, &name);
            }
        }
    }

    /// What switches do that know v0.5: the hops' entries stand in front of the source's.
    fn pushed_onto(packet: &ProbePacket, hops: u8, exceeded: bool) -> Vec<u8> {
        let mut payload = packet.payload(KEY, 0);
        payload[2] += 4 * hops; // words
        payload[4] |= u8::from(exceeded);
        payload[6] = payload[6].max(hops + 1); // max hops
        payload[7] += hops; // total hops
        for hop in 0..hops {
            payload.splice(
                12..12,
                [0, 0, 0, 70 + hop, 0, 1, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4],
            );
        }
        payload
    }

    #[test]
    fn entries_that_switches_pushed_onto_a_probe_are_passed_over() {
        let sink = sink();
        for (hook, v6) in HOOKS.iter().flat_map(|hook| [(hook, false), (hook, true)]) {
            for (hops, exceeded) in [(1, false), (1, true), (2, false), (8, true)] {
                for marked in [true, false] {
                    let name = format!("{}: {hops} hops, {exceeded}, IPv6: {v6}", hook.name);
                    let packet = packet(ProbeForm::OverUdp, v6);
                    let payload = pushed_onto(&packet, hops, exceeded);
                    let tos = if marked { packet.probe.tos } else { 0 };
                    let frame = bytes_by(&packet, KEY, |frame| {
                        frame.payload_bytes(payload.clone()).wire_tos(tos)
                    });
                    grant(&sink, &granted());
                    sink.zero_counters();
                    let ran = (hook.run)(&sink, &frame);
                    assert_eq!(ran.verdict, hook.drop, "{name}: verdict");
                    let counted = (count::COUNT_SINK_PROBE, 1, frame.len() as u64);
                    assert_counted(&sink, &[counted], &name);
                    let noted = sink.grant(addresses(v6).0).expect("the grant");
                    let (at, word, bit) = place(ProbeForm::OverUdp, 5);
                    // Without the mark, data would not be recognised.
                    let expected = if marked { bit } else { 0 };
                    assert_eq!(noted.arrived[at][word], expected, "{name}");
                }
            }
            let packet = packet(ProbeForm::OverUdp, v6);
            let payload = pushed_onto(&packet, 9, false);
            let frame = bytes_by(&packet, KEY, |frame| frame.payload_bytes(payload.clone()));
            let ran = (hook.run)(&sink, &frame);
            let name = format!("{}: more hops than a sink reads, IPv6: {v6}", hook.name);
            assert_ne!(ran.verdict, hook.drop, "{name}");
        }
    }

    #[test]
    fn every_damaged_bit_of_a_probe_is_noticed() {
        let sink = sink();
        for (form, v6, hook) in every_way() {
            let frame = bytes(&packet(form, v6));
            let at = probe_at(form, frame.len());
            for (byte, bit) in (0..24).flat_map(|byte| (0..8).map(move |bit| (byte, bit))) {
                let mut damaged = frame.clone();
                damaged[at + byte] ^= 1 << bit;
                (hook.run)(&sink, &damaged);
                let name = format!("{form:?}, IPv6: {v6}: bit {bit} of byte {byte}");
                let grant = sink.grant(addresses(v6).0).expect("the grant");
                assert_eq!(grant.arrived, [[0; 2]; 4], "{}: {name}", hook.name);
                assert_eq!(grant.tos_changed, [0; 4], "{}: {name}", hook.name);
            }
        }
    }

    #[test]
    fn stray_datagrams_arrive_by_their_own_numbers_only() {
        let sink = sink();
        for (hook, v6) in HOOKS.iter().flat_map(|hook| [(hook, false), (hook, true)]) {
            for number in [8, 15] {
                let mut packet = packet(ProbeForm::Stray, v6);
                packet.probe.number = number;
                grant(&sink, &granted());
                let frame = bytes(&packet);
                let ran = (hook.run)(&sink, &frame);
                let name = format!("{}: number {number}, IPv6: {v6}", hook.name);
                assert_eq!(ran.verdict, hook.drop, "{name}");
                let noted = sink.grant(addresses(v6).0).expect("the grant");
                assert_eq!(noted.arrived[3], [1 << number, 0], "{name}");

                // A datagram with the number of a segment is no probe.
                let mut other = frame.clone();
                let at = other.len() - 36 + 6;
                other[at] = 5;
                let ran = (hook.run)(&sink, &other);
                assert_ne!(ran.verdict, hook.drop, "{name}: with number 5");
            }
        }
    }

    #[test]
    fn a_probe_of_one_form_is_none_of_another() {
        let sink = sink();
        for (form, v6, hook) in every_way() {
            for other in ProbeForm::ALL.into_iter().filter(|other| *other != form) {
                // The headers are those of one form, the probe names another.
                let mut frame = bytes(&packet(form, v6));
                let probe = packet(other, v6).payload(KEY, 0);
                let probe = &probe[probe_at(other, probe.len())..][..24];
                let at = probe_at(form, frame.len());
                frame[at..at + 24].copy_from_slice(probe);
                if form == ProbeForm::Stray {
                    let numbers = at - 16;
                    frame[numbers..numbers + 8].copy_from_slice(&probe[16..]);
                }
                grant(&sink, &granted());
                sink.zero_counters();
                let ran = (hook.run)(&sink, &frame);
                let name = format!("{}: {other:?} in {form:?}, IPv6: {v6}", hook.name);
                assert_eq!(ran.verdict, hook.drop, "{name}: verdict");
                let counted = (count::COUNT_SINK_PROBE_FORGED, 1, frame.len() as u64);
                assert_counted(&sink, &[counted], &name);
                assert_grants(&sink, &granted(), &name);
            }
        }
    }

    #[test]
    fn a_probe_from_an_address_without_a_grant_is_dropped() {
        let sink = leasing_sink(Sizes::default());
        for (form, v6, hook) in every_way() {
            let frame = bytes(&packet(form, v6));
            sink.zero_counters();
            let ran = (hook.run)(&sink, &frame);
            assert_eq!(ran.verdict, hook.drop, "{}: {form:?}", hook.name);
            let counted = (count::COUNT_SINK_PROBE_FORGED, 1, frame.len() as u64);
            assert_counted(&sink, &[counted], hook.name);
        }
        assert_eq!((sink.grants(), sink.flows()), (0, 0), "nothing is kept");
    }

    #[test]
    fn packets_that_are_no_probes_are_not_taken_for_one() {
        let sink = sink();
        for v6 in [false, true] {
            let [over, extension, gpe, stray, int_md, ..] =
                ProbeForm::ALL.map(|form| packet(form, v6));
            let changed = |packet: &ProbePacket, from_end: usize, by: u8| {
                let mut bytes = bytes(packet);
                let at = bytes.len() - from_end;
                bytes[at] ^= by;
                bytes
            };
            let foreign = Some(count::COUNT_SINK_FOREIGN_MARK);
            let bad_shim = Some(count::COUNT_SINK_BAD_SHIM);
            let other_payload = |packet: &ProbePacket| changed(packet, 24, 1);
            let mut cases = vec![
                ("a damaged INT block", changed(&over, 60, 1), foreign),
                ("a damaged INT block", changed(&extension, 68, 1), bad_shim),
                (
                    "another domain",
                    changed(&int_md, 24 + 38, 1),
                    Some(count::COUNT_SINK_FOREIGN_MARK),
                ),
                (
                    "a stray segment with data of its own",
                    other_payload(&stray),
                    None,
                ),
                ("a stray segment with SYN", changed(&stray, 31, 0x02), None),
                ("a stray segment with FIN", changed(&stray, 31, 0x01), None),
                ("a stray segment with PSH", changed(&stray, 31, 0x08), None),
                ("another sequence number", changed(&stray, 40, 1), None),
                ("another acknowledgement", changed(&stray, 33, 1), None),
                ("another source port", changed(&stray, 43, 1), None),
                ("another destination port", changed(&stray, 41, 1), None),
            ];
            if !v6 {
                cases.push((
                    "a fragment over UDP",
                    bytes_by(&over, KEY, |frame| frame.more_fragments()),
                    Some(count::COUNT_SINK_FRAGMENT),
                ));
                cases.push((
                    "a fragment of a tunnel",
                    bytes_by(&gpe, KEY, |frame| frame.more_fragments()),
                    Some(count::COUNT_SINK_FRAGMENT),
                ));
                cases.push((
                    "a stray fragment",
                    bytes_by(&stray, KEY, |frame| frame.more_fragments()),
                    None,
                ));
            }
            for (name, frame, counted) in cases {
                for hook in &HOOKS {
                    let name = format!("{}: {name}, IPv6: {v6}", hook.name);
                    sink.zero_counters();
                    let ran = (hook.run)(&sink, &frame);
                    assert_eq!((ran.verdict, &ran.bytes), (hook.pass, &frame), "{name}");
                    let counted = counted.map(|which| (which, 1, frame.len() as u64));
                    assert_counted(&sink, counted.as_slice(), &name);
                    assert_grants(&sink, &granted(), &name);
                }
            }
        }
    }

    #[test]
    fn segments_of_connections_to_the_same_port_pass_unmodified() {
        let sink = sink();
        for (name, frame) in [
            ("data", tcp().ports(64517, 64511)),
            ("an acknowledgement", tcp().ports(64517, 64511).payload(0)),
            ("options", tcp().ports(64517, 64511).tcp_options(12)),
            ("a runt", tcp().ports(64517, 64511).cut(44)),
            ("a marked one", tcp().ports(64517, 64511).wire_tos(MARK)),
        ] {
            for hook in &HOOKS {
                let frame = frame.bytes();
                let ran = (hook.run)(&sink, &frame);
                let name = format!("{}: {name}", hook.name);
                assert_eq!((ran.verdict, ran.bytes), (hook.pass, frame), "{name}");
                let probes = [count::COUNT_SINK_PROBE, count::COUNT_SINK_PROBE_FORGED];
                assert_eq!(probes.map(|which| sink.count(which)), [0, 0], "{name}");
            }
        }
    }

    #[test]
    fn a_sink_without_an_encapsulation_takes_its_probes_too() {
        let sink = sink();
        for flags in [
            sink_flag::SINK_OVER_TCP_UDP.0,
            sink_flag::SINK_EXTENSION_UDP.0,
            sink_flag::SINK_VXLAN_GPE.0,
        ] {
            sink.set(&sink_settings {
                flags,
                ..settings()
            });
            for v6 in [false, true] {
                for form in [ProbeForm::OverUdp, ProbeForm::Stray] {
                    let ran = sink.run(&bytes(&packet(form, v6)));
                    assert_eq!(ran.verdict, XDP_DROP, "{form:?}, flags {flags}");
                }
            }
        }
    }

    #[test]
    fn a_million_spoofed_probes_are_neither_answered_nor_believed() {
        const SENDERS: u32 = 10;
        // Each run of an XDP program takes as long as thousands of repetitions.
        const REPEAT: u32 = 5_000;
        let sink = sink();
        let mut spoofed = 0;
        for key in [LeaseKey::default(), KEY] {
            for sender in 0..SENDERS {
                for form in ProbeForm::ALL.into_iter().take(ProbeForm::PLACES) {
                    // With the right key they come from addresses without a grant.
                    let known = key != KEY && sender % 2 == 0;
                    let mut packet = packet(form, false);
                    packet.probe.number = (sender % u32::from(PROBES)) as u8;
                    if !known {
                        packet.source = Ipv4Addr::from(0xcb00_7100 + sender).into();
                    }
                    let IpAddr::V4(source) = packet.source else {
                        unreachable!("IPv4")
                    };
                    let frame = bytes_by(&packet, key, |frame| frame.from(source));
                    for (hook, program) in HOOKS.iter().zip([sink.program(), sink.tc_program()]) {
                        let ran = run_often(program, &frame, None, REPEAT);
                        assert_eq!(ran.verdict, hook.drop, "{}: {form:?}", hook.name);
                        assert_eq!(ran.bytes, frame, "{}: {form:?}", hook.name);
                        spoofed += u64::from(REPEAT);
                    }
                }
            }
        }
        assert_eq!(spoofed, 1_000_000, "as many as promised");
        let forged = sink.count(count::COUNT_SINK_PROBE_FORGED);
        assert_eq!(forged, spoofed, "each one is counted");
        assert_grants(&sink, &granted(), "after a million");
    }
}
