//! What the INT sink makes of a flow's sequence numbers, against a model that remembers every number.

mod support;

use std::ops::RangeInclusive;
use std::sync::Barrier;
use std::thread;

use hostint::datapath::abi::{sink_counter, sink_flow};
use support::arrivals::Path;
use support::frame::Frame;
use support::int_block::Block;
use support::model::Key;
use support::model::sequence::Flow;
use support::model::source::age_code;
use support::programs::Shared;
use support::programs::sink::{Event, Sink, gaps, latencies, losses, settings};
use support::random::{Random, env_number};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;
const HOUR: u64 = 3_600 * SECOND;
const TIMEOUT: u64 = 200 * MS;
/// Numbers of the model are 64 bits wide; on the wire they are these modulo 2^32.
const BASE: u64 = 1 << 32;

/// Places in the frame of `packet`.
const FLAGS_AT: usize = 43;
const TIMESTAMP_AT: usize = 62;
const SEQUENCE_AT: usize = 70;

fn packet() -> Vec<u8> {
    let frame = Frame::ethernet().ipv4().udp().without_udp_checksum();
    frame.payload(18).tagged(Block::hostint()).bytes()
}

fn key() -> Key {
    Key {
        source: [192, 0, 2, 1],
        target: [198, 51, 100, 2],
        sport: 40000,
        dport: 5001,
        protocol: 17,
    }
}

fn sink_with_timeout(timeout_ns: u64) -> Sink {
    let mut settings = settings();
    settings.loss_timeout_ns = timeout_ns;
    Sink::load(&settings)
}

/// One flow at a sink and what the model thinks of it.
struct Stream<'a> {
    sink: &'a Sink,
    frame: Vec<u8>,
    timeout_ns: u64,
    model: Flow,
    events: Vec<Event>,
}

impl<'a> Stream<'a> {
    fn new(sink: &'a Sink, timeout_ns: u64) -> Self {
        sink.forget_flows();
        sink.events();
        Stream {
            sink,
            frame: packet(),
            timeout_ns,
            model: Flow::new(timeout_ns),
            events: Vec::new(),
        }
    }

    fn record(&self) -> sink_flow {
        self.sink.flow(&key()).expect("the flow was seen")
    }

    /// What the next packets say when they were sent.
    fn stamp(&mut self, sent_ns: u64) {
        let wire = (sent_ns as u32).to_be_bytes();
        self.frame[TIMESTAMP_AT..TIMESTAMP_AT + 4].copy_from_slice(&wire);
    }

    fn run(&mut self, number: u64, age: u8) {
        self.frame[FLAGS_AT] = 0xc0 | age;
        let wire = (number as u32).to_be_bytes();
        self.frame[SEQUENCE_AT..SEQUENCE_AT + 4].copy_from_slice(&wire);
        self.sink.run(&self.frame);
    }

    /// The flow's first packet.
    fn begin(&mut self, number: u64) {
        self.run(number, 0);
        self.model.begin(number, number, self.record().last_ns);
    }

    fn arrive(&mut self, number: u64) {
        self.arrive_with_age(number, 0);
    }

    fn arrive_with_age(&mut self, number: u64, age: u8) {
        self.run(number, age);
        self.model.arrive(number, self.record().last_ns);
    }

    /// Without asking the kernel for the time: what is lost in the end does not depend on it.
    fn arrive_untimed(&mut self, number: u64) {
        self.run(number, 0);
        self.model.arrive(number, 0);
    }

    fn jump(&self, by_ns: u64) {
        self.sink.jump(by_ns as i64);
    }

    /// Unless a period ends just now: the kernel's clock and ours can't be read at once.
    fn sweep(&mut self) {
        let now = self.sink.clock.now_ns();
        let ends = self
            .model
            .period_began()
            .map_or(0, |at| at + self.timeout_ns);
        if (now.saturating_sub(SECOND / 100)..now + SECOND / 10).contains(&ends) {
            return;
        }
        self.sink.sweep(&[key()]);
        self.model.look_at_clock(now);
        self.model.correct_period(self.record().gap_ns);
    }

    fn assert_as_modelled(&self, sentence: &str) {
        let wrong = self.model.differences(&self.record());
        assert!(wrong.is_empty(), "{sentence}: {}", wrong.join("; "));
    }

    fn read_events(&mut self) {
        self.events.extend(self.sink.events());
    }

    /// The flow falls silent and the daemon sweeps it until nothing is awaited any more.
    fn end(&mut self) -> sink_flow {
        for _ in 0..2 {
            self.jump(self.timeout_ns + SECOND / 10);
            self.sink.sweep(&[key()]);
        }
        self.read_events();
        self.record()
    }

    /// What a user reads when the flow has ended is what happened.
    fn assert_truth(&mut self, sentence: &str) {
        let flow = self.end();
        let truth = self.model.true_loss();
        assert_eq!(
            flow.lost - flow.recovered,
            truth,
            "{sentence}: lost for good"
        );
        assert_eq!(
            flow.reordered, self.model.reordered,
            "{sentence}: reordered"
        );
        assert_eq!(
            flow.duplicates, self.model.duplicates,
            "{sentence}: duplicates"
        );
        assert_eq!(
            flow.late, self.model.late,
            "{sentence}: too late to be told apart"
        );
        assert_eq!(flow.packets, self.model.packets, "{sentence}: packets");
        assert_eq!(
            u64::from(flow.restarts),
            self.model.restarts,
            "{sentence}: restarts"
        );
        let told: u64 = losses(&self.events)
            .iter()
            .map(|l| u64::from(l.count))
            .sum();
        assert_eq!(told, flow.lost, "{sentence}: losses told of");
        assert_eq!(
            (flow.gap_ns, flow.lost_count),
            (0, 0),
            "{sentence}: nothing is left to tell"
        );
    }
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;

    #[test]
    fn each_step_is_as_modelled() {
        let (_, seed) = Random::from_env();
        let rounds = env_number("HOSTINT_TEST_ROUNDS", 150);
        for round in 0..rounds {
            let seed = seed.wrapping_mul(1_000_003).wrapping_add(round);
            let mut random = Random::seeded(seed);
            let timeout = random.pick(&[2 * SECOND, 20 * SECOND, 3_600 * SECOND]);
            let sink = sink_with_timeout(timeout);
            let path = Path {
                loss: random.pick(&[0.0, 0.001, 0.01, 0.1, 0.5]),
                burst: random.pick(&[1, 5, 100, 300, 1_000]),
                duplication: random.pick(&[0.0, 0.01, 0.2]),
                reordering: random.pick(&[0.0, 0.01, 0.2]),
                delay: random.pick(&[2, 30, 250, 400]),
            };
            let from = random.pick(&[
                1,
                BASE - 700,
                BASE - 1,
                BASE,
                2 * BASE - 300,
                BASE + (1 << 31),
            ]);
            let from = from + random.below(5) as u64;
            let often = random.pick(&[3, 20, 200]);
            let numbers = path.arrivals(&mut random, from, 600);
            let mut stream = Stream::new(&sink, timeout);
            stream.begin(numbers[0]);
            for (step, number) in numbers[1..].iter().enumerate() {
                let sentence = format!("seed {seed}, step {step}, number {number}, {path:?}");
                if random.one_in(often) {
                    // Within a second nothing looks like a restart.
                    stream.jump(random.next() % (900 * MS));
                }
                if random.one_in(often) {
                    stream.sweep();
                    stream.assert_as_modelled(&format!("{sentence}, swept"));
                }
                stream.arrive(*number);
                stream.assert_as_modelled(&sentence);
            }
        }
    }

    #[test]
    fn what_is_lost_in_the_end_is_what_was_lost() {
        let lossy = |loss| Path {
            loss,
            ..Path::PERFECT
        };
        let bursts = |burst| Path {
            loss: 0.001,
            burst,
            ..Path::PERFECT
        };
        struct Case {
            name: &'static str,
            path: Path,
            packets: usize,
        }
        let case = |name, path, packets| Case {
            name,
            path,
            packets,
        };
        let cases = [
            case("nothing is lost", Path::PERFECT, 20_000),
            case("0.001 % are lost", lossy(0.000_01), 300_000),
            case("0.01 % are lost", lossy(0.000_1), 100_000),
            case("0.1 % are lost", lossy(0.001), 50_000),
            case("1 % are lost", lossy(0.01), 50_000),
            case("10 % are lost", lossy(0.1), 50_000),
            case("50 % are lost", lossy(0.5), 50_000),
            case("losses in bursts of up to 30", bursts(30), 50_000),
            case("losses in bursts of up to a window", bursts(256), 50_000),
            case(
                "losses in bursts of more than a window",
                bursts(1_500),
                50_000,
            ),
            case(
                "duplicates",
                Path {
                    duplication: 0.1,
                    delay: 100,
                    ..Path::PERFECT
                },
                30_000,
            ),
            case(
                "reordering within the window",
                Path {
                    reordering: 0.1,
                    delay: 200,
                    ..Path::PERFECT
                },
                30_000,
            ),
            case(
                "reordering beyond the window",
                Path {
                    reordering: 0.05,
                    delay: 2_000,
                    ..Path::PERFECT
                },
                30_000,
            ),
            case(
                "everything at once",
                Path {
                    loss: 0.02,
                    burst: 40,
                    duplication: 0.05,
                    reordering: 0.05,
                    delay: 120,
                },
                50_000,
            ),
            case(
                "half lost, the rest in disorder",
                Path {
                    loss: 0.3,
                    burst: 3,
                    duplication: 0.2,
                    reordering: 0.3,
                    delay: 90,
                },
                50_000,
            ),
        ];
        let (_, seed) = Random::from_env();
        let sink = sink_with_timeout(TIMEOUT);
        for Case {
            name,
            path,
            packets,
        } in cases
        {
            let mut random = Random::seeded(seed);
            let numbers = path.arrivals(&mut random, BASE - 20_000, packets);
            let mut stream = Stream::new(&sink, TIMEOUT);
            stream.begin(numbers[0]);
            for (step, number) in numbers[1..].iter().enumerate() {
                stream.arrive_untimed(*number);
                if step % 50 == 0 {
                    stream.jump(10 * MS);
                }
                if step % 5_000 == 0 {
                    stream.read_events();
                }
            }
            stream.assert_truth(&format!("seed {seed}: {name}"));
        }
    }

    #[test]
    fn a_single_hole_is_told_with_its_number_and_time() {
        for hole in [2, 63, 64, 65, 256, 257, 1_000, BASE - 1, BASE, BASE + 1] {
            let sink = sink_with_timeout(TIMEOUT);
            let mut stream = Stream::new(&sink, TIMEOUT);
            stream.begin(hole - 1);
            let before = stream.record().last_ns;
            stream.arrive(hole + 1);
            let events = sink.events();
            assert_eq!(
                gaps(&events).len(),
                1,
                "the gap at {hole} is told of at once"
            );
            assert!(losses(&events).is_empty(), "but {hole} is not lost yet");
            stream.arrive(hole + 2);
            stream.end();
            let lost = losses(&stream.events);
            let [loss] = lost[..] else {
                panic!("one loss, not {}", lost.len())
            };
            assert_eq!(
                (loss.first, loss.count),
                (hole as u32, 1),
                "the number lost"
            );
            assert_eq!(loss.hole_ns, before, "{hole}: arrival of the packet before");
            assert_eq!(
                (loss.source_node, loss.source_port),
                (2, 13),
                "where it came from"
            );
            assert_eq!(loss.ifindex, 1, "where it was to arrive");
        }
    }

    #[test]
    fn a_loss_of_several_numbers_is_one_event_that_names_the_first() {
        struct Case {
            name: &'static str,
            arriving: &'static [u64],
            first: u32,
            count: u32,
        }
        let cases = [
            Case {
                name: "a burst",
                arriving: &[10, 20],
                first: 11,
                count: 9,
            },
            Case {
                name: "two holes in one period",
                arriving: &[10, 12, 14],
                first: 11,
                count: 2,
            },
            Case {
                name: "the first hole is filled",
                arriving: &[10, 12, 14, 11],
                first: 13,
                count: 1,
            },
            Case {
                name: "255 numbers",
                arriving: &[10, 266],
                first: 11,
                count: 255,
            },
            Case {
                name: "256 numbers",
                arriving: &[10, 267],
                first: 11,
                count: 256,
            },
            Case {
                name: "1000 numbers",
                arriving: &[10, 1_011],
                first: 11,
                count: 1_000,
            },
            Case {
                name: "a hole, then 1000 numbers",
                arriving: &[10, 12, 1_013],
                first: 11,
                count: 1_001,
            },
        ];
        for Case {
            name,
            arriving,
            first,
            count,
        } in cases
        {
            let sink = sink_with_timeout(TIMEOUT);
            let mut stream = Stream::new(&sink, TIMEOUT);
            stream.begin(arriving[0]);
            for number in &arriving[1..] {
                stream.arrive(*number);
                stream.assert_as_modelled(name);
            }
            stream.end();
            let lost: Vec<_> = losses(&stream.events)
                .iter()
                .map(|l| (l.first, l.count))
                .collect();
            let sum: u32 = lost.iter().map(|l| l.1).sum();
            assert_eq!(
                (lost[0].0, sum),
                (first, count),
                "{name}: first and count of {lost:?}"
            );
            stream.assert_truth(name);
        }
    }

    #[test]
    fn a_loss_is_told_between_one_and_two_timeouts_later() {
        let sink = sink_with_timeout(10 * SECOND);
        let mut stream = Stream::new(&sink, 10 * SECOND);
        stream.begin(1);
        stream.arrive(3);
        for (name, wait, lost) in [
            ("nothing within the timeout", 9 * SECOND, 0),
            ("one timeout: missing since the period began", 2 * SECOND, 0),
            ("still waiting", 7 * SECOND, 0),
            ("missing for a whole period", 4 * SECOND, 1),
        ] {
            stream.jump(wait);
            sink.sweep(&[key()]);
            assert_eq!(stream.record().lost, lost, "{name}");
        }
    }

    #[test]
    fn numbers_that_come_after_they_were_declared_lost_are_taken_back() {
        let sink = sink_with_timeout(TIMEOUT);
        let mut stream = Stream::new(&sink, TIMEOUT);
        stream.begin(1);
        stream.arrive(5);
        stream.end();
        assert_eq!(stream.record().lost, 3, "2, 3 and 4 are lost");
        for number in [3, 2] {
            stream.run(number, 0);
        }
        let flow = stream.record();
        assert_eq!(
            (flow.lost, flow.recovered, flow.reordered),
            (3, 2, 2),
            "two came after all"
        );
        stream.run(3, 0);
        let flow = stream.record();
        assert_eq!(
            (flow.recovered, flow.duplicates),
            (2, 1),
            "the second time as a duplicate"
        );
        for (counter, value) in [
            (sink_counter::COUNT_SINK_LOST, 3),
            (sink_counter::COUNT_SINK_RECOVERED, 2),
            (sink_counter::COUNT_SINK_REORDERED, 2),
            (sink_counter::COUNT_SINK_DUPLICATE, 1),
        ] {
            assert_eq!(sink.count(counter), value, "{counter:?}");
        }
    }

    #[test]
    fn duplicates_far_behind_blur_the_loss_by_no_more_than_they_are() {
        let mut random = Random::seeded(3);
        let path = Path {
            loss: 0.01,
            burst: 3,
            duplication: 0.02,
            reordering: 0.02,
            delay: 3_000,
        };
        let numbers = path.arrivals(&mut random, 1, 30_000);
        let sink = sink_with_timeout(TIMEOUT);
        let mut stream = Stream::new(&sink, TIMEOUT);
        stream.begin(numbers[0]);
        for number in &numbers[1..] {
            stream.arrive_untimed(*number);
        }
        let flow = stream.end();
        let (told, truth) = (flow.lost - flow.recovered, stream.model.true_loss());
        let range = truth.saturating_sub(flow.late)..=truth;
        assert!(
            range.contains(&told),
            "{told} lost of {truth}, {} too late to tell",
            flow.late
        );
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
            let sink = sink_with_timeout(TIMEOUT);
            let mut stream = Stream::new(&sink, TIMEOUT);
            for arrival in arriving.concat() {
                stream.jump(arrival.wait_ns);
                let sent = sink.clock.now_ns() - arrival.delay_ns;
                stream.stamp(sent);
                stream.run(arrival.number, arrival.age_ns.map_or(0, age_code));
            }
            let flow = stream.end();
            assert_eq!(flow.restarts, restarts, "{name}: restarts");
            assert_eq!(flow.lost - flow.recovered, lost, "{name}: lost");
            let counted = sink.count(sink_counter::COUNT_SINK_FLOW_RESTARTED);
            assert_eq!(counted, u64::from(restarts), "{name}: restarts counted");
        }
    }

    #[test]
    fn the_first_packets_of_a_flow_are_missed_if_the_sink_watched_from_its_birth() {
        for (name, first_seen, age_ns, started_ago_ns, lost) in [
            ("born under the sink's eyes", 5, 0, HOUR, 4),
            ("nothing is missed", 1, 0, HOUR, 0),
            ("a window is missed", 257, MS, HOUR, 256),
            ("more than a window is missed", 3_000, SECOND, HOUR, 2_999),
            ("older than the sink's watch", 5, 0, 0, 0),
            ("born while the sink was starting", 5, SECOND, SECOND, 0),
        ] {
            let mut settings = settings();
            settings.loss_timeout_ns = TIMEOUT;
            let sink = Sink::load(&settings);
            settings.started_ns = sink.clock.now_ns() - started_ago_ns;
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
    fn timestamps_wrap_without_a_wrong_latency() {
        let sink = sink_with_timeout(TIMEOUT);
        let mut stream = Stream::new(&sink, TIMEOUT);
        for (number, latency) in (1..).zip([0, MS, 100 * MS, SECOND, 2 * SECOND]) {
            // The low 32 bits of the clock are now just above 0, those of the timestamp far up.
            let over = sink.clock.now_ns() % (1 << 32);
            stream.jump((1 << 32) - over + 10_000);
            stream.stamp(sink.clock.now_ns() - latency);
            stream.run(number, 0);
            let measured = u64::try_from(stream.record().latency_last_ns).expect("positive");
            let off = measured.wrapping_sub(latency);
            assert!(
                off < 50 * MS,
                "latency {latency} ns measured as {measured} ns"
            );
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

    #[test]
    fn a_sweep_takes_up_to_64_flows_and_ignores_unknown_ones() {
        let sink = sink_with_timeout(TIMEOUT);
        let keys: Vec<Key> = (0..64)
            .map(|port| Key {
                sport: 1_000 + port,
                ..key()
            })
            .collect();
        for key in &keys {
            let frame = Frame::ethernet()
                .ipv4()
                .udp()
                .ports(key.sport, key.dport)
                .payload(8);
            for number in [1, 3] {
                sink.run(
                    &frame
                        .clone()
                        .tagged(Block::hostint().sequence(number))
                        .bytes(),
                );
            }
        }
        for _ in 0..2 {
            sink.jump(SECOND as i64);
            sink.sweep(&keys);
            sink.sweep(&[Key { sport: 9, ..key() }, Key { sport: 10, ..key() }]);
        }
        for key in &keys {
            assert_eq!(sink.flow(key).unwrap().lost, 1, "flow {}", key.sport);
        }
        assert_eq!(losses(&sink.events()).len(), 64, "one loss a flow");
        assert_eq!(sink.flows(), 64, "a sweep adds no flow");
    }

    #[test]
    fn a_loss_that_found_the_ring_full_is_told_by_a_later_sweep() {
        let mut talkative = settings();
        talkative.loss_timeout_ns = TIMEOUT;
        talkative.report_period_ns = 0;
        let sizes = support::programs::sink::Sizes {
            flows: 8,
            ring_bytes: 4096,
        };
        let sink = Sink::load_sized(&talkative, sizes);
        let mut stream = Stream::new(&sink, TIMEOUT);
        stream.begin(1);
        for number in 3..100 {
            stream.run(number, 0);
        }
        // Other flows' gaps take the last few bytes.
        let other = Frame::ethernet().ipv4().udp();
        for port in 0..6 {
            for number in [1, 3] {
                let frame = other
                    .clone()
                    .ports(port, 1)
                    .tagged(Block::hostint().sequence(number));
                sink.run(&frame.bytes());
            }
        }
        for _ in 0..3 {
            sink.jump(SECOND as i64);
            sink.sweep(&[key()]);
        }
        assert!(
            losses(&sink.events()).is_empty(),
            "the ring had no room for it"
        );
        assert_eq!(stream.record().lost, 1, "but it is known");
        sink.sweep(&[key()]);
        let lost: Vec<_> = losses(&sink.events())
            .iter()
            .map(|l| (l.first, l.count))
            .collect();
        assert_eq!(lost, [(2, 1)], "and told as soon as there is room");
        sink.sweep(&[key()]);
        assert!(losses(&sink.events()).is_empty(), "once");
    }

    #[test]
    fn several_cpus_on_one_flow_lose_no_count() {
        const THREADS: u32 = 4;
        const PACKETS: u32 = 80_000;
        let sink = sink_with_timeout(3_600 * SECOND);
        let mut first = Stream::new(&sink, TIMEOUT);
        first.run(1, 0);
        let program = Shared(sink.program());
        let start = Barrier::new(THREADS as usize);
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let (program, start) = (&program, &start);
                scope.spawn(move || {
                    let mut frame = packet();
                    start.wait();
                    for number in (2..=PACKETS).filter(|n| n % THREADS == thread) {
                        frame[SEQUENCE_AT..SEQUENCE_AT + 4].copy_from_slice(&number.to_be_bytes());
                        program.run(&frame);
                    }
                });
            }
        });
        let flow = sink.flow(&key()).unwrap();
        let sent_len = packet().len() as u64 - 14 - 36;
        assert_eq!(flow.packets, u64::from(PACKETS), "packets");
        assert_eq!(flow.bytes, flow.packets * sent_len, "bytes");
        assert_eq!(flow.histogram.iter().sum::<u32>(), PACKETS, "latencies");
        assert_eq!(flow.duplicates, 0, "no number came twice");
        assert_eq!(flow.restarts, 0, "nothing began anew");
        for _ in 0..2 {
            sink.jump(3_601 * SECOND as i64);
            sink.sweep(&[key()]);
        }
        let flow = sink.flow(&key()).unwrap();
        assert_eq!(flow.lost - flow.recovered, 0, "no number is missing");
        assert_eq!(
            flow.awaited,
            flow.declared.iter().map(|w| w.count_ones()).sum::<u32>()
        );
        let events = sink.events();
        assert_eq!(
            latencies(&events).len(),
            1,
            "the flow is new once, and no period is over"
        );
        let stripped = sink.counters()[sink_counter::COUNT_SINK_STRIPPED.0 as usize];
        let bytes = u64::from(PACKETS) * packet().len() as u64;
        assert_eq!(stripped, (u64::from(PACKETS), bytes), "stripped");
        assert_eq!(
            sink.count(sink_counter::COUNT_SINK_REORDERED),
            flow.reordered,
            "reordered"
        );
        assert_eq!(
            sink.count(sink_counter::COUNT_SINK_RECOVERED),
            flow.recovered,
            "recovered"
        );
        assert_eq!(sink.count(sink_counter::COUNT_SINK_LOST), flow.lost, "lost");
    }

    #[test]
    fn a_flow_that_begins_on_several_cpus_at_once_is_one_flow() {
        const THREADS: usize = 2;
        const FLOWS: u16 = 500;
        let sink = sink_with_timeout(TIMEOUT);
        let program = Shared(sink.program());
        let start = Barrier::new(THREADS);
        thread::scope(|scope| {
            for number in 1..=THREADS as u32 {
                let (program, start) = (&program, &start);
                scope.spawn(move || {
                    for port in 0..FLOWS {
                        let frame = Frame::ethernet().ipv4().udp().ports(port, 5001);
                        let frame = frame.tagged(Block::hostint().sequence(number)).bytes();
                        start.wait();
                        program.run(&frame);
                    }
                });
            }
        });
        assert_eq!(sink.flows(), usize::from(FLOWS), "flows in the table");
        assert_eq!(
            sink.count(sink_counter::COUNT_SINK_FLOW_NEW),
            u64::from(FLOWS),
            "new flows"
        );
        assert_eq!(
            latencies(&sink.events()).len(),
            usize::from(FLOWS),
            "told of"
        );
        for port in 0..FLOWS {
            let flow = sink
                .flow(&Key {
                    sport: port,
                    ..key()
                })
                .unwrap();
            assert_eq!(flow.packets, THREADS as u64, "packets of flow {port}");
        }
    }
}
