//! The INT source numbers a flow's packets and tells the flow's age.

use hostint::datapath::abi::{int_flag, source_counter};
use hostint_testing::frame::Frame;
use hostint_testing::model::Encapsulation;
use hostint_testing::model::source::age_code;
use hostint_testing::packets::{key, tcp, udp};
use hostint_testing::programs::source::{Hook, Options, Source};
use hostint_testing::source_cases::{
    assert_counted, assert_left, assert_tagged, every_way, passes, run, with,
};

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;
    use source_counter as count;

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
        for (age_ms, code) in [(0, 1), (25, 2), (300_000, 0)] {
            assert_eq!(age_code(age_ms * 1_000_000), code, "{age_ms} ms");
        }
        let source = Source::load(&Options::default());
        let mut jumped = 0;
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
            // The flow is as old as the jumps at least, and a slow machine makes it older.
            let least = age_code(age_ms as u64 * 1_000_000);
            let is_younger = least != 0 && code != 0 && code < least;
            assert!(
                !is_younger && (least != 0 || code == 0),
                "{age_ms} ms old: {code}"
            );
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
}
