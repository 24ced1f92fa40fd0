//! Times of reported packets that wait to be counted: each is read back as it was written down, and counting many at once
//! is counting each.

use hostint::model::*;
use hostint_testing::random::Random;

/// Values of all sizes, the ends of what fits into one word and into two among them.
fn ns(random: &mut Random) -> i64 {
    let edges = [0, 1, i64::MAX, i64::from(i32::MAX), i64::from(i32::MIN)];
    let value = match random.below(4) {
        0 => random.pick(&edges),
        1 => random.next() as i64,
        2 => i64::from(random.u32() as i32),
        _ => i64::from(random.u16()),
    };
    if random.one_in(3) {
        value.checked_neg().unwrap_or(value)
    } else {
        value
    }
}

fn time(random: &mut Random) -> SegmentTime {
    let stamped_ns = ns(random);
    let corrected = match random.below(4) {
        0 => None,
        1 => Some(CorrectedLatency {
            latency_ns: stamped_ns,
            error_ns: 0,
            bound_ns: [stamped_ns; 2],
        }),
        _ => Some(CorrectedLatency {
            latency_ns: ns(random),
            error_ns: ns(random) as u64,
            bound_ns: [ns(random), ns(random)],
        }),
    };
    SegmentTime {
        stamped_ns,
        corrected,
    }
}

fn sample(random: &mut Random) -> PathSample {
    let end = |node, port| NodePort {
        node: NodeId(node),
        port,
    };
    let hop = PathHop {
        node: NodeId(3),
        ingress_port: 4,
        egress_port: 5,
    };
    let hops = 1 + random.below(usize::from(MOST_TRANSIT_HOPS));
    let path = Path {
        source: end(1, 2),
        hops: vec![hop; hops],
        sink: end(6, 7),
    };
    PathSample {
        segments: (0..path.segment_count())
            .map(|_| (!random.one_in(5)).then(|| time(random)))
            .collect(),
        whole: time(random),
        path: KnownPath::new(path),
    }
}

#[test]
fn samples_are_read_back_by_path_and_flow_in_their_order() {
    let (mut random, seed) = Random::from_env();
    let mut log = SampleLog::default();
    for _ in 0..20 {
        let mut written = Vec::new();
        for _ in 0..random.below(300) {
            let number = |random: &mut Random| random.pick(&[0, 1, 2, 70_000, SampleLog::NONE]);
            let (path, flow) = (number(&mut random), number(&mut random));
            let one = sample(&mut random);
            log.push(path, flow, TimeWords::of(&one).as_slice());
            written.push((path, flow, one));
        }
        // The sort keeps the order of equals.
        written.sort_by_key(|(path, flow, _)| (*path, *flow));
        log.group();
        assert_eq!(log.samples().len(), written.len());
        for (read, (path, flow, one)) in log.samples().iter().zip(&written) {
            assert_eq!((read.path, read.flow), (*path, *flow), "seed {seed}");
            let mut times = vec![None; 1 + one.segments.len()];
            log.times(read, |place, time| times[place] = Some(time));
            let mut expected = vec![Some(one.whole)];
            expected.extend(&one.segments);
            assert_eq!(times, expected, "seed {seed}");
        }
        log.clear();
        assert_eq!(log.bytes(), 0);
    }
}

#[test]
fn times_that_are_counted_together_are_those_that_are_counted_one_by_one() {
    let (mut random, seed) = Random::from_env();
    let mut columns = TimeColumns::default();
    for round in 0..300 {
        let mut histograms = vec![(LatencyHistogram::default(), LatencyHistogram::default()); 3];
        for _ in 0..random.below(6) {
            for (place, (_, one_by_one)) in histograms.iter_mut().enumerate() {
                let spread = random.pick(&[1, 100, 1 << 20]);
                for _ in 0..random.below(random.clone().pick(&[2, 5, 200])) {
                    let ns = match random.below(3) {
                        0 => ns(&mut random),
                        _ => random.below(spread) as i64 - 50,
                    };
                    columns.push(place, ns);
                    one_by_one.add(ns);
                }
            }
            for (place, (together, _)) in histograms.iter_mut().enumerate() {
                columns.count(place, together);
            }
        }
        for (together, one_by_one) in &histograms {
            assert_eq!(together, one_by_one, "seed {seed}, round {round}");
        }
    }
}
