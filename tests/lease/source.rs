//! The INT source tags packets only to hosts that hold a valid lease.

use std::net::{Ipv4Addr, Ipv6Addr};

use hostint::datapath::abi::{flow_form, source_counter, source_lease};
use hostint_testing::frame::{EXTENSION_PORT, Frame};
use hostint_testing::int_block::Block;
use hostint_testing::model::Encapsulation;
use hostint_testing::packets::{tcp, tcp6, udp, udp6};
use hostint_testing::programs::clock::{coarse_ns, monotonic_ns};
use hostint_testing::programs::source::{Hook, Options, Source, TCX_NEXT};
use hostint_testing::source_cases::{
    assert_counted, assert_left, assert_tagged, every_way, passes, run, stamp_of, with,
};

const MS: u64 = 1_000_000;
const HOUR: u64 = 3_600_000 * MS;

fn await_end(until_ns: u64) {
    while coarse_ns() <= until_ns {
        std::thread::yield_now();
    }
}

/// Every destination is watched, none of them static.
fn leased(options: &Options) -> Source {
    Source::load_asking(options)
}

fn leased_every_way() -> Vec<(Source, Hook)> {
    let mut all = every_way();
    for (source, _) in &mut all {
        source.watch_leased(Ipv4Addr::UNSPECIFIED, 0);
        source.watch_leased(Ipv6Addr::UNSPECIFIED, 0);
    }
    all
}

/// The beginning of a connection.
fn syn(frame: Frame) -> Frame {
    frame.payload(0).segment(1, 2)
}

fn set_lease(source: &Source, frame: &Frame, until_ns: u64) {
    let key = source.model.look(&frame.bytes()).expect("may be tagged");
    source.set_lease(&key, until_ns);
}

/// The packet leaves as it came, for want of a lease; the lease says who wants it, and otherwise what it said.
fn assert_not_leased(source: &Source, hook: Hook, frame: &Frame, name: &str) {
    let bytes = frame.bytes();
    let key = source.model.look(&bytes).expect("may be tagged");
    let before = source.lease(&key).unwrap_or_default();
    source.zero_counters();
    let earliest = coarse_ns();
    let ran = run(source, hook, &bytes);
    let latest = monotonic_ns();
    assert_eq!(ran.verdict, passes(hook), "{name}: verdict");
    assert_eq!(ran.bytes, bytes, "{name}: bytes");
    let no_lease = source_counter::COUNT_SOURCE_NO_LEASE;
    assert_counted(source, &[(no_lease, 1, bytes.len() as u64)], name);
    let flow = source.flow(&key).unwrap_or_default();
    assert!(
        flow.leased_ns <= earliest || flow.form == flow_form::FLOW_UNTAGGED.0 as u8,
        "{name}: the flow has no lease"
    );

    let lease = source.lease(&key).expect("somebody wants a lease");
    let wanted = lease.wanted_ns;
    assert!(
        (earliest..=latest).contains(&wanted),
        "{name}: wanted at {wanted}, not in {earliest}..={latest}"
    );
    assert_same_but_wanted(&lease, &before, name);
}

fn assert_same_but_wanted(lease: &source_lease, before: &source_lease, name: &str) {
    let strip = |lease: &source_lease| {
        let lease = source_lease {
            wanted_ns: 0,
            // The kernel's count of what went tagged before.
            tagged: [0; 3],
            ..*lease
        };
        format!("{lease:?}")
    };
    assert_eq!(strip(lease), strip(before), "{name}: the rest of the lease");
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;
    use source_counter as count;

    #[test]
    fn without_a_lease_packets_leave_unmodified_and_ask_for_one() {
        let cases = [
            ("UDP", udp()),
            ("TCP", tcp()),
            ("UDP over IPv6", udp6()),
            ("TCP over IPv6", tcp6()),
            ("an empty datagram", udp().payload(0)),
            ("class and congestion", tcp().dscp(46).ecn(2)),
        ];
        for (source, hook) in leased_every_way() {
            for (name, frame) in &cases {
                assert_not_leased(&source, hook, frame, name);
                assert_not_leased(&source, hook, frame, &format!("{name}, once more"));
            }
            assert_eq!(source.leases(), 2, "one lease a pair of addresses");
        }
    }

    #[test]
    fn packets_are_tagged_until_the_lease_ends() {
        struct Case {
            name: &'static str,
            until_ns: fn() -> u64,
            tagged: bool,
        }
        let cases = [
            Case {
                name: "it was never granted",
                until_ns: || 0,
                tagged: false,
            },
            Case {
                name: "it ended long ago",
                until_ns: || 1,
                tagged: false,
            },
            Case {
                name: "it ends now",
                until_ns: coarse_ns,
                tagged: false,
            },
            Case {
                name: "for an hour",
                until_ns: || monotonic_ns() + HOUR,
                tagged: true,
            },
            Case {
                name: "for ever",
                until_ns: || u64::MAX,
                tagged: true,
            },
        ];
        for (source, hook) in leased_every_way() {
            for Case {
                name,
                until_ns,
                tagged,
            } in &cases
            {
                // Connections go in int-md to static destinations only.
                let is_md = source.model.encapsulation == Encapsulation::IntMd;
                let frames = [udp(), udp6(), syn(tcp()), syn(tcp6())];
                for frame in frames.into_iter().filter(|one| !is_md || one.is_udp()) {
                    source.forget_flows();
                    set_lease(&source, &frame, until_ns());
                    if *tagged {
                        assert_tagged(&source, hook, &frame, name);
                    } else {
                        assert_not_leased(&source, hook, &frame, name);
                    }
                }
            }
        }
    }

    /// Tags packets under a lease of some ms until the flow's record remembers it; a busy machine takes several
    /// leases. Returns the end and the last packet's number.
    fn tag_under_short_lease(source: &Source, hook: Hook, frame: &Frame) -> (u64, u32) {
        let bytes = frame.bytes();
        let key = source.model.look(&bytes).expect("may be tagged");
        loop {
            let until_ns = monotonic_ns() + 20 * MS;
            source.set_lease(&key, until_ns);
            run(source, hook, &bytes);
            let last = run(source, hook, &bytes);
            let flow = source.flow(&key);
            if last.bytes != bytes && flow.is_some_and(|flow| flow.leased_ns == until_ns) {
                let stamp = stamp_of(&last.bytes, source.model.encapsulation);
                return (until_ns, stamp.sequence);
            }
            await_end(until_ns);
        }
    }

    #[test]
    fn a_flow_goes_untagged_when_its_lease_has_ended_and_goes_on_with_the_next() {
        for (source, hook) in leased_every_way() {
            for frame in [udp(), udp6()] {
                let (until_ns, sequence) = tag_under_short_lease(&source, hook, &frame);
                await_end(until_ns);
                for _ in 0..2 {
                    assert_not_leased(&source, hook, &frame, "the lease has ended");
                }
                set_lease(&source, &frame, monotonic_ns() + HOUR);
                let stamp = assert_tagged(&source, hook, &frame, "a new lease");
                assert_eq!(stamp.sequence, sequence + 1, "no number was skipped");
            }
        }
    }

    #[test]
    fn a_flow_asks_for_its_lease_once_until_that_ends() {
        for (source, hook) in leased_every_way() {
            let key = source.model.look(&udp().bytes()).unwrap();
            set_lease(&source, &udp(), monotonic_ns() + HOUR);
            // Of the first packets the lease is told one by one, later of a 32nd of all at a time.
            let has_just_told = || {
                let flow = source.flow(&key).unwrap_or_default();
                flow.told > 256 && flow.sequence - flow.told <= 1
            };
            while !has_just_told() {
                assert_tagged(&source, hook, &udp(), "a packet");
            }
            let wanted = source.lease(&key).unwrap().wanted_ns;
            assert!(wanted > 0, "it says that a packet came");
            set_lease(&source, &udp(), 0);
            for _ in 0..3 {
                assert_tagged(&source, hook, &udp(), "the flow's record remembers");
            }
            let wanted = source.lease(&key).unwrap().wanted_ns;
            assert_eq!(wanted, 0, "no packet asked again");
            let other = udp().ports(1, 2);
            assert_not_leased(&source, hook, &other, "another flow asks for itself");
        }
    }

    #[test]
    fn a_lease_is_for_a_pair_of_addresses() {
        let source = leased(&with(Encapsulation::ExtensionUdp));
        set_lease(&source, &udp(), u64::MAX);
        for (name, frame) in [
            ("other ports", udp().ports(1, 2)),
            ("another protocol", syn(tcp())),
            ("a VLAN tag", udp().vlan(5)),
            ("two VLAN tags", udp().vlan(5).vlan(6)),
        ] {
            assert_tagged(&source, Hook::Xdp, &frame, name);
        }
        for (name, frame) in [
            ("from another address", udp().from([192, 0, 2, 9])),
            ("to another address", udp().to([198, 51, 100, 9])),
            ("back", udp().from([198, 51, 100, 2]).to([192, 0, 2, 1])),
            ("IPv6", udp6()),
        ] {
            assert_not_leased(&source, Hook::Tc, &frame, name);
        }
        assert_eq!(source.leases(), 5, "each has its own");
    }

    #[test]
    fn static_destinations_are_tagged_without_a_lease() {
        for (source, hook) in every_way() {
            for frame in [udp(), tcp(), udp6(), tcp6()] {
                assert_tagged(&source, hook, &frame, "no lease");
                set_lease(&source, &frame, 0);
                assert_tagged(&source, hook, &frame, "a lease that has ended");
                let key = source.model.look(&frame.bytes()).unwrap();
                let wanted = source.lease(&key).unwrap().wanted_ns;
                assert_eq!(wanted, 0, "nobody wants it");
            }
        }
    }

    #[test]
    fn the_longest_prefix_says_whether_a_lease_is_needed() {
        let (near, far) = ([10, 1, 2, 3], [10, 1, 2, 4]);
        for hook in [Hook::Tc, Hook::Xdp] {
            let extension = with(Encapsulation::ExtensionUdp);
            let mut source = Source::load_watching_nothing(&extension);
            source.watch_leased([10, 0, 0, 0], 8);
            source.watch(near, 32);
            assert_tagged(&source, hook, &udp().to(near), "static within leased");
            assert_not_leased(&source, hook, &udp().to(far), "leased around static");
            assert_left(
                &source,
                hook,
                &udp().to([11, 0, 0, 1]),
                count::COUNT_SOURCE_UNWATCHED,
                "neither",
            );

            let mut source = Source::load_watching_nothing(&extension);
            source.watch([10, 0, 0, 0], 8);
            source.watch_leased(near, 32);
            assert_not_leased(&source, hook, &udp().to(near), "leased within static");
            assert_tagged(&source, hook, &udp().to(far), "static around leased");
        }
    }

    #[test]
    fn without_room_to_ask_for_a_lease_packets_leave_unmodified() {
        let small = Options {
            leases: 2,
            ..with(Encapsulation::ExtensionUdp)
        };
        for hook in [Hook::Tc, Hook::Xdp] {
            let source = leased(&small);
            let to = |last| udp().to([198, 51, 100, last]);
            assert_not_leased(&source, hook, &to(1), "room for the first");
            assert_not_leased(&source, hook, &to(2), "and the second");
            for last in [3, 4, 3] {
                let bytes = to(last).bytes();
                source.zero_counters();
                let ran = run(&source, hook, &bytes);
                assert_eq!((ran.verdict, &ran.bytes), (passes(hook), &bytes));
                let counted = [
                    (count::COUNT_SOURCE_NO_LEASE, 1, bytes.len() as u64),
                    (count::COUNT_SOURCE_LEASE_FULL, 1, 0),
                ];
                assert_counted(&source, &counted, "no room for more");
            }
            assert_eq!(source.leases(), 2, "as many as there is room for");
            assert_not_leased(&source, hook, &to(1), "the first still asks");
            set_lease(&source, &to(2), u64::MAX);
            assert_tagged(&source, hook, &to(2), "the second got its lease");
        }
    }

    #[test]
    fn superpackets_without_a_lease_are_counted_in_segments() {
        for encapsulation in Encapsulation::ALL {
            let source = leased(&with(encapsulation));
            let bytes = tcp().payload(3_000).bytes();
            let ran = source.run_superpacket(&bytes, 1_000, 3);
            assert_eq!((ran.verdict, &ran.bytes), (TCX_NEXT, &bytes), "left alone");
            let counted = [(count::COUNT_SOURCE_NO_LEASE, 3, bytes.len() as u64)];
            assert_counted(&source, &counted, "three segments");
            assert_eq!(source.leases(), 1, "a lease is asked for");
        }
    }

    #[test]
    fn packets_that_are_never_tagged_ask_for_no_lease() {
        let cases = [
            (
                "a report",
                count::COUNT_SOURCE_REPORT,
                udp().ports(5000, 32766),
            ),
            (
                "tagged already",
                count::COUNT_SOURCE_HAS_INT,
                udp().tagged(Block::hostint()),
            ),
            (
                "to the extension port",
                count::COUNT_SOURCE_HAS_INT,
                udp().ports(1, EXTENSION_PORT),
            ),
            (
                "a fragment",
                count::COUNT_SOURCE_FRAGMENT,
                udp().more_fragments(),
            ),
            (
                "to a group",
                count::COUNT_SOURCE_GROUP_ADDRESS,
                udp().to([224, 0, 0, 251]),
            ),
            (
                "ICMP",
                count::COUNT_SOURCE_OTHER_PROTOCOL,
                udp().protocol(1),
            ),
            (
                "lengths that disagree",
                count::COUNT_SOURCE_MALFORMED,
                udp().udp_len(9),
            ),
        ];
        for (source, hook) in leased_every_way() {
            for (name, reason, frame) in &cases {
                assert_left(&source, hook, frame, *reason, name);
            }
            assert_eq!(source.leases(), 0, "nobody wants a lease");
        }
    }
}
