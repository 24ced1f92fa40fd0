//! A path is named by bytes that are read back, and stamps that say nothing give no times.

use hostint::model::*;
use hostint_testing::path_samples::two_hops;
use hostint_testing::random_reports::Random;

fn sample(report: &LatencyReport) -> Option<PathSample> {
    PathSample::of(report, None, |_, _, _| None)
}

#[test]
fn the_bytes_of_a_path_are_read_back() {
    let mut random = Random(0x9a7_55ed);
    for _ in 0..10_000 {
        let mut report = random.latency();
        let hops: Vec<_> = (0..random.u8() % 12).map(|_| random.hop()).collect();
        report.hops = HopStack::over(random.hop(), &hops, random.hop());
        let Some(path) = Path::of(&report) else {
            assert!(hops.is_empty() || hops.len() > 8, "{}", hops.len());
            continue;
        };
        let bytes = path.to_bytes();
        assert_eq!(Path::from_bytes(&bytes), Some(path.clone()));
        for cut in 0..bytes.len() {
            assert_ne!(Path::from_bytes(&bytes[..cut]), Some(path.clone()));
        }
        assert_eq!(path.segments().len(), path.segment_count());
        let sample = sample(&report).unwrap();
        assert_eq!(sample.segments.len(), path.segment_count());
    }
}

#[test]
fn a_hop_that_does_not_know_its_time_has_none() {
    let report = two_hops().report(1, 5000, 1_000_000_000_000);
    let with = |change: fn(&mut Hop)| {
        let mut hops: Vec<Hop> = report.hops.iter().copied().collect();
        // The first hop of the way: newest first, there are the sink and the second hop before it.
        change(&mut hops[2]);
        let hops = HopStack::newest_first(&hops).unwrap();
        let times = sample(&LatencyReport {
            hops,
            ..report.clone()
        });
        let times = times.unwrap().segments;
        times.iter().map(Option::is_some).collect::<Vec<_>>()
    };
    for (name, change, known) in [
        ("all stamps", (|_| ()) as fn(&mut Hop), [true; 5]),
        (
            "no time of arrival",
            |hop| hop.ingress_ts = u32::MAX,
            [false, false, false, true, true],
        ),
        (
            "no time in the hop",
            |hop| hop.egress_ts = hop.ingress_ts,
            [true, false, false, true, true],
        ),
        (
            "it left before it came",
            |hop| hop.egress_ts = hop.ingress_ts.wrapping_sub(1),
            [true, false, false, true, true],
        ),
    ] {
        assert_eq!(with(change), known, "{name}");
    }
}
