//! A flow's record remembers at the sink that its sender is allowed, until somebody is allowed or not any more.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicU32, Ordering};

use hostint_testing::frame::UDP;
use hostint_testing::int_block::Block;
use hostint_testing::packets::{key, udp};
use hostint_testing::programs::Shared;
use hostint_testing::programs::clock::monotonic_ns;
use hostint_testing::programs::sink::{Sink, Sizes, settings};
use hostint_testing::under_traffic::change_under_traffic;

/// The sender of the builder's packets.
const SENDER: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
const OTHER: IpAddr = IpAddr::V4(Ipv4Addr::new(203, 0, 113, 1));
const FOR_LONG: u64 = u64::MAX >> 1;

fn allow(sink: &Sink) {
    sink.allow(SENDER, 32);
}

fn grant(sink: &Sink) {
    sink.set_grant(SENDER, FOR_LONG);
}

fn both(sink: &Sink) {
    allow(sink);
    grant(sink);
}

type Step = fn(&Sink);
/// What is so at the beginning, what happens between two packets, and whether the second one is stripped.
const CASES: [(&str, Step, Step, bool); 9] = [
    ("nothing changes for a prefix", allow, |_| (), true),
    ("nothing changes for a grant", grant, |_| (), true),
    ("the prefix is removed", allow, Sink::allow_nobody, false),
    (
        "the grant is removed",
        grant,
        |sink| sink.forget_grant(SENDER),
        false,
    ),
    (
        "the grant ends",
        grant,
        |sink| sink.set_grant(SENDER, monotonic_ns() / 2),
        false,
    ),
    ("a grant is left", both, Sink::allow_nobody, true),
    (
        "a prefix is left",
        both,
        |sink| sink.forget_grant(SENDER),
        true,
    ),
    (
        "another one is allowed",
        allow,
        |sink| sink.allow(OTHER, 32),
        true,
    ),
    (
        "another one is allowed instead",
        allow,
        |sink| {
            sink.allow_nobody();
            sink.allow(OTHER, 32);
        },
        false,
    ),
];

/// Ways of the programs: in general, the straight one, and that of kernels before 5.12.
fn kinds() -> [(&'static str, Sizes); 3] {
    let straight = Sizes {
        tc: true,
        ..Sizes::default()
    };
    let general = Sizes {
        straight: false,
        ..straight
    };
    let locked = Sizes {
        atomics: false,
        ..straight
    };
    [
        ("straight", straight),
        ("general", general),
        ("locked", locked),
    ]
}

fn frame(number: u32) -> Vec<u8> {
    udp().tagged(Block::hostint().sequence(number)).bytes()
}

fn is_stripped(sink: &Sink, at_tc: bool, number: u32) -> bool {
    let frame = frame(number);
    let ran = match at_tc {
        true => sink.run_tc(&frame),
        false => sink.run(&frame),
    };
    ran.bytes != frame
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;

    #[test]
    fn changes_take_effect_with_the_next_packet() {
        for (way, sizes) in kinds() {
            let sink = Sink::load_sized(&settings(), sizes);
            for (name, before, change, stripped) in CASES {
                for at_tc in [false, true] {
                    let name = format!("{way}, at tc {at_tc}: {name}");
                    sink.allow_nobody();
                    if sink.grant(SENDER).is_some() {
                        sink.forget_grant(SENDER);
                    }
                    before(&sink);
                    for number in 1..=3 {
                        assert!(is_stripped(&sink, at_tc, number), "{name}: {number}");
                    }
                    change(&sink);
                    for number in 4..=5 {
                        let was = is_stripped(&sink, at_tc, number);
                        assert_eq!(was, stripped, "{name}: {number}");
                    }
                    sink.forget_flows();
                }
            }
        }
    }

    #[test]
    fn a_known_flow_of_a_prefix_never_asks_for_it_again() {
        for (way, sizes) in kinds() {
            let sink = Sink::load_sized(&settings(), sizes);
            assert!(is_stripped(&sink, false, 1), "{way}: all are allowed");
            let record = sink.record(&key(UDP)).expect("the flow was seen");
            assert_eq!(record.allowed_until, 0, "{way}: without an end");
            sink.remove_prefixes_unnoticed();
            assert!(is_stripped(&sink, false, 2), "{way}: remembered");
        }
    }

    #[test]
    fn a_slow_flow_with_a_grant_stays_on_the_straight_way() {
        let sink = Sink::load(&settings());
        sink.allow_nobody();
        grant(&sink);
        for number in 1..=40 {
            assert!(is_stripped(&sink, false, number), "{number}");
        }
        for number in 41..=45 {
            // As if the last packet had come long ago: the grant is looked at, and the packet told at once.
            let mut record = sink.record(&key(UDP)).expect("the flow was seen");
            record.allowed_until = 1;
            sink.put_flow(&key(UDP), &record);
            let frame = frame(number);
            let straight =
                sink.takes_straight_way(|sink| assert_ne!(sink.run(&frame).bytes, frame));
            assert!(straight, "{number}");
            let told: u64 = sink.grant(SENDER).expect("it stays").stripped.iter().sum();
            assert_eq!(told, u64::from(number), "each packet is told at once");
        }
    }

    #[test]
    fn a_flow_of_a_prefix_tells_its_packets_once_a_grant_begins() {
        for (way, sizes) in kinds() {
            let sink = Sink::load_sized(&settings(), sizes);
            (1..=1_000).for_each(|number| assert!(is_stripped(&sink, false, number), "{way}"));
            grant(&sink);
            let told = || {
                sink.grant(SENDER)
                    .expect("it stays")
                    .stripped
                    .iter()
                    .sum::<u64>()
            };
            assert!(is_stripped(&sink, false, 1_001), "{way}");
            assert!(told() > 0, "{way}: the next packet is told");
        }
    }

    #[test]
    fn changes_under_traffic_take_effect_at_once() {
        for (way, sizes) in kinds() {
            let sink = Sink::load_sized(&settings(), sizes);
            sink.allow_nobody();
            let (program, number) = (Shared(sink.program()), AtomicU32::new(0));
            let is_stripped = || {
                let frame = frame(1 + number.fetch_add(1, Ordering::Relaxed));
                program.run(&frame).bytes != frame
            };
            let ran = change_under_traffic(300, &is_stripped, |round| match round % 4 {
                1 => allow(&sink),
                2 => sink.allow_nobody(),
                3 => grant(&sink),
                _ => sink.forget_grant(SENDER),
            });
            assert_eq!(ran, Ok(()), "{way}: is it stripped?");
        }
    }
}
