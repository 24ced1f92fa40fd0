//! The flow summaries of 0.1.0, which tell the same totals in other words.

use crate::model::{
    FlowSummary, LatencyHistogram, LatencyResolution, SlotRange, SubjectTotals, Summary,
    SummarySubject,
};

/// The period of these summaries, which they do not tell.
const PERIOD_NS: u64 = 10_000_000_000;

/// The same as sinks tell it since then. Its slots are powers of two, and the first one has all latencies of 0 and less.
pub(super) fn as_summary(summary: &FlowSummary) -> Summary {
    let totals = &summary.totals;
    let counts = (0..).zip(totals.histogram).map(|(slot, count)| {
        let bound_ns = (1_i64 << slot) - 1;
        (bound_ns, u64::from(count))
    });
    let ends = (totals.latency_min_ns.into(), totals.latency_max_ns.into());
    Summary {
        time_s: summary.time_s,
        period_ns: PERIOD_NS,
        source_node: summary.source_node,
        sink_node: summary.sink_node,
        subject: SummarySubject::Flow {
            flow: summary.flow,
            source_port: summary.source_port,
            sink_port: summary.sink_port,
        },
        totals: SubjectTotals {
            epoch_ns: totals.first_ns,
            last_ns: totals.last_ns,
            packets: totals.packets,
            bytes: totals.bytes,
            lost: totals.lost,
            recovered: 0,
            reordered: totals.reordered,
            duplicates: totals.duplicates,
            late: totals.late,
            restarts: totals.restarts.into(),
            latency: LatencyHistogram::of_counts(
                LatencyResolution::Coarse,
                ends,
                totals.latency_sum_ns.into(),
                counts,
            ),
            slots: SlotRange::ALL,
        },
    }
}
