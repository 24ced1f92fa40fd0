//! The share of flows that the budget allows: both directions choose alike, what a smaller share has is in each greater one, and
//! packets that are left out leave as they came.

use hostint::datapath::abi::{lease_way, source_counter as count, source_lease};
use hostint::model::{RuleHost, WatchRule};
use hostint_testing::frame::Frame;
use hostint_testing::model::{Key, layout};
use hostint_testing::packets::{tcp, tcp6, udp, udp6};
use hostint_testing::programs::source::{Options, Source, TCX_NEXT};

const FLOWS: u16 = 512;
const A: [u8; 4] = [192, 0, 2, 1];
const B: [u8; 4] = [198, 51, 100, 2];

fn key_of(frame: &[u8]) -> Key {
    let at = layout::find(frame).unwrap();
    Key::of(frame, &at, &frame[at.l4..], at.protocol)
}

fn everything(always: bool) -> WatchRule {
    WatchRule {
        priority: 1,
        fixed: true,
        always,
        to: vec![RuleHost {
            text: "all".to_owned(),
            prefixes: ["0.0.0.0/0", "::/0"].map(|all| all.parse().unwrap()).into(),
        }],
        ..WatchRule::default()
    }
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;

    fn load(options: bool, always: bool) -> Source {
        let mut source = Source::load_watching_nothing(&Options {
            options,
            ..Options::default()
        });
        source.set_rules(vec![everything(always)]);
        source
    }

    /// True if the budget leaves out the packet of this frame, which leaves as it came then.
    fn is_left_out(source: &Source, frame: &Frame, sentence: &str) -> bool {
        source.zero_counters();
        let frame = frame.bytes();
        let ran = source.run_lengthened(&frame);
        let counters = source.counters();
        let left_out = counters[count::COUNT_SOURCE_BUDGET.0 as usize];
        if left_out.0 == 0 {
            return false;
        }
        assert_eq!(ran.verdict, TCX_NEXT, "{sentence}");
        assert!(ran.bytes == frame, "{sentence}: it leaves as it came");
        let others: u64 = counters.iter().map(|(packets, _)| packets).sum();
        assert_eq!(
            (left_out, others),
            ((1, frame.len() as u64), 1),
            "{sentence}"
        );
        assert!(!source.knows(&key_of(&frame)), "{sentence}: no record");
        true
    }

    #[test]
    fn a_share_of_flows_stays_and_both_directions_agree() {
        let source = load(true, false);
        let mut before: Vec<u16> = (0..FLOWS).collect();
        for shift in [0, 1, 2, 3, 5, 16] {
            source.set_share(shift);
            source.forget_flows();
            let stays = |port: &u16| {
                let sentence = format!("port {port}, one in {}", 1 << shift);
                let [there, back] = match port % 2 {
                    0 => [tcp(), tcp()],
                    _ => [udp(), udp()],
                };
                let there = there.from(A).to(B).ports(40_000 + port, 443);
                let back = back.from(B).to(A).ports(443, 40_000 + port);
                let left_out = is_left_out(&source, &there, &sentence);
                assert_eq!(
                    left_out,
                    is_left_out(&source, &back, &sentence),
                    "{sentence}"
                );
                !left_out
            };
            let chosen: Vec<u16> = (0..FLOWS).filter(stays).collect();
            let all = chosen.iter().all(|port| before.contains(port));
            assert!(all, "one in {} is part of what more are", 1 << shift);
            let expected = usize::from(FLOWS) >> shift;
            let spread = 4 * expected.isqrt() + 1;
            assert!(
                chosen.len().abs_diff(expected) <= spread,
                "{} of {expected}",
                chosen.len()
            );
            before = chosen;
        }
    }

    #[test]
    fn what_is_left_out_leaves_as_it_came_in_every_form() {
        let frames = [
            ("TCP", tcp()),
            ("UDP", udp()),
            ("TCP over IPv6", tcp6()),
            ("UDP over IPv6", udp6()),
            ("with IPv4 options", udp().ip_options(8)),
            ("in a VLAN", tcp().vlan(7)),
        ];
        for options in [true, false] {
            let source = load(options, false);
            source.set_share(16);
            for (sentence, frame) in &frames {
                let sentence = format!("{sentence}, options {options}");
                assert!(is_left_out(&source, frame, &sentence), "{sentence}");
            }
        }
    }

    #[test]
    fn rules_can_be_exempt() {
        for options in [true, false] {
            let source = load(options, true);
            source.set_share(16);
            assert!(!is_left_out(&source, &udp(), "always"), "options {options}");
        }
    }

    #[test]
    fn flows_in_tunnels_that_have_begun_stay() {
        let source = load(false, false);
        source.run(&tcp().bytes());
        source.set_share(16);
        assert!(!is_left_out(&source, &tcp(), "it has begun"));
        assert!(is_left_out(&source, &tcp().ports(1, 2), "it begins"));
    }

    #[test]
    fn a_sink_asks_for_a_share_of_the_flows_to_it_alone() {
        let source = Source::load_asking(&Options {
            options: true,
            ..Options::default()
        });
        let lease = |frame: &Frame, asked_shift| {
            let key = key_of(&frame.bytes());
            source.set_ways(&key, lease_way::WAY_UDP_OPTION.0);
            let lease = source.lease(&key).expect("it was set");
            source.write_lease(
                &key,
                &source_lease {
                    asked_shift,
                    ..lease
                },
            );
        };
        let flow = |port| udp().ports(port, 9);
        let elsewhere = |port| udp().to([198, 51, 100, 9]).ports(port, 9);
        lease(&flow(0), 3);
        lease(&elsewhere(0), 0);
        let left_out = |frame: Frame| {
            let sentence = format!("{frame:?}");
            is_left_out(&source, &frame, &sentence)
        };
        let alone = (0..FLOWS).filter(|port| left_out(flow(*port))).count();
        let expected = usize::from(FLOWS) * 7 / 8;
        assert!(alone.abs_diff(expected) < 40, "{alone} of {expected}");
        assert!(
            !(0..FLOWS).any(|port| left_out(elsewhere(port))),
            "to others all go"
        );
        // The host's own share chooses the same ones.
        source.set_share(3);
        let both = (0..FLOWS).filter(|port| left_out(flow(*port))).count();
        assert_eq!(both, alone);
    }
}
