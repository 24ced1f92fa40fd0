//! Sums over flows with a common node or class, as metrics.

use super::page::{MetricKind, MetricsPage};
use super::seconds;
use crate::model::metrics::Histogram;
use crate::model::{LATENCY_SLOTS, Traffic};

/// Latencies below 2^10 ns, about a microsecond, share a bucket: between hosts there are none.
const FINEST_SLOT: usize = 10;

/// One sum over the flows of a node or class.
struct FlowSum {
    name: &'static str,
    help: &'static str,
    of: fn(&Traffic) -> u64,
}

const SUMS: [FlowSum; 6] = [
    FlowSum {
        name: "packets_total",
        help: "tagged packets measured",
        of: |sums| sums.packets,
    },
    FlowSum {
        name: "bytes_total",
        help: "bytes of those packets, IP headers included, INT not",
        of: |sums| sums.bytes,
    },
    FlowSum {
        name: "lost_total",
        help: "sequence numbers declared lost",
        of: |sums| sums.lost,
    },
    FlowSum {
        name: "recovered_total",
        help: "sequence numbers that arrived after they were declared lost",
        of: |sums| sums.recovered,
    },
    FlowSum {
        name: "reordered_total",
        help: "packets that arrived after a newer one of their flow",
        of: |sums| sums.reordered,
    },
    FlowSum {
        name: "duplicates_total",
        help: "packets that had arrived before",
        of: |sums| sums.duplicates,
    },
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
    for sum in SUMS {
        let (name, help) = (
            format!("hostint_{prefix}_{}", sum.name),
            format!("{}, by {by}", sum.help),
        );
        let mut family = page.family(&name, MetricKind::Counter, &help);
        for (which, traffic) in sums {
            family.value(&borrowed(which), (sum.of)(traffic));
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
