//! The sink takes a network card's receive timestamp only when it is plausible, as a model in plain Rust does.

use hostint::datapath::abi::sink_counter;
use hostint_testing::packets::{key, udp};
use hostint_testing::programs::sink::{Sink, Sizes, XDP_PASS, latencies, settings};
use hostint_testing::random::{Random, env_number};
use hostint_testing::sink_cases::int;

const SECOND: i128 = 1_000_000_000;
const LONGEST_WAIT: i128 = SECOND / 10;

/// Who stamped a packet, and when.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Arrival {
    Nic(u64),
    /// The driver gave no time.
    KernelForNone,
    /// The card's clock shows neither UTC nor TAI.
    KernelForOff,
}

/// A card tells a time shortly before the kernel's, of either scale.
fn model(stamp: u64, now: u64, tai_offset_s: i32) -> Arrival {
    if stamp == 0 {
        return Arrival::KernelForNone;
    }
    for ahead in [0, i128::from(tai_offset_s) * SECOND] {
        let utc = i128::from(stamp) - ahead;
        if (0..LONGEST_WAIT).contains(&(i128::from(now) - utc)) {
            return Arrival::Nic(utc as u64);
        }
    }
    Arrival::KernelForOff
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;
    use sink_counter as count;

    fn sink(tai_offset_s: i32) -> Sink {
        let mut talkative = settings();
        talkative.report_period_ns = 0;
        let sizes = Sizes {
            nic: true,
            ..Sizes::default()
        };
        let sink = Sink::load_sized(&talkative, sizes);
        sink.set_host(|host| host.tai_offset_s = tai_offset_s);
        sink
    }

    /// Runs one packet of a new flow; what was made of its stamp.
    fn check(sink: &Sink, stamp: u64, tai_offset_s: i32, sentence: &str) -> Arrival {
        sink.forget_flows();
        sink.zero_counters();
        let frame = udp().tagged(int());
        let ran = sink.run_stamped(stamp, &frame.bytes());
        assert_eq!(ran.verdict, XDP_PASS, "{sentence}");
        assert_eq!(ran.bytes, frame.untagged().bytes(), "{sentence}: stripped");
        let flow = sink.flow(&key(17)).expect("it is a flow");
        // The kernel's clock as the program read it.
        let now = flow.last_ns;
        let expected = model(stamp, now, tai_offset_s);
        let [event] = latencies(&sink.events())[..] else {
            panic!("{sentence}: one event")
        };
        let (arrival, counter) = match expected {
            Arrival::Nic(arrival) => (arrival, count::COUNT_SINK_NIC_STAMPED),
            Arrival::KernelForNone => (now, count::COUNT_SINK_NIC_NONE),
            Arrival::KernelForOff => (now, count::COUNT_SINK_NIC_OFF),
        };
        let by_nic = matches!(expected, Arrival::Nic(_));
        assert_eq!(event.now_ns, arrival, "{sentence}: arrival");
        assert_eq!(event.by_nic != 0, by_nic, "{sentence}: told by whom");
        // The packet's timestamp is 0.
        assert_eq!(event.latency_ns, arrival as i32, "{sentence}: latency");
        assert_eq!(flow.latency_last_ns, arrival as i32, "{sentence}: kept");
        for which in [
            count::COUNT_SINK_NIC_STAMPED,
            count::COUNT_SINK_NIC_NONE,
            count::COUNT_SINK_NIC_OFF,
        ] {
            let counted = u64::from(which == counter);
            assert_eq!(sink.count(which), counted, "{sentence}: {which:?}");
        }
        expected
    }

    #[test]
    fn a_stamp_is_used_where_it_can_be_one() {
        let ms = 1_000_000;
        let tai = 37 * SECOND as i64;
        let nic = |arrival: Arrival| matches!(arrival, Arrival::Nic(_));
        let off = |arrival| arrival == Arrival::KernelForOff;
        struct Case {
            name: &'static str,
            /// To the kernel's clock.
            ahead_ns: i64,
            tai_offset_s: i32,
            expected: fn(Arrival) -> bool,
        }
        let case = |name, ahead_ns, tai_offset_s, expected| Case {
            name,
            ahead_ns,
            tai_offset_s,
            expected,
        };
        for case in [
            case("just now", -1_000, 37, nic),
            case("after a wait of 80 ms", -80 * ms, 37, nic),
            case("too long ago", -100 * ms, 37, off),
            case("to come", 50 * ms, 37, off),
            case("TAI, just now", tai - 1_000, 37, nic),
            case("TAI, after a wait", tai - 80 * ms, 37, nic),
            case("TAI, too long ago", tai - 100 * ms, 37, off),
            case("TAI, to come", tai + 50 * ms, 37, off),
            case("TAI, which the kernel was not told of", tai, 0, off),
            case("UTC, where there is no offset", -1_000, 0, nic),
            case("37 s ago", -tai, 37, off),
            case(
                "since the card was switched on",
                -1_699_999_999 * 1_000 * ms,
                37,
                off,
            ),
        ] {
            let sink = sink(case.tai_offset_s);
            // Again, should the machine have been busy meanwhile.
            let arrival = loop {
                let begin = sink.clock.now_ns();
                let stamp = begin.wrapping_add_signed(case.ahead_ns);
                let arrival = check(&sink, stamp, case.tai_offset_s, case.name);
                if sink.clock.now_ns() - begin < 10_000_000 {
                    break arrival;
                }
            };
            assert!((case.expected)(arrival), "{}: {arrival:?}", case.name);
        }
    }

    #[test]
    fn no_stamp_is_none() {
        let arrival = check(&sink(37), 0, 37, "0");
        assert_eq!(arrival, Arrival::KernelForNone);
    }

    #[test]
    fn any_stamp_is_taken_as_modelled() {
        let (_, seed) = Random::from_env();
        let rounds = env_number("HOSTINT_TEST_ROUNDS", 60);
        let mut random = Random::seeded(seed);
        for tai_offset_s in [37, 0, -5, i32::MAX] {
            let sink = sink(tai_offset_s);
            for round in 0..rounds {
                let around = [0, -(LONGEST_WAIT as i64)][random.below(2)];
                let scale = i64::from(tai_offset_s) * SECOND as i64 * random.below(2) as i64;
                // A run takes some microseconds: often on one side of an edge, often on the other.
                let near = random.below(60_000) as i64 - 20_000;
                let stamp = match random.below(8) {
                    0 => random.next(),
                    1 => random.next() >> random.below(64),
                    _ => {
                        let now = sink.clock.now_ns();
                        now.wrapping_add_signed(around.wrapping_add(scale).wrapping_add(near))
                    }
                };
                let sentence = format!("seed {seed}, round {round}, {tai_offset_s} s");
                check(&sink, stamp, tai_offset_s, &sentence);
            }
        }
    }
}
