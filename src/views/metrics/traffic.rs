//! Sums over flows with a common node or class, as metrics.

use super::page::{MetricKind, MetricsPage};
use super::seconds;
use crate::model::metrics::Histogram;
use crate::model::{LATENCY_SLOTS, Traffic};

/// Latencies below 2^10 ns, about a microsecond, share a bucket: between hosts there are none.
const FINEST_SLOT: usize = 10;

/// Name and help of a sum over the flows of a node or class, and its value.
type FlowSum = (&'static str, &'static str, fn(&Traffic) -> u64);

const SUMS: [FlowSum; 6] = [
    ("packets_total", "tagged packets measured", |sums| {
        sums.packets
    }),
    (
        "bytes_total",
        "bytes of those packets, IP headers included, INT not",
        |sums| sums.bytes,
    ),
    ("lost_total", "sequence numbers declared lost", |sums| {
        sums.lost
    }),
    (
        "recovered_total",
        "sequence numbers that arrived after they were declared lost",
        |sums| sums.recovered,
    ),
    (
        "reordered_total",
        "packets that arrived after a newer one of their flow",
        |sums| sums.reordered,
    ),
    (
        "duplicates_total",
        "packets that had arrived before",
        |sums| sums.duplicates,
    ),
];

/// The sums over the flows with these labels.
pub type LabelledTraffic<'a, const N: usize> = ([(&'static str, String); N], &'a Traffic);

fn borrowed<'a, const N: usize>(
    labels: &'a [(&'static str, String); N],
) -> [(&'static str, &'a str); N] {
    labels
        .each_ref()
        .map(|(name, value)| (*name, value.as_str()))
}

/// Writes families whose names begin with `hostint_` and `prefix`.
pub fn write<const N: usize>(
    page: &mut MetricsPage,
    prefix: &str,
    by: &str,
    sums: &[LabelledTraffic<'_, N>],
) {
    for (name, help, of) in SUMS {
        let name = format!("hostint_{prefix}_{name}");
        let help = format!("{help}, by {by}");
        let mut family = page.family(&name, MetricKind::Counter, &help);
        for (which, traffic) in sums {
            family.value(&borrowed(which), of(traffic));
        }
    }
    let (name, help) = (
        format!("hostint_{prefix}_latency_seconds"),
        format!(
            "one-way latency from source to sink, by {by}; negative latencies (the clocks disagree) count as 0"
        ),
    );
    let mut family = page.family(&name, MetricKind::Histogram, &help);
    for (which, traffic) in sums {
        let (mut buckets, mut count) = (Vec::new(), 0);
        for (slot, packets) in traffic.histogram.iter().enumerate() {
            count += packets;
            let shown = slot == 0 || slot >= FINEST_SLOT;
            if shown && slot + 1 < LATENCY_SLOTS {
                let bound = if slot == 0 { 0 } else { 1_u64 << slot };
                buckets.push((seconds(bound), count));
            }
        }
        let histogram = Histogram {
            buckets,
            count,
            sum: seconds(traffic.latency_sum_ns),
        };
        family.histogram(&borrowed(which), histogram);
    }
}
