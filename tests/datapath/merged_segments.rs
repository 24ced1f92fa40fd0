//! A packet that stands for several sequence numbers, a superpacket whole or merged again, counts as if each came
//! alone.

use hostint_testing::arrivals::Path;
use hostint_testing::model::gpe::{self, Block};
use hostint_testing::model::sequence::Flow;
use hostint_testing::model::{Key, layout};
use hostint_testing::packets::{key, tcp};
use hostint_testing::programs::sink::Sink;
use hostint_testing::random::{Random, env_number};
use hostint_testing::stream::{BASE, MS, SECOND, settings_with, sink_with};

const SIZE: u16 = 10;

/// Numbers from this one on, in one packet.
fn frame(number: u64, count: u16) -> Vec<u8> {
    let original = tcp().payload(usize::from(count * SIZE)).bytes();
    let at = layout::find(&original).expect("TCP");
    let block = Block {
        sequence: number as u32,
        base: hostint_testing::checksum::be32(&original, at.l4 + 4),
        size: SIZE,
        count,
        ..Block::single(false)
    };
    gpe::wrap(&original, &at, 0xc000, &block)
}

struct Line<'a> {
    sink: &'a Sink,
    key: Key,
    model: Flow,
}

impl Line<'_> {
    fn arrive(&mut self, number: u64, count: u16) {
        self.sink.run(&frame(number, count));
        let now = self.sink.flow(&self.key).expect("was seen").last_ns;
        let numbers = Vec::from_iter(number..number + u64::from(count));
        self.model.arrive_together(&numbers, now);
    }

    fn assert_as_modelled(&self, sentence: &str) {
        let record = self.sink.flow(&self.key).expect("was seen");
        let wrong = self.model.differences(&record);
        assert!(wrong.is_empty(), "{sentence}: {}", wrong.join("; "));
    }
}

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use super::*;

    #[test]
    fn each_number_counts() {
        let (_, seed) = Random::from_env();
        let rounds = env_number("HOSTINT_TEST_ROUNDS", 100);
        let sinks = [true, false].map(|atomics| sink_with(SECOND, atomics));
        for (round, sink) in (0..rounds).zip(sinks.iter().cycle()) {
            let seed = seed.wrapping_mul(1_000_003).wrapping_add(round);
            let mut random = Random::seeded(seed);
            let timeout = random.pick(&[2 * SECOND, 3_600 * SECOND]);
            sink.set(&settings_with(timeout));
            sink.forget_flows();
            let path = Path {
                loss: random.pick(&[0.0, 0.01, 0.1, 0.5]),
                burst: random.pick(&[1, 5, 300]),
                duplication: random.pick(&[0.0, 0.1]),
                reordering: random.pick(&[0.0, 0.1]),
                delay: random.pick(&[2, 30, 250]),
            };
            let from = random.pick(&[1, BASE - 300, BASE + (1 << 31)]);
            let longest = random.pick(&[2, 45, 128]);
            let numbers = path.arrivals(&mut random, from, 600);
            let mut line = Line {
                sink,
                key: key(6),
                model: Flow::new(timeout),
            };
            sink.run(&frame(numbers[0], 1));
            let now = sink.flow(&line.key).expect("was seen").last_ns;
            line.model.begin(numbers[0], numbers[0], now);
            let mut rest = &numbers[1..];
            while let Some(first) = rest.first() {
                // As many as follow one another, or some that came before too.
                let run = 1 + rest
                    .windows(2)
                    .take_while(|pair| pair[1] == pair[0] + 1)
                    .count();
                let mut count = 1 + random.below(run.min(longest));
                rest = &rest[count..];
                if random.one_in(10) {
                    count = 1 + random.below(longest);
                }
                if random.one_in(20) {
                    sink.jump((random.next() % (1_500 * MS)) as i64);
                }
                line.arrive(*first, count as u16);
                line.assert_as_modelled(&format!("seed {seed}, {count} from {first} on, {path:?}"));
            }
        }
    }

    #[test]
    fn more_segments_than_a_word_has_bits_meet_a_hole_from_a_window_before() {
        for atomics in [true, false] {
            let sink = sink_with(3_600 * SECOND, atomics);
            let mut line = Line {
                sink: &sink,
                key: key(6),
                model: Flow::new(3_600 * SECOND),
            };
            sink.run(&frame(1_001, 1));
            let now = sink.flow(&line.key).expect("was seen").last_ns;
            line.model.begin(1_001, 1_001, now);
            // 1002 is missing. Its place is that of 1258, the 71st of the last hundred.
            for (number, count) in [
                (1_003, 60),
                (1_063, 60),
                (1_123, 60),
                (1_183, 5),
                (1_188, 100),
            ] {
                line.arrive(number, count);
                line.assert_as_modelled(&format!("{count} from {number} on, atomics {atomics}"));
            }
        }
    }
}
