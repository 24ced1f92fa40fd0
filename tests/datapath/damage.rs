//! A damaged sequence number hides no losses of its flow, and adds none beyond its own.

use hostint_testing::frame::UDP;
use hostint_testing::int_block::Block;
use hostint_testing::packets::{key, udp};
use hostint_testing::programs::sink::Sink;
use hostint_testing::random::Random;
use hostint_testing::stream::{
    MS, SECOND, Stream, TIMEOUT, settings_with, sink_with, sink_with_timeout,
};

/// Numbers up to this far from the newest one are told apart one by one.
const WINDOW_BITS: u32 = 9;

/// A flow's packets as they arrive, and what happened to them.
struct Damaged {
    arriving: Vec<u64>,
    lost: u64,
    /// Numbers that were changed into others within the window: the sink cannot know that they were.
    unseen: u64,
}

/// `count` numbers from `from` on, of which each `one_in`th is lost; `damage` changes some of the others.
fn arrivals(
    from: u64,
    count: u64,
    one_in: usize,
    random: &mut Random,
    mut damage: impl FnMut(u64, &mut Random) -> Option<u32>,
) -> Damaged {
    let mut all = Damaged {
        arriving: Vec::new(),
        lost: 0,
        unseen: 0,
    };
    for number in from..from + count {
        let inside = number > from + 300 && number + 300 < from + count;
        match damage(number, random) {
            Some(bit) => {
                all.arriving.push(number ^ 1 << bit);
                all.unseen += u64::from(bit < WINDOW_BITS);
            }
            None if inside && random.one_in(one_in) => all.lost += 1,
            None => all.arriving.push(number),
        }
    }
    all
}

/// What the sink says in the end: lost, reordered, restarts.
fn play(stream: &mut Stream, arriving: &[u64]) -> (u64, u64, u32) {
    for (step, number) in arriving.iter().enumerate() {
        stream.run(*number, 0);
        if step % 50 == 0 {
            stream.jump(10 * MS);
        }
        if step % 1_000 == 0 {
            stream.read_events();
        }
    }
    let flow = stream.end();
    (flow.lost - flow.recovered, flow.reordered, flow.restarts)
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;

    #[test]
    fn one_flipped_bit_hides_no_loss() {
        const COUNT: u64 = 6_000;
        let mut random = Random::seeded(7);
        for atomics in [true, false] {
            let sink = sink_with(TIMEOUT, atomics);
            for bit in 0..32 {
                for (place, at) in [("first", 0), ("middle", 2_500), ("last", COUNT - 1)] {
                    let from = 1_000_000 + random.below(1 << 20) as u64;
                    let flip = |number, _: &mut Random| (number == from + at).then_some(bit);
                    let Damaged {
                        arriving,
                        lost,
                        unseen,
                    } = arrivals(from, COUNT, 100, &mut random, flip);
                    let mut stream = Stream::new(&sink, TIMEOUT);
                    let (told, reordered, restarts) = play(&mut stream, &arriving);
                    let name = format!("bit {bit} of the {place} number from {from} on");
                    // A number within the window may be a real one: the one that it should be is missing. The first and
                    // the last one may say that there are more numbers than there were.
                    let blurred = if place == "middle" {
                        unseen
                    } else {
                        unseen * 257
                    };
                    // A last one far behind passes for one of the lost ones that came late.
                    let range = lost - u64::from(place == "last")..=lost + blurred;
                    assert!(range.contains(&told), "{name}: {told} lost of {lost}");
                    assert!(reordered <= 256, "{name}: {reordered} reordered");
                    // A wrong first number is left for good by the numbers that follow.
                    let most = u32::from(place == "first");
                    assert!(restarts <= most, "{name}: {restarts} restarts");
                }
            }
        }
    }

    #[test]
    fn a_number_that_the_checksum_disproves_is_not_believed_however_often_it_comes() {
        const SEQUENCE_BYTE: usize = 71;
        for (hook, damaged) in [("XDP", 4), ("XDP", 8), ("TC", 8), ("TC", 60)] {
            let sink = Sink::load_both(&settings_with(TIMEOUT));
            let run = |number: u32, flip: u8| {
                let mut frame = udp().tagged(Block::hostint().sequence(number)).bytes();
                frame[SEQUENCE_BYTE] ^= flip;
                match hook {
                    "XDP" => sink.run(&frame),
                    _ => sink.run_tc(&frame),
                }
            };
            for number in 1..=100 {
                run(number, 0);
            }
            // The same bit in each of them, as by a broken memory: they would confirm one another.
            for number in 101..=100 + damaged {
                run(number, 0x10);
            }
            for number in 101 + damaged..=200 + damaged {
                run(number, 0);
            }
            for _ in 0..3 {
                sink.jump((TIMEOUT + SECOND / 10) as i64);
                sink.sweep(&[key(UDP)]);
            }
            let flow = sink.flow(&key(UDP)).expect("it is tracked");
            let found = (flow.lost, flow.restarts, flow.damaged, flow.head);
            let expected = (0, 0, damaged, 200 + damaged);
            assert_eq!(found, expected, "{damaged} damaged packets at {hook}");
        }
    }

    #[test]
    fn a_flow_whose_checksums_are_always_wrong_is_measured_all_the_same() {
        let sink = sink_with_timeout(TIMEOUT);
        let run = |number: u32| {
            let mut frame = udp().tagged(Block::hostint().sequence(number)).bytes();
            // As a tunnel's packet looks whose inner checksum is unfinished.
            let last = frame.len() - 1;
            frame[last] ^= 1;
            sink.run(&frame);
        };
        (1..=100).for_each(run);
        (10_001..=10_200).for_each(run);
        assert_eq!(sink.flow(&key(UDP)).unwrap().head, 10_200);
    }

    #[test]
    fn random_damage_hides_no_loss() {
        let (_, seed) = Random::from_env();
        let sink = sink_with_timeout(TIMEOUT);
        for round in 0..6 {
            let seed = seed.wrapping_mul(1_000_003).wrapping_add(round);
            let mut random = Random::seeded(seed);
            let from = random.u32().into();
            let mut flips = 0;
            let damage = |number, random: &mut Random| {
                let flip = number > from && random.one_in(50);
                flips += u64::from(flip);
                flip.then(|| random.below(32) as u32)
            };
            let Damaged {
                arriving,
                lost,
                unseen,
            } = arrivals(from, 15_000, 750, &mut random, damage);
            let mut stream = Stream::new(&sink, TIMEOUT);
            let (told, reordered, restarts) = play(&mut stream, &arriving);
            let name = format!("seed {seed}: {flips} flips");
            println!("{name}: {told} lost of {lost} and {unseen}, {reordered} reordered");
            // A number that is damaged while another one within the window leads too far ahead is missing, too.
            let most = lost + unseen + flips / 20;
            assert!(
                (lost..=most).contains(&told),
                "{name}: {told} lost of {lost} and {unseen}"
            );
            // A bit within the window lets up to 2^bit numbers seem late.
            assert!(reordered < 3_000, "{name}: {reordered} reordered");
            assert_eq!(restarts, 0, "{name}");
        }
    }

    #[test]
    fn an_outage_is_believed_when_it_is_confirmed_or_fits_the_rate() {
        /// Numbers that arrive after a wait, one each `interval`.
        struct Part(u64, std::ops::RangeInclusive<u64>, u64);
        struct Case {
            name: &'static str,
            parts: Vec<Part>,
            lost: u64,
            restarts: u32,
        }
        let case = |name, lost, restarts, parts| Case {
            name,
            parts,
            lost,
            restarts,
        };
        let cases = [
            case(
                "an outage, then the flow goes on",
                9_900,
                0,
                vec![Part(0, 1..=100, MS), Part(9 * SECOND, 10_001..=10_100, MS)],
            ),
            case(
                "an outage, then one packet",
                9_900,
                0,
                vec![Part(0, 1..=100, MS), Part(9 * SECOND, 10_001..=10_001, MS)],
            ),
            case(
                "an outage, then three packets a second apart",
                9_900,
                0,
                vec![
                    Part(0, 1..=100, MS),
                    Part(9 * SECOND, 10_001..=10_003, SECOND),
                ],
            ),
            case(
                "a last number that no rate explains",
                0,
                0,
                vec![Part(0, 1..=100, MS), Part(MS, 1_000_001..=1_000_001, MS)],
            ),
            case(
                "an outage across the wrap",
                5_000,
                0,
                vec![
                    Part(0, u32::MAX as u64 - 1_000..=u32::MAX as u64, MS),
                    Part(5 * SECOND, (1 << 32) + 5_000..=(1 << 32) + 5_100, MS),
                ],
            ),
            case(
                "two outages with two packets between them",
                998,
                0,
                vec![
                    Part(0, 1..=100, MS),
                    Part(300 * MS, 401..=402, 0),
                    Part(700 * MS, 1_101..=1_200, MS),
                ],
            ),
            case(
                "a source without age that begins anew without a silence",
                0,
                1,
                vec![Part(0, 100_000..=100_900, MS), Part(MS, 1..=900, MS)],
            ),
            case(
                "a source that begins anew far ahead",
                0,
                1,
                vec![
                    Part(0, 1..=900, MS),
                    Part(MS, 2_000_000_000..=2_000_000_900, MS),
                ],
            ),
        ];
        for Case {
            name,
            parts,
            lost,
            restarts,
        } in cases
        {
            let sink = sink_with_timeout(TIMEOUT);
            let mut stream = Stream::new(&sink, TIMEOUT);
            for Part(wait, numbers, interval) in parts {
                stream.jump(wait);
                for number in numbers {
                    stream.run(number, 0);
                    stream.jump(interval);
                }
            }
            let flow = stream.end();
            assert_eq!(flow.lost - flow.recovered, lost, "{name}: lost");
            assert_eq!(flow.restarts, restarts, "{name}: restarts");
        }
    }

    #[test]
    fn a_few_packets_before_the_route_changes_are_not_lost() {
        let sink = sink_with_timeout(TIMEOUT);
        for behind in [300, 1_000, 3_000] {
            let mut stream = Stream::new(&sink, TIMEOUT);
            // The new route is faster by as many packets; both deliver in turns for a while.
            for number in 1..=1_000 {
                stream.run(number, 0);
            }
            for number in 1_001..=1_000 + behind {
                stream.run(number + behind, 0);
                stream.run(number, 0);
            }
            for number in 1_001 + 2 * behind..=2_000 + 2 * behind {
                stream.run(number, 0);
            }
            let flow = stream.end();
            assert_eq!(flow.lost - flow.recovered, 0, "{behind} packets faster");
            assert_eq!(flow.restarts, 0, "{behind} packets faster");
        }
    }

    #[test]
    fn a_damaged_age_is_no_restart() {
        let sink = sink_with_timeout(TIMEOUT);
        let mut stream = Stream::new(&sink, TIMEOUT);
        for number in 1..=900 {
            if number % 30 == 7 {
                continue;
            }
            // The youngest age that can be stated, five seconds after the flow began.
            let age = if number > 800 && number % 30 == 8 {
                1
            } else {
                10
            };
            stream.run(number, age);
            stream.jump(5 * MS);
        }
        let flow = stream.end();
        assert_eq!((flow.lost - flow.recovered, flow.restarts), (30, 0));
    }
}
