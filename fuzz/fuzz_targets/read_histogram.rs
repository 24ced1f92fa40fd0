//! Any bytes are a histogram of latencies, or none; one that is stays the same when it is written, and can be used.
#![no_main]

use hostint::model::LatencyHistogram;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(histogram) = LatencyHistogram::decode(bytes) else {
        return;
    };
    let mut written = Vec::new();
    histogram.encode(&mut written);
    assert!(written.len() <= bytes.len());
    assert_eq!(LatencyHistogram::decode(&written), Ok(histogram.clone()));
    let counted: u64 = histogram.slots().map(|(_, count)| count).sum();
    assert_eq!(counted, histogram.samples());
    if let Some(figures) = histogram.figures() {
        // A quantile whose slot is too wide is not known.
        let known = [figures.p50_ns, figures.p90_ns, figures.p99_ns];
        let known = known.into_iter().flatten();
        let ranks = [figures.min_ns].into_iter().chain(known);
        let ranks: Vec<i64> = ranks.chain([figures.max_ns]).collect();
        assert!(ranks.is_sorted(), "{ranks:?}");
        assert!((figures.min_ns..=figures.max_ns).contains(&figures.mean_ns));
    }
    let mut twice = histogram.clone();
    twice.merge(&histogram);
    twice.add(i64::MIN);
    twice.add(i64::MAX);
    assert!(twice.figures().is_some());
});
