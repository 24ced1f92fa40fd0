//! Distributions of times as histograms whose buckets end at powers of two.

use std::ops::RangeInclusive;

use super::seconds;
use crate::model::LatencyHistogram;
use crate::model::metrics::Histogram;

/// The histogram with a bucket for each of these powers of two, in nanoseconds.
pub fn power_buckets(latency: &LatencyHistogram, powers: RangeInclusive<u32>) -> Histogram {
    let mut counts = latency.counts().peekable();
    let mut seen = 0;
    let buckets = powers.map(|power| {
        let bound_ns = 1_i64 << power;
        // Counts stand at the last nanosecond of their slot.
        while let Some((_, count)) = counts.next_if(|(ns, _)| *ns < bound_ns) {
            seen += count;
        }
        (seconds(bound_ns), seen)
    });
    Histogram {
        buckets: buckets.collect(),
        count: latency.samples(),
        sum: seconds(latency.whole_sum_ns()),
    }
}
