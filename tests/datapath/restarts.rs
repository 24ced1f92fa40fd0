//! A flow's numbering may begin, begin anew, wrap or rest: none of that counts as a loss.

use std::ops::RangeInclusive;

use hostint::datapath::abi::{sink_counter, sink_flow};
use hostint_testing::model::source::age_code;
use hostint_testing::programs::sink::{Sink, losses, settings};
use hostint_testing::stream::{BASE, HOUR, MS, SECOND, Stream, TIMEOUT, sink_with_timeout};

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;

    /// A packet of a flow as it arrives.
    #[derive(Clone, Copy)]
    struct Arrival {
        number: u64,
        /// Since the arrival before.
        wait_ns: u64,
        /// What the source says.
        age_ns: Option<u64>,
        /// More than the others needed.
        delay_ns: u64,
    }

    /// Packets at once, from a source that states no age.
    fn run(numbers: RangeInclusive<u64>) -> Vec<Arrival> {
        after(0, numbers)
    }

    /// As `run`; the first one comes after a silence.
    fn after(silence_ns: u64, numbers: RangeInclusive<u64>) -> Vec<Arrival> {
        let first = *numbers.start();
        let arrival = |number| Arrival {
            number,
            wait_ns: if number == first { silence_ns } else { 0 },
            age_ns: None,
            delay_ns: 0,
        };
        numbers.map(arrival).collect()
    }

    /// Packets at intervals, the age stated with each.
    fn aged(numbers: RangeInclusive<u64>, interval_ns: u64) -> Vec<Arrival> {
        let arrival = |number| Arrival {
            number,
            wait_ns: interval_ns,
            age_ns: Some((number - 1) * interval_ns),
            delay_ns: 0,
        };
        numbers.map(arrival).collect()
    }

    /// A packet sent just after the numbering began, that arrives after a silence.
    fn young(silence_ns: u64, number: u64) -> Vec<Arrival> {
        vec![Arrival {
            number,
            wait_ns: silence_ns,
            age_ns: Some(number),
            delay_ns: 0,
        }]
    }

    /// As `young`, but the silence was spent on the way.
    fn delayed(silence_ns: u64, number: u64) -> Vec<Arrival> {
        vec![Arrival {
            delay_ns: silence_ns,
            ..young(silence_ns, number)[0]
        }]
    }

    #[test]
    fn numbering_that_begins_anew_is_no_loss() {
        struct Case {
            name: &'static str,
            arriving: Vec<Vec<Arrival>>,
            restarts: u32,
            lost: u64,
        }
        let case = |name, restarts, lost, arriving: &[Vec<Arrival>]| Case {
            name,
            arriving: arriving.to_vec(),
            restarts,
            lost,
        };
        let cases = [
            case(
                "a restarted source states its age",
                1,
                0,
                &[
                    run(1..=900),
                    young(10 * SECOND, 1),
                    aged(2..=64, MS),
                    run(65..=200),
                ],
            ),
            case(
                "the first packets after a restart are lost",
                1,
                3,
                &[run(1..=900), young(10 * SECOND, 4), run(5..=100)],
            ),
            case(
                "what was awaited before a restart is lost",
                1,
                4,
                &[
                    run(1..=900),
                    run(905..=905),
                    young(10 * SECOND, 1),
                    run(2..=100),
                ],
            ),
            case(
                "a source without age begins anew after a silence",
                1,
                0,
                &[run(500..=900), after(2 * SECOND, 1..=100)],
            ),
            case(
                "a source without age begins anew, its first packets lost unnoticed",
                1,
                0,
                &[run(500..=900), after(2 * SECOND, 7..=100)],
            ),
            case(
                "a short flow begins anew",
                1,
                0,
                &[aged(1..=10, MS), young(3 * SECOND, 1), aged(2..=10, MS)],
            ),
            case(
                "three restarts",
                3,
                1,
                &[
                    aged(1..=30, MS),
                    young(3 * SECOND, 1),
                    aged(2..=30, MS),
                    young(3 * SECOND, 1),
                    aged(2..=30, MS),
                    young(3 * SECOND, 2),
                ],
            ),
            case(
                "far more numbers skipped than packets fit into the time",
                1,
                0,
                &[run(1..=100), run(2_000_000_000..=2_000_000_100)],
            ),
            case(
                "idle for hours",
                0,
                0,
                &[run(1..=100), after(7 * HOUR, 101..=200)],
            ),
            case(
                "idle for an hour, then a number is missing",
                0,
                1,
                &[run(1..=100), after(HOUR, 102..=200)],
            ),
            case(
                "idle for hours at the wrap",
                0,
                0,
                &[
                    run(BASE - 10..=BASE - 1),
                    after(7 * HOUR, BASE..=BASE + 100),
                ],
            ),
            case(
                "5000 numbers lost in an outage",
                0,
                5_000,
                &[run(1..=100), after(100 * MS, 5_101..=5_200)],
            ),
            case(
                "a packet a second, each with its age",
                0,
                0,
                &[aged(1..=64, SECOND)],
            ),
            case(
                "a packet a minute, each with its age as far as it can be told",
                0,
                0,
                &[aged(1..=64, 60 * SECOND)],
            ),
            case(
                "a packet of the first burst that waited 300 ms in a queue",
                0,
                0,
                &[aged(1..=40, 1_000), delayed(300 * MS, 41), run(42..=100)],
            ),
            case(
                "a packet of the first burst that waited 300 ms in a queue, behind a lost one",
                0,
                1,
                &[aged(1..=40, 1_000), delayed(300 * MS, 42), run(43..=100)],
            ),
            case(
                "a packet of the first burst that came 300 ms late",
                0,
                0,
                &[
                    aged(1..=4, 1_000),
                    aged(6..=10, 1_000),
                    delayed(300 * MS, 5),
                    run(11..=100),
                ],
            ),
            case(
                "a packet of the first burst repeated 300 ms later",
                0,
                0,
                &[aged(1..=40, 1_000), delayed(300 * MS, 5), run(41..=80)],
            ),
            case(
                "a packet of the first burst repeated after two seconds of silence",
                0,
                0,
                &[aged(1..=40, 1_000), delayed(2 * SECOND, 5), run(41..=80)],
            ),
        ];
        for Case {
            name,
            arriving,
            restarts,
            lost,
        } in cases
        {
            let played = (0..100).find_map(|_| play(&arriving.concat()));
            let (flow, counted) = played.expect("the machine runs for 100 ms at times");
            assert_eq!(flow.restarts, restarts, "{name}: restarts");
            assert_eq!(flow.lost - flow.recovered, lost, "{name}: lost");
            assert_eq!(counted, u64::from(restarts), "{name}: restarts counted");
        }
    }

    /// Packets arrive at their times by the program's clock. Returns the flow at its end, and the restarts counted. None:
    /// the machine stood still before a packet was handled, which adds to its latency; 32 bits hold no more than 2.1 s.
    fn play(arriving: &[Arrival]) -> Option<(sink_flow, u64)> {
        let sink = sink_with_timeout(TIMEOUT);
        let mut stream = Stream::new(&sink, TIMEOUT);
        let mut time_ns = sink.clock.now_ns();
        for arrival in arriving {
            time_ns += arrival.wait_ns;
            stream.stamp(time_ns - arrival.delay_ns);
            sink.jump(time_ns.wrapping_sub(sink.clock.now_ns()) as i64);
            stream.run(arrival.number, arrival.age_ns.map_or(0, age_code));
            if stream.record().last_ns > time_ns + 100 * MS {
                return None;
            }
        }
        let flow = stream.end();
        let counted = sink.count(sink_counter::COUNT_SINK_FLOW_RESTARTED);
        Some((flow, counted))
    }

    #[test]
    fn the_first_packets_of_a_flow_are_missed_if_the_sink_watched_from_its_birth() {
        const AN_HOUR: i64 = HOUR as i64;
        for (name, first_seen, age_ns, started_ago_ns, lost) in [
            ("born under the sink's eyes", 5, 0, AN_HOUR, 4),
            ("nothing is missed", 1, 0, AN_HOUR, 0),
            ("a window is missed", 257, MS, AN_HOUR, 256),
            (
                "more than a window is missed",
                3_000,
                SECOND,
                AN_HOUR,
                2_999,
            ),
            (
                "the last number that may state an age",
                4_096,
                SECOND,
                AN_HOUR,
                4_095,
            ),
            (
                "an age at a number that no source states one at",
                4_097,
                SECOND,
                AN_HOUR,
                0,
            ),
            // These hold however long the machine stands still before the packet.
            ("older than the sink's watch", 5, 0, -AN_HOUR, 0),
            (
                "born while the sink was starting",
                5,
                200 * SECOND,
                200 * SECOND as i64,
                0,
            ),
        ] {
            let mut settings = settings();
            settings.loss_timeout_ns = TIMEOUT;
            let sink = Sink::load(&settings);
            settings.started_ns = sink.clock.now_ns().wrapping_add_signed(-started_ago_ns);
            sink.set(&settings);
            let mut stream = Stream::new(&sink, TIMEOUT);
            stream.run(first_seen, age_code(age_ns));
            let flow = stream.end();
            assert_eq!(flow.lost, lost, "{name}: its first numbers");
            let mut next = 1;
            for loss in losses(&stream.events) {
                assert_eq!(loss.first, next, "{name}: told of in order");
                next += loss.count;
            }
            assert_eq!(u64::from(next) - 1, lost, "{name}: told of");
        }
    }

    #[test]
    fn sequence_numbers_wrap_without_a_loss() {
        for step in [1, 2, 255, 256] {
            let sink = sink_with_timeout(TIMEOUT);
            let mut stream = Stream::new(&sink, TIMEOUT);
            stream.begin(BASE - 1_000);
            for number in (BASE - 1_000..BASE + 1_000).step_by(step).skip(1) {
                stream.arrive(number);
                stream.assert_as_modelled(&format!("every {step}th number"));
            }
            stream.assert_truth(&format!("every {step}th number"));
        }
    }

    #[test]
    fn timestamps_wrap_without_a_wrong_latency() {
        let sink = sink_with_timeout(TIMEOUT);
        let mut stream = Stream::new(&sink, TIMEOUT);
        for (number, latency) in (1..).zip([0, MS, 100 * MS, SECOND, 2 * SECOND]) {
            // The low 32 bits of the clock are now just above 0, those of the timestamp far up.
            let over = sink.clock.now_ns() % (1 << 32);
            stream.jump((1 << 32) - over + 10_000);
            let sent = sink.clock.now_ns() - latency;
            stream.stamp(sent);
            stream.run(number, 0);
            let record = stream.record();
            // The machine may stand still before the program reads its clock. Of the difference, 32 bits are known.
            let elapsed = (record.last_ns - sent) as u32 as i32;
            assert_eq!(record.latency_last_ns, elapsed, "{latency} ns and more");
        }
    }

    #[test]
    fn a_clock_set_back_does_not_stop_the_accounting() {
        let sink = sink_with_timeout(TIMEOUT);
        let mut stream = Stream::new(&sink, TIMEOUT);
        stream.begin(1);
        stream.run(3, 0);
        sink.jump(-(HOUR as i64));
        stream.run(4, 0);
        stream.run(6, 0);
        let flow = stream.end();
        assert_eq!(flow.lost, 2, "losses before and after the step are told");
        assert_eq!(
            (flow.restarts, flow.gap_ns),
            (0, 0),
            "and nothing waits for the old time"
        );
    }
}
