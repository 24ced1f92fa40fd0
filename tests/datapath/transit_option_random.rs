//! Random TCP segments with option 114 leave a transit hop as a plain model fills them in, byte by byte.

use hostint_testing::checksum::verify;
use hostint_testing::generate::{plain, with_vlans};
use hostint_testing::model::tcp_int::{Found, LoggedLease, fill, find};
use hostint_testing::programs::source::TCX_NEXT;
use hostint_testing::programs::transit::{Hop, Options, TCP_INT};
use hostint_testing::random::{Random, env_number};
use hostint_testing::transit_cases::assert_counted;

const FRAMES: u64 = 20_000;

/// These need CAP_BPF and CAP_NET_ADMIN.
mod root {
    use hostint::datapath::abi::transit_counter as count;

    use super::*;

    /// Options as stacks write them, or nearly so, or none at all.
    fn options(random: &mut Random) -> Vec<u8> {
        if random.one_in(8) {
            let len = 4 * random.below(11);
            return random.bytes(len);
        }
        let mut options = Vec::new();
        for _ in 0..random.below(5) {
            let kind = random.pick(&[1, 1, 5, 8, 114, 114, 254]);
            let len = match kind {
                1 => 1,
                5 => 2 + 8 * (1 + random.below(3)),
                8 => 10,
                114 if random.one_in(8) => random.below(16),
                114 => 12,
                _ => 2 + random.below(8),
            };
            options.push(kind);
            if kind != 1 {
                options.push(len as u8);
                options.extend(random.bytes(len.saturating_sub(2)));
            }
        }
        while !options.len().is_multiple_of(4) {
            options.push(random.pick(&[0, 1]));
        }
        options.truncate(40);
        options
    }

    /// False if a request has a wrong checksum, as its stated length is another than that of its sender.
    fn is_right(frame: &[u8]) -> bool {
        !matches!(find(frame, false), Found::Request(_)) || verify(frame).is_ok()
    }

    #[test]
    fn random_segments_are_filled_in_as_the_model_fills_them() {
        let (_, seed) = Random::from_env();
        let hop = Hop::load(&Options {
            carriers: TCP_INT,
            link_mbit: 40_000,
            ..Options::default()
        });
        let mut filled = 0;
        for number in 0..env_number("HOSTINT_TEST_FRAMES", FRAMES) {
            let mut random = Random::seeded(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let sentence = format!("seed {seed}, frame {number}");
            let frame = plain(&mut random);
            let frame = with_vlans(&mut random, frame);
            let mut frame = match random.one_in(8) {
                true => frame,
                false => frame.tcp().tcp_option_bytes(options(&mut random)),
            };
            if random.one_in(8) {
                frame = frame.segment(random.u32(), random.u8() & 0x3f);
            }
            if random.one_in(16) {
                frame = frame.tcp_words(random.u8() & 15);
            }
            if random.one_in(16) {
                frame = frame.total_len(random.u16());
            }
            let frame = frame.bytes();
            // The model knows no checksum of lengths that are not stated.
            if find(&frame, false) != find(&frame, true) || !is_right(&frame) {
                continue;
            }
            let said = LoggedLease {
                value: (!random.one_in(4)).then(|| random.u8()),
                latency: random.u32() >> 8,
                speed_code: 3,
            };
            hop.hold(Some((said.value, said.latency)));
            hop.zero_counters();
            let superpacket = random.one_in(4) && frame.len() > 400;
            let ran = match superpacket {
                true => hop.leave_superpacket(&frame, 100, 4),
                false => hop.leave(&frame),
            };
            assert_eq!(ran.verdict, TCX_NEXT, "{sentence}");
            let found = find(&frame, superpacket);
            let segments = if superpacket { 4 } else { 1 };
            let len = frame.len() as u64;
            let one = |reason| vec![(reason, 1, len)];
            let (expected, counted) = match found {
                Found::Nothing => (frame.clone(), Vec::new()),
                Found::Malformed => (frame.clone(), one(count::COUNT_TRANSIT_OPTION_MALFORMED)),
                Found::NoData => (frame.clone(), one(count::COUNT_TRANSIT_OPTION_NO_DATA)),
                Found::Request(at) => {
                    // Whether another key chooses the packet is chance.
                    let is_chosen = frame[at + 2] >> 4 == 15 || ran.bytes != frame;
                    let mut counted = vec![(count::COUNT_TRANSIT_OPTION_FILLED, segments, len)];
                    counted.push((count::COUNT_TRANSIT_OPTION_NO_ARRIVAL, segments, len));
                    if said.value.is_none() {
                        counted.push((count::COUNT_TRANSIT_OPTION_NO_GAUGE, segments, len));
                    }
                    match is_chosen {
                        true => (fill(&frame, at, &said), counted),
                        false => (frame.clone(), one(count::COUNT_TRANSIT_OPTION_SKIPPED)),
                    }
                }
            };
            assert_eq!(ran.bytes, expected, "{sentence}");
            assert_counted(&hop, &counted, &sentence);
            if matches!(found, Found::Request(_)) {
                filled += 1;
            }
        }
        assert!(filled > FRAMES / 8, "{filled} were filled in");
        println!("{filled} were filled in");
    }
}
