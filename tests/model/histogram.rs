//! Latency histograms bound the error of quantiles, add up, and survive damaged bytes.

use hostint::model::{FlowSlots, LATENCY_SLOTS, LatencyHistogram, LatencyResolution, WideSlots};
use hostint_testing::random::Random;

fn of(values: &[i64]) -> LatencyHistogram {
    let mut histogram = LatencyHistogram::default();
    values.iter().for_each(|value| histogram.add(*value));
    histogram
}

fn encoded(histogram: &LatencyHistogram) -> Vec<u8> {
    let mut bytes = Vec::new();
    histogram.encode(&mut bytes);
    bytes
}

/// Of any size and sign, but often of the size that latencies have.
fn value(random: &mut Random) -> i64 {
    let bits: usize = match random.below(4) {
        0 => 63,
        _ => 1 + random.below(30),
    };
    let size = (random.next() >> (64 - bits)).cast_signed();
    if random.below(4) == 0 { -size } else { size }
}

const EDGES: [i64; 14] = [
    0,
    1,
    -1,
    31,
    32,
    33,
    63,
    64,
    65,
    -64,
    1_000_000_000,
    i64::MAX,
    i64::MIN,
    i64::MIN + 1,
];

#[test]
fn a_value_by_itself_is_exact() {
    for value in EDGES {
        let histogram = of(&[value]);
        let figures = histogram.figures().unwrap();
        assert_eq!((figures.min_ns, figures.max_ns), (value, value), "{value}");
        assert_eq!(figures.p50_ns, Some(value));
        assert_eq!(figures.mean_ns, value);
        assert_eq!(
            LatencyHistogram::decode(&encoded(&histogram)),
            Ok(histogram)
        );
    }
    assert_eq!(LatencyHistogram::default().figures(), None);
    assert_eq!(encoded(&LatencyHistogram::default()), [0; 0]);
}

#[test]
fn a_quantile_is_an_upper_bound_and_at_most_a_32nd_off() {
    let mut random = Random::seeded(1);
    for round in 0..300 {
        let count = 1 + random.below(2_000);
        let mut values: Vec<i64> = (0..count).map(|_| value(&mut random)).collect();
        if round % 10 == 0 {
            values.extend(EDGES);
        }
        let histogram = of(&values);
        values.sort_unstable();
        for share in [0.0, 0.01, 0.5, 0.9, 0.99, 0.999, 1.0] {
            let rank = (share * values.len() as f64).ceil().max(1.0) as usize;
            let exact = values[rank - 1];
            let told = histogram.quantile(share).unwrap();
            let off = i128::from(told) - i128::from(exact);
            assert!(off >= 0, "round {round} {share}: {told} for {exact}");
            assert!(
                off * 32 <= i128::from(exact.unsigned_abs()),
                "round {round} {share}: {told} for {exact}"
            );
        }
        let sum: i128 = values.iter().copied().map(i128::from).sum();
        let figures = histogram.figures().unwrap();
        assert_eq!(i128::from(figures.mean_ns), sum / values.len() as i128);
        assert_eq!(
            figures.jitter_ns,
            Some(figures.p99_ns.unwrap() - figures.p50_ns.unwrap())
        );
        assert_eq!(figures.max_ns, values[values.len() - 1]);
        assert_eq!(figures.samples, values.len() as u64);
    }
}

#[test]
fn negative_values_that_share_a_slot_have_no_quantile_unless_they_are_near_each_other() {
    struct Case {
        name: &'static str,
        resolution: LatencyResolution,
        values: &'static [i64],
        /// p50, p90 and p99
        quantiles: [Option<i64>; 3],
    }
    const MS: i64 = 1_000_000;
    let cases = [
        Case {
            name: "one clock is ahead by 10 ms: all values are near each other",
            resolution: LatencyResolution::Middle,
            values: &[-10 * MS, -10 * MS + 20_000, -10 * MS + 400_000],
            quantiles: [Some(-10 * MS + 400_000); 3],
        },
        Case {
            name: "they are not",
            resolution: LatencyResolution::Middle,
            values: &[-10 * MS, -5 * MS, -MS],
            quantiles: [None; 3],
        },
        Case {
            name: "powers of two take what is within a factor of two",
            resolution: LatencyResolution::Coarse,
            values: &[-10 * MS, -7 * MS, -5 * MS],
            quantiles: [Some(-5 * MS); 3],
        },
        Case {
            name: "most are negative, the greatest is not",
            resolution: LatencyResolution::Middle,
            values: &[-9_000, -8_000, -7_000, -6_000, 1000],
            quantiles: [None, Some(1000), Some(1000)],
        },
        Case {
            name: "the finest slots are on both sides of 0",
            resolution: LatencyResolution::Fine,
            values: &[-40, -30, -20, -10, 1000],
            quantiles: [Some(-20), Some(1000), Some(1000)],
        },
        Case {
            name: "none is negative",
            resolution: LatencyResolution::Middle,
            values: &[0, 0, 0, 16],
            quantiles: [Some(0), Some(16), Some(16)],
        },
    ];
    for case in cases {
        let figures = of(case.values).coarsened(case.resolution).figures();
        let figures = figures.unwrap();
        let told = [figures.p50_ns, figures.p90_ns, figures.p99_ns];
        assert_eq!(told, case.quantiles, "{}", case.name);
        let jitter = figures.p50_ns.map(|p50| figures.p99_ns.unwrap() - p50);
        assert_eq!(figures.jitter_ns, jitter, "{}", case.name);
        let sum: i64 = case.values.iter().sum();
        let mean = sum / case.values.len() as i64;
        assert_eq!(figures.mean_ns, mean, "{}: the mean", case.name);
    }
}

#[test]
fn adding_histograms_is_counting_their_values_in_any_order() {
    let mut random = Random::seeded(2);
    for round in 0..200 {
        let parts: Vec<Vec<i64>> = (0..random.below(6))
            .map(|_| (0..random.below(50)).map(|_| value(&mut random)).collect())
            .collect();
        let all = of(&parts.concat());
        let mut forward = LatencyHistogram::default();
        parts.iter().for_each(|part| forward.merge(&of(part)));
        let mut backward = LatencyHistogram::default();
        parts
            .iter()
            .rev()
            .for_each(|part| backward.merge(&of(part)));
        assert_eq!(forward, all, "round {round}");
        assert_eq!(backward, all, "round {round}");
        assert_eq!(LatencyHistogram::decode(&encoded(&all)), Ok(all.clone()));
        let slots: u64 = all.slots().map(|(_, count)| count).sum();
        assert_eq!(slots, all.samples());
    }
}

#[test]
fn damaged_bytes_are_refused_or_a_histogram_but_never_a_panic() {
    let mut random = Random::seeded(3);
    for _ in 0..20_000 {
        let mut bytes = match random.below(3) {
            0 => (0..random.below(40)).map(|_| random.next() as u8).collect(),
            _ => {
                let count = random.below(20);
                let values: Vec<i64> = (0..count).map(|_| value(&mut random)).collect();
                encoded(&of(&values))
            }
        };
        for _ in 0..random.below(4) {
            if !bytes.is_empty() {
                let at = random.below(bytes.len());
                bytes[at] = random.next() as u8;
            }
        }
        bytes.truncate(bytes.len() - random.below(3).min(bytes.len()));
        if let Ok(mut histogram) = LatencyHistogram::decode(&bytes) {
            let _ = histogram.figures();
            let _ = histogram.slots().count();
            histogram.merge(&histogram.clone());
            histogram.add(i64::MIN);
            let _ = histogram.figures();
        }
    }
    for (name, bytes) in [
        ("an unknown form", &[3, 0][..]),
        ("cut", &[2, 4, 0]),
        ("more behind it", &[1, 2, 2]),
        ("an empty slot", &[2, 2, 0, 2, 0xff, 0x0e, 0, 1, 2]),
        ("a number without end", &[1, 0xff, 0xff, 0xff]),
    ] {
        assert!(LatencyHistogram::decode(bytes).is_err(), "{name}");
    }
}

fn of_resolution(values: &[i64], resolution: LatencyResolution) -> LatencyHistogram {
    let ends = (
        values.iter().copied().min().unwrap_or_default(),
        values.iter().copied().max().unwrap_or_default(),
    );
    let sum = values.iter().map(|ns| i128::from(*ns)).sum();
    let bounds = values.iter().map(|ns| (resolution.bounds(*ns).1, 1));
    LatencyHistogram::of_counts(resolution, ends, sum, bounds)
}

#[test]
fn a_quantile_is_too_high_by_the_error_of_the_resolution_at_most() {
    let mut random = Random::seeded(8);
    for round in 0..300 {
        let mut values: Vec<i64> = (0..1 + random.below(400))
            .map(|_| value(&mut random).unsigned_abs().min(1 << 40) as i64)
            .collect();
        values.sort_unstable();
        for resolution in LatencyResolution::ALL {
            let histogram = of_resolution(&values, resolution);
            assert_eq!(histogram.resolution(), resolution);
            let decoded = LatencyHistogram::decode(&encoded(&histogram));
            assert_eq!(decoded.as_ref(), Ok(&histogram), "{round}");
            for share in [0.5, 0.9, 0.99] {
                let rank = (share * values.len() as f64).ceil() as usize;
                let exact = values[rank.max(1) - 1];
                let told = histogram.quantile(share).unwrap();
                let most = exact as f64 * (1.0 + 1.0 / f64::from(resolution.steps()));
                assert!(told >= exact, "{round}: {share} is {told}, not {exact}");
                assert!(
                    told as f64 <= most,
                    "{round}: {share} at {resolution:?} is {told}, not {exact}"
                );
            }
        }
    }
}

#[test]
fn the_coarsest_resolution_that_went_in_stays() {
    let (fine, coarse) = (
        of(&[1000, 2000]),
        of_resolution(&[1100], LatencyResolution::Coarse),
    );
    for (sentence, parts, expected) in [
        ("fine alone", vec![&fine], LatencyResolution::Fine),
        (
            "coarse into fine",
            vec![&fine, &coarse],
            LatencyResolution::Coarse,
        ),
        (
            "fine into coarse",
            vec![&coarse, &fine],
            LatencyResolution::Coarse,
        ),
    ] {
        let mut sum = LatencyHistogram::default();
        parts.into_iter().for_each(|part| sum.merge(part));
        assert_eq!(sum.resolution(), expected, "{sentence}");
        let decoded = LatencyHistogram::decode(&encoded(&sum)).unwrap();
        assert_eq!(decoded, sum, "{sentence}, encoded");
    }
}

#[test]
fn what_was_added_since_an_earlier_state_is_told() {
    let mut random = Random::seeded(9);
    for round in 0..300 {
        for resolution in LatencyResolution::ALL {
            let values: Vec<i64> = (0..random.below(200))
                .map(|_| value(&mut random) >> 24)
                .collect();
            let cut = random.below(values.len() + 1);
            let (early, late) = values.split_at(cut);
            let earlier = of_resolution(early, resolution);
            let since = of_resolution(&values, resolution).since(&earlier).unwrap();
            let exact = of_resolution(late, resolution);
            assert_eq!(since.samples(), exact.samples(), "{round}");
            assert!(since.counts().eq(exact.counts()), "{round}");
            assert!(LatencyHistogram::decode(&encoded(&since)).is_ok());
            let mut together = earlier.clone();
            together.merge(&since);
            assert!(
                together
                    .counts()
                    .eq(of_resolution(&values, resolution).counts())
            );
            let [Some(since_ends), Some(exact_ends)] = [since.ends(), exact.ends()] else {
                assert_eq!(late.len(), 0);
                continue;
            };
            let sum: i128 = late.iter().map(|ns| i128::from(*ns)).sum();
            assert_eq!(since.whole_sum_ns(), sum, "{round}");
            assert!(since_ends.0 <= exact_ends.0 && since_ends.1 >= exact_ends.1);
        }
    }
}

#[test]
fn a_state_with_other_values_is_not_an_earlier_one() {
    let now = of(&[1, 2, 3]);
    for other in [&[4][..], &[1, 1], &[1, 2, 3, 3], &[-1]] {
        assert_eq!(now.since(&of(other)), None, "{other:?}");
    }
    assert_eq!(now.since(&LatencyHistogram::default()), Some(now.clone()));
    assert_eq!(now.since(&now), Some(LatencyHistogram::default()));
}

#[test]
fn counts_of_32_bits_are_widened_where_they_wrap_around() {
    const WRAP: u64 = 1 << 32;
    let slots = |counts: &[(usize, u64)]| {
        let mut all = [0_u64; LATENCY_SLOTS];
        for (slot, count) in counts {
            all[*slot] = *count;
        }
        all
    };
    let low = |all: [u64; LATENCY_SLOTS]| FlowSlots::coarse(&all.map(|count| count as u32));
    let ends = (i32::MIN, i32::MAX);
    let told = |all: [u64; LATENCY_SLOTS]| {
        let bounds = (0..).map(|slot| (1_i64 << slot) - 1);
        let ends = (ends.0.into(), ends.1.into());
        LatencyHistogram::of_counts(LatencyResolution::Coarse, ends, 0, bounds.zip(all))
    };
    let cases = [
        ("nothing wraps", slots(&[(3, 7)]), slots(&[(3, 9), (4, 1)])),
        (
            "one slot wraps",
            slots(&[(3, WRAP - 1), (4, 5)]),
            slots(&[(3, WRAP + 6), (4, 5)]),
        ),
        (
            "two slots wrap",
            slots(&[(3, WRAP - 9), (31, WRAP - 1)]),
            slots(&[(3, WRAP), (31, 2 * WRAP - 2)]),
        ),
    ];
    for (sentence, before, after) in cases {
        let mut wide = WideSlots::new(&low(before), before.iter().sum(), 5);
        assert_eq!(wide.histogram(ends, 0), told(before), "{sentence}");
        wide.read(&low(after));
        assert_eq!(wide.histogram(ends, 0), told(after), "{sentence}");
    }
    let wrapped = slots(&[(3, 2 * WRAP + 4), (9, 6)]);
    let found = WideSlots::new(&low(wrapped), wrapped.iter().sum(), 5);
    assert_eq!(
        found.histogram(ends, 0),
        told(wrapped),
        "slot 3 has the mean of 5 ns"
    );
}
