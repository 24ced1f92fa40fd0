//! The INT sink's accounting of a flow's sequence numbers agrees with a model that remembers every number.

use hostint::datapath::abi::sink_counter;
use hostint_testing::arrivals::Path;
use hostint_testing::random::{Random, env_number};
use hostint_testing::stream::{
    BASE, MS, SECOND, Stream, TIMEOUT, settings_with, sink_with, sink_with_timeout,
};

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;

    #[test]
    fn each_step_is_as_modelled() {
        let (_, seed) = Random::from_env();
        let rounds = env_number("HOSTINT_TEST_ROUNDS", 150);
        let sinks = [true, false].map(|atomics| sink_with(TIMEOUT, atomics));
        for (round, sink) in (0..rounds).zip(sinks.iter().cycle()) {
            let seed = seed.wrapping_mul(1_000_003).wrapping_add(round);
            let mut random = Random::seeded(seed);
            let timeout = random.pick(&[2 * SECOND, 20 * SECOND, 3_600 * SECOND]);
            sink.set(&settings_with(timeout));
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
            let mut stream = Stream::new(sink, timeout);
            stream.begin(numbers[0]);
            for (step, number) in numbers[1..].iter().enumerate() {
                let sentence = format!("seed {seed}, step {step}, number {number}, {path:?}");
                if random.one_in(often) {
                    // After a second of silence low numbers look like a restart.
                    stream.jump(random.next() % (1_500 * MS));
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
        // An emulated machine takes a hundred times as long for a packet.
        let most = env_number("HOSTINT_TEST_PACKETS", u64::MAX) as usize;
        let sink = sink_with_timeout(TIMEOUT);
        for Case {
            name,
            path,
            packets,
        } in cases
        {
            let mut random = Random::seeded(seed);
            let packets = packets.min(most);
            // A third of them are sent before the numbers wrap.
            let numbers = path.arrivals(&mut random, BASE - packets as u64 / 3, packets);
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
            if path.reordering == 0.0 {
                stream.assert_losses_begin_at_holes(&format!("seed {seed}: {name}"));
            }
        }
    }

    #[test]
    fn numbers_that_come_after_they_were_declared_lost_are_taken_back() {
        let sink = sink_with_timeout(TIMEOUT);
        let mut stream = Stream::new(&sink, TIMEOUT);
        // Low numbers after a silence are a restart.
        stream.begin(1_001);
        stream.arrive(1_005);
        stream.end();
        assert_eq!(stream.record().lost, 3, "1002, 1003 and 1004 are lost");
        for number in [1_003, 1_002] {
            stream.run(number, 0);
        }
        let flow = stream.record();
        assert_eq!(
            (flow.lost, flow.recovered, flow.reordered),
            (3, 2, 2),
            "two came after all"
        );
        stream.run(1_003, 0);
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
}
