//! A flow of the INT source takes its form with its first packet, by its lease, and later only leaves it.

use hostint::datapath::abi::{flow_left, lease_way, source_counter, source_lease, superpackets};
use hostint_testing::frame::Frame;
use hostint_testing::model::form::{Flow, Lease};
use hostint_testing::model::{Encapsulation, Key};
use hostint_testing::packets::{tcp, tcp6, udp, udp6};
use hostint_testing::programs::clock::coarse_ns;
use hostint_testing::programs::source::{Hook, Options, Source, TCX_NEXT};
use hostint_testing::random::Random;
use hostint_testing::source_cases::{assert_counted, assert_tagged, passes, run};

const SYN: u8 = 2;
const ACK: u8 = 16;
const MS: u64 = 1_000_000;

fn syn() -> Frame {
    tcp().payload(0).segment(100, SYN)
}

fn ack() -> Frame {
    tcp().segment(101, ACK)
}

/// A source whose every destination needs a lease. `None`: its encapsulation is tunnel.
fn leased(configured: Option<Encapsulation>) -> Source {
    leased_with(configured, Options::default())
}

fn leased_with(configured: Option<Encapsulation>, options: Options) -> Source {
    Source::load_asking(&Options {
        encapsulation: configured.unwrap_or(Encapsulation::OverTcpUdp),
        tunnel: configured.is_none(),
        ..options
    })
}

/// The model finds the flow of packets without IP options in any encapsulation.
fn key_of(source: &Source, frame: &Frame) -> Key {
    source.model.look(&frame.bytes()).expect("may be tagged")
}

/// As if the flow had looked at its lease 250 ms ago.
fn look_again(source: &Source, key: &Key) {
    if source.knows(key) {
        source.change_flow(key, |flow| flow.leased_ns = 0);
    }
}

fn assert_form(source: &mut Source, frame: &Frame, form: Encapsulation, name: &str) {
    source.model.encapsulation = form;
    assert_tagged(source, Hook::Tc, frame, name);
}

/// The packet leaves as it came, and only this is counted.
fn assert_counts(source: &Source, frame: &Frame, counters: &[source_counter], name: &str) {
    let bytes = frame.bytes();
    source.zero_counters();
    let ran = source.run(&bytes);
    assert_eq!((ran.verdict, &ran.bytes), (TCX_NEXT, &bytes), "{name}");
    let expected: Vec<_> = counters
        .iter()
        .enumerate()
        .map(|(place, counter)| (*counter, 1, if place == 0 { bytes.len() as u64 } else { 0 }))
        .collect();
    assert_counted(source, &expected, name);
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;
    use Encapsulation::{ExtensionUdp, OverTcpUdp, VxlanGpe};
    use source_counter as count;

    const TCP_OVER: u32 = lease_way::WAY_TCP_OVER.0;
    const TCP_EXTENSION: u32 = lease_way::WAY_TCP_EXTENSION.0;
    const TCP_GPE: u32 = lease_way::WAY_TCP_GPE.0;
    const UDP_OVER: u32 = lease_way::WAY_UDP_OVER.0;
    const UDP_EXTENSION: u32 = lease_way::WAY_UDP_EXTENSION.0;
    const UDP_GPE: u32 = lease_way::WAY_UDP_GPE.0;
    const ALL: u32 = 63;

    #[test]
    fn packets_are_tagged_up_to_the_length_that_probes_proved() {
        const LONGEST: u16 = 1_400;
        for (hook, frame, room) in [
            (Hook::Tc, udp as fn() -> Frame, 28 + 88),
            (Hook::Tc, udp6, 48 + 108),
            (Hook::Xdp, udp, 28 + 44),
        ] {
            let form = match hook {
                Hook::Tc => VxlanGpe,
                Hook::Xdp => ExtensionUdp,
            };
            let mut source = leased(Some(form));
            let fits = frame().payload(usize::from(LONGEST) - room);
            let too_long = frame().payload(usize::from(LONGEST) - room + 1);
            let key = key_of(&source, &fits);
            source.set_ways(&key, ALL);
            let mut lease = source.lease(&key).expect("a lease");
            lease.longest = LONGEST;
            source.write_lease(&key, &lease);
            let refused = |source: &Source, name: &str| {
                let bytes = too_long.bytes();
                source.zero_counters();
                let ran = run(source, hook, &bytes);
                assert_eq!(ran.bytes, bytes, "{hook:?}: {name}");
                let counted = (count::COUNT_SOURCE_TOO_LONG, 1, bytes.len() as u64);
                assert_counted(source, &[counted], name);
            };
            refused(&source, "a byte more, before the flow is known");
            source.model.encapsulation = form;
            assert_tagged(&source, hook, &fits, "it just fits");
            refused(&source, "a byte more");
            lease.longest = LONGEST + 1;
            source.write_lease(&key, &lease);
            refused(&source, "the flow has not looked at its lease again");
            look_again(&source, &key);
            assert_tagged(
                &source,
                hook,
                &too_long,
                "the path was proved for longer packets",
            );
        }
    }

    #[test]
    fn hops_may_push_only_where_the_sink_reads_their_entries() {
        for (form, hook, ways) in [
            (OverTcpUdp, Hook::Tc, UDP_OVER),
            (ExtensionUdp, Hook::Tc, UDP_EXTENSION),
            (ExtensionUdp, Hook::Xdp, UDP_EXTENSION),
        ] {
            let source = leased(Some(form));
            let frame = udp();
            let key = key_of(&source, &frame);
            let block = match form {
                OverTcpUdp => 42,
                _ => 34 + 8,
            };
            source.set_ways(&key, ways);
            let mut lease = source.lease(&key).expect("a lease");
            for (stack, word, sentence) in [
                (
                    9,
                    2,
                    "the sink reads stacks, and an older one may replace it",
                ),
                (0, 2, "a sink of 0.1.0 demands Host-INT's word"),
                (1, 1, "the sink reads no stacks on this path"),
                (9, 2, "it reads them again"),
            ] {
                lease.stack = stack;
                source.write_lease(&key, &lease);
                if source.flow(&key).is_some() {
                    look_again(&source, &key);
                }
                let wire = run(&source, hook, &frame.bytes()).bytes;
                assert_eq!(wire[block], 3, "{form:?} at {hook:?}: tagged");
                let words = (wire[block + 6], wire[block + 7]);
                assert_eq!(words, (word, 1), "{form:?} at {hook:?}: {sentence}");
            }
        }
        let source = Source::load(&Options::default());
        let wire = source.run(&udp().bytes()).bytes;
        assert_eq!((wire[42 + 6], wire[42 + 7]), (2, 1), "static destination");
    }

    #[test]
    fn a_flow_takes_the_best_form_that_its_lease_proves() {
        // The configured encapsulation, the ways, and the forms of TCP and UDP.
        type Choice = Option<Encapsulation>;
        let cases: [(Choice, u32, Choice, Choice); 11] = [
            (None, ALL, Some(VxlanGpe), Some(VxlanGpe)),
            (None, TCP_GPE, Some(VxlanGpe), None),
            (None, UDP_GPE, None, Some(VxlanGpe)),
            (None, ALL & !TCP_GPE, Some(ExtensionUdp), Some(VxlanGpe)),
            (None, TCP_OVER | UDP_OVER, None, None),
            (None, 0, None, None),
            (Some(OverTcpUdp), ALL, Some(OverTcpUdp), Some(OverTcpUdp)),
            (
                Some(OverTcpUdp),
                ALL & !TCP_OVER,
                Some(VxlanGpe),
                Some(OverTcpUdp),
            ),
            (
                Some(OverTcpUdp),
                TCP_EXTENSION | UDP_EXTENSION,
                Some(ExtensionUdp),
                Some(ExtensionUdp),
            ),
            (
                Some(ExtensionUdp),
                ALL,
                Some(ExtensionUdp),
                Some(ExtensionUdp),
            ),
            (
                Some(ExtensionUdp),
                TCP_GPE | UDP_GPE,
                Some(VxlanGpe),
                Some(VxlanGpe),
            ),
        ];
        for (configured, ways, tcp_form, udp_form) in cases {
            let mut source = leased(configured);
            let syn6 = tcp6().payload(0).segment(1, SYN);
            for (frame, form) in [
                (syn(), tcp_form),
                (udp(), udp_form),
                (syn6, tcp_form),
                (udp6(), udp_form),
            ] {
                let name = format!("--encap {configured:?}, ways {ways:#x}");
                let key = key_of(&source, &frame);
                source.set_ways(&key, ways);
                match form {
                    Some(form) => {
                        assert_form(&mut source, &frame, form, &name);
                        look_again(&source, &key);
                        assert_form(&mut source, &frame, form, &format!("{name}, again"));
                    }
                    None => {
                        assert_counts(&source, &frame, &[count::COUNT_SOURCE_UNPROVED], &name);
                        source.set_ways(&key, ALL);
                        look_again(&source, &key);
                        if frame.is_udp() {
                            // UDP has no beginning that a firewall could miss.
                            let first = configured.unwrap_or(VxlanGpe);
                            assert_form(&mut source, &frame, first, &format!("{name}, then all"));
                        } else {
                            // What passes later is for later connections.
                            assert_counts(&source, &frame, &[count::COUNT_SOURCE_UNPROVED], &name);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn xdp_can_do_nothing_but_extension_udp() {
        for atomics in [true, false] {
            let source = leased_with(
                Some(ExtensionUdp),
                Options {
                    atomics,
                    ..Options::default()
                },
            );
            for (ways, tagged) in [(ALL, true), (TCP_GPE | UDP_GPE, false)] {
                for frame in [syn(), udp()] {
                    source.forget_flows();
                    source.set_ways(&key_of(&source, &frame), ways);
                    if tagged {
                        assert_tagged(&source, Hook::Xdp, &frame, "it passes");
                        continue;
                    }
                    let bytes = frame.bytes();
                    let ran = run(&source, Hook::Xdp, &bytes);
                    assert_eq!(
                        (ran.verdict, ran.bytes),
                        (passes(Hook::Xdp), bytes),
                        "it does not"
                    );
                }
            }
        }
    }

    #[test]
    fn connections_that_began_before_their_lease_stay_untagged() {
        let mut source = leased(None);
        let key = key_of(&source, &ack());
        source.set_ways(&key, ALL);
        let first = [
            count::COUNT_SOURCE_BEGAN_BEFORE_LEASE,
            count::COUNT_SOURCE_FLOW_BEGAN_BEFORE_LEASE,
        ];
        assert_counts(&source, &ack(), &first, "a packet in the middle");
        for name in ["the record remembers", "and looks at the lease again"] {
            assert_counts(&source, &ack(), &first[..1], name);
            look_again(&source, &key);
        }
        assert_form(
            &mut source,
            &syn(),
            VxlanGpe,
            "the next connection between these ports",
        );
        assert_form(&mut source, &ack(), VxlanGpe, "goes on as it began");
    }

    #[test]
    fn a_syn_without_a_lease_leaves_no_trace_until_its_connection_goes_on() {
        let source = leased(None);
        assert_counts(
            &source,
            &syn(),
            &[count::COUNT_SOURCE_NO_LEASE],
            "no lease yet",
        );
        let key = key_of(&source, &ack());
        assert!(!source.knows(&key), "it takes no room");
        source.set_ways(&key, ALL);
        let before = [
            count::COUNT_SOURCE_BEGAN_BEFORE_LEASE,
            count::COUNT_SOURCE_FLOW_BEGAN_BEFORE_LEASE,
        ];
        assert_counts(&source, &ack(), &before, "it began without INT");
    }

    #[test]
    fn datagrams_are_tagged_as_soon_as_a_form_is_proved() {
        let mut source = leased(None);
        let key = key_of(&source, &udp());
        assert_counts(&source, &udp(), &[count::COUNT_SOURCE_NO_LEASE], "asking");
        let granted = source_lease {
            until_ns: u64::MAX,
            ..source_lease::default()
        };
        source.write_lease(&key, &granted);
        let unproved = [count::COUNT_SOURCE_UNPROVED];
        assert_counts(&source, &udp(), &unproved, "the pair is being proved");
        assert!(!source.knows(&key), "it takes no room");
        source.set_ways(&key, ALL);
        assert_form(&mut source, &udp(), VxlanGpe, "all pass");
    }

    #[test]
    fn a_flow_leaves_a_form_that_does_not_pass_any_more() {
        let mut source = leased(None);
        for frame in [syn(), udp()] {
            let key = key_of(&source, &frame);
            source.set_ways(&key, ALL);
            assert_form(&mut source, &frame, VxlanGpe, "all pass");
            source.set_ways(&key, TCP_OVER | UDP_OVER);
            assert_form(
                &mut source,
                &frame,
                VxlanGpe,
                "for 250 ms the lease is not looked at",
            );
            look_again(&source, &key);
            assert_counts(
                &source,
                &frame,
                &[count::COUNT_SOURCE_LEFT],
                "vxlan-gpe is eaten",
            );
            source.set_ways(&key, ALL);
            look_again(&source, &key);
            if frame.is_udp() {
                assert_form(&mut source, &frame, VxlanGpe, "datagrams come back");
                continue;
            }
            assert_counts(
                &source,
                &frame,
                &[count::COUNT_SOURCE_LEFT],
                "a connection never comes back",
            );
            let flow = source.flow(&key).expect("is known");
            assert_eq!(u32::from(flow.left), flow_left::LEFT_NO_WAY.0);
        }
    }

    #[test]
    fn without_its_lease_a_connection_leaves_its_tunnel_for_good_and_datagrams_pause() {
        let mut source = leased(None);
        for (frame, resumes) in [(syn(), false), (udp(), true)] {
            let key = key_of(&source, &frame);
            source.set_ways(&key, ALL);
            assert_form(&mut source, &frame, VxlanGpe, "leased");
            source.set_lease(&key, 0);
            look_again(&source, &key);
            let reason = if resumes {
                count::COUNT_SOURCE_NO_LEASE
            } else {
                count::COUNT_SOURCE_LEFT
            };
            assert_counts(&source, &frame, &[reason], "the lease ended");
            source.set_ways(&key, ALL);
            look_again(&source, &key);
            if resumes {
                assert_form(&mut source, &frame, VxlanGpe, "the next lease");
            } else {
                assert_counts(
                    &source,
                    &frame,
                    &[count::COUNT_SOURCE_LEFT],
                    "the next lease",
                );
            }
            source.write_lease(&key, &source_lease::default());
        }
    }

    #[test]
    fn a_flow_looks_at_its_lease_every_250_ms_and_tells_it_what_was_tagged() {
        let mut source = leased(None);
        for frame in [syn(), udp()] {
            let key = key_of(&source, &frame);
            source.set_ways(&key, ALL);
            vouch(&source, &key, coarse_ns() + 3_600_000 * MS);
            let told = |source: &Source| source.lease(&key).expect("is there").tagged[2];
            let before = told(&source);
            let earliest = coarse_ns();
            assert_form(&mut source, &frame, VxlanGpe, "the first packet");
            let until = source.flow(&key).expect("is known").leased_ns;
            assert!(
                (earliest..=coarse_ns()).contains(&(until - 250 * MS)),
                "{until} after {earliest}"
            );
            assert_eq!(told(&source), before + 1, "the first is told at once");
            // Segments without new data would be repetitions.
            let next = |number: u32| frame.clone().segment(101 + 64 * number, ACK).payload(64);
            for number in 0..200 {
                assert_form(&mut source, &next(number), VxlanGpe, "more of them");
                let tagged = u64::from(number) + 2;
                let told = told(&source) - before;
                // A packet is told with the next one.
                let untold = tagged - told;
                assert!(untold <= 2 + told / 32, "{told} of {tagged} are told");
            }
            assert!(told(&source) - before < 201, "the last ones wait");
            look_again(&source, &key);
            assert_form(&mut source, &next(200), VxlanGpe, "250 ms later");
            assert_eq!(told(&source), before + 201, "all before it are told");
            look_again(&source, &key);
            assert_form(&mut source, &next(201), VxlanGpe, "later still");
            assert_eq!(told(&source), before + 202, "nothing is told twice");
        }
        let lease = source.lease(&key_of(&source, &udp())).expect("is there");
        assert_eq!(lease.tagged[..2], [0, 0], "only vxlan-gpe was used");
    }

    /// The sink's counts vouch until then.
    fn vouch(source: &Source, key: &Key, vouched_ns: u64) {
        let lease = source.lease(key).expect("is there");
        let vouched = source_lease {
            vouched_ns,
            unseen_turns: 0,
            ..lease
        };
        source.write_lease(key, &vouched);
    }

    fn turns(source: &Source, key: &Key) -> u32 {
        source.lease(key).expect("is there").unseen_turns
    }

    #[test]
    fn while_the_sink_counts_nothing_a_flow_looks_often_and_notes_when_it_is_tagged() {
        const TURN_NS: u64 = 1 << 25;
        // By how much later than now the sink's counts vouch, and the earliest and latest time until the next look.
        let cases = [
            ("it was never vouched for", None, TURN_NS, TURN_NS),
            ("the last vouch ended", Some(0), TURN_NS, TURN_NS),
            ("nothing new for 260 ms", Some(740), TURN_NS, TURN_NS),
            ("an answer just now", Some(1_000), 150 * MS, 250 * MS),
            ("an answer 150 ms ago", Some(850), 0, 100 * MS),
        ];
        for (name, vouched_ms, least_ns, most_ns) in cases {
            for frame in [syn(), udp()] {
                let mut source = leased(None);
                let key = key_of(&source, &frame);
                source.set_ways(&key, ALL);
                let begun = coarse_ns();
                vouch(&source, &key, vouched_ms.map_or(0, |ms| begun + ms * MS));
                assert_form(&mut source, &frame, VxlanGpe, name);
                let took = coarse_ns() - begun;
                let wait = source.flow(&key).expect("is known").leased_ns - begun;
                let within = least_ns..=most_ns + took;
                assert!(within.contains(&wait), "{name}: {wait} ns");
                let noted = u32::from(least_ns == TURN_NS);
                assert_eq!(turns(&source, &key).count_ones(), noted, "{name}");
            }
        }
        // Packets in one turn are noted once, those of later turns beside them.
        let mut source = leased(None);
        let key = key_of(&source, &udp());
        source.set_ways(&key, ALL);
        let begun = coarse_ns();
        while turns(&source, &key).count_ones() < 6 {
            let flow = source.flow(&key);
            if flow.is_none_or(|flow| coarse_ns() >= flow.leased_ns) {
                assert_form(&mut source, &udp(), VxlanGpe, "each turn");
            }
        }
        assert!(
            coarse_ns() - begun >= 4 * TURN_NS,
            "six turns take their time"
        );
        source.set_ways(&key, TCP_GPE);
        vouch(&source, &key, 0);
        look_again(&source, &key);
        source.run(&udp().bytes());
        assert_eq!(
            turns(&source, &key),
            0,
            "packets that go untagged are not noted"
        );
    }

    #[test]
    fn a_superpacket_goes_in_the_form_of_its_flow_or_ends_it() {
        let encap = Options {
            superpackets: superpackets::SUPER_ENCAP,
            ..Options::default()
        };
        let big = tcp().payload(3_000).segment(101, ACK);
        let bytes = big.bytes();
        for (ways, tunnelled) in [(TCP_GPE, true), (TCP_EXTENSION, false)] {
            let mut source = leased_with(None, encap);
            let key = key_of(&source, &syn());
            source.set_ways(&key, ways);
            source.run(&syn().bytes());
            source.zero_counters();
            let ran = source.run_superpacket(&bytes, 1_000, 3);
            assert_eq!(ran.bytes, bytes, "BPF_PROG_RUN cannot enlarge superpackets");
            let after = ack().segment(3_101, ACK);
            if tunnelled {
                let refused = [(count::COUNT_SOURCE_CANNOT_RESIZE, 3, bytes.len() as u64)];
                assert_counted(&source, &refused, "so it tries, and fails");
                assert_form(&mut source, &after, VxlanGpe, "the same form afterwards");
            } else {
                let counted = [(count::COUNT_SOURCE_SUPERPACKET, 3, bytes.len() as u64)];
                assert_counted(&source, &counted, "extension-udp cannot carry it");
                assert_counts(
                    &source,
                    &after,
                    &[count::COUNT_SOURCE_LEFT],
                    "so the flow goes untagged",
                );
            }
        }
        // The user wants superpackets untagged, and all others tagged.
        let mut source = leased(None);
        source.set_ways(&key_of(&source, &syn()), TCP_GPE);
        source.run(&syn().bytes());
        assert_eq!(
            source.run_superpacket(&bytes, 1_000, 3).bytes,
            bytes,
            "skipped"
        );
        assert_form(&mut source, &ack(), VxlanGpe, "small packets as before");
    }

    #[test]
    fn datagrams_of_a_superpacket_stay_untagged_where_their_form_cannot_carry_them() {
        let all = Options {
            superpackets: superpackets::SUPER_ENCAP_ALL,
            ..Options::default()
        };
        let mut source = leased_with(None, all);
        source.set_ways(&key_of(&source, &udp()), UDP_EXTENSION);
        assert_form(&mut source, &udp(), ExtensionUdp, "a datagram");
        let bytes = udp().payload(3_000).bytes();
        source.zero_counters();
        assert_eq!(
            source.run_superpacket(&bytes, 1_000, 3).bytes,
            bytes,
            "three datagrams"
        );
        let counted = [(count::COUNT_SOURCE_SUPERPACKET, 3, bytes.len() as u64)];
        assert_counted(&source, &counted, "three datagrams");
        assert_form(&mut source, &udp(), ExtensionUdp, "the flow goes on");
    }

    #[test]
    fn random_flows_take_the_model_s_form() {
        let (mut random, seed) = Random::from_env();
        for configured in [None, Some(OverTcpUdp), Some(ExtensionUdp), Some(VxlanGpe)] {
            for atomics in [true, false] {
                let source = leased_with(
                    configured,
                    Options {
                        atomics,
                        flows: 8_192,
                        ..Options::default()
                    },
                );
                for port in 0..300 {
                    check_random_flow(&mut random, &source, configured, port, seed);
                }
            }
        }
    }

    fn any_ways(random: &mut Random) -> u32 {
        match random.below(3) {
            0 => 0,
            1 => ALL,
            _ => random.u32() & ALL,
        }
    }

    fn check_random_flow(
        random: &mut Random,
        source: &Source,
        configured: Option<Encapsulation>,
        port: u16,
        seed: u64,
    ) {
        let is_tcp = random.chance(0.5);
        let frame = if is_tcp { ack() } else { udp() }.ports(port, 9);
        let key = key_of(source, &frame);
        let mut model = Flow::new(configured, is_tcp);
        let mut history = Vec::new();
        for number in 0..random.below(12) as u32 {
            let leased = random.chance(0.8);
            let lease = source_lease {
                until_ns: if leased { u64::MAX } else { 0 },
                state: random.below(4) as u32,
                ways: any_ways(random),
                proved_ns: random.below(2) as u64,
                ..source_lease::default()
            };
            source.write_lease(&key, &lease);
            look_again(source, &key);
            let begins = is_tcp && random.chance(0.3);
            let packet = match begins {
                true => frame.clone().payload(0).segment(1_000 * (number + 1), SYN),
                false if is_tcp => frame.clone().segment(1_000 * number + 500, ACK),
                false => frame.clone(),
            };
            let said = match leased {
                true => Lease::Granted {
                    ways: lease.ways,
                    proved: lease.proved_ns != 0,
                },
                false => Lease::Missing,
            };
            let expected = model.packet(said, begins);
            history.push((said, begins, expected));
            source.zero_counters();
            let bytes = packet.bytes();
            let tagged = source.run(&bytes).bytes;
            let counters = source.counters();
            let name = format!("seed {seed}, {configured:?}, port {port}: {history:?}");
            match expected {
                Err(reason) => {
                    assert_eq!(tagged, bytes, "{name}");
                    assert_eq!(counters[reason.0 as usize].0, 1, "{name}");
                }
                Ok(form) => {
                    let added = tagged.len() - bytes.len();
                    assert_eq!(added, form.added(20), "{name}");
                    assert_eq!(
                        counters[count::COUNT_SOURCE_TAGGED.0 as usize].0,
                        1,
                        "{name}"
                    );
                }
            }
        }
    }
}
