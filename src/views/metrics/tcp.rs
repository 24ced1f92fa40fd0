//! TCP connections as metrics.

use super::page::{MetricKind, MetricsPage};
use super::{build_info, seconds, text as render};
use crate::model::metrics::{Histogram, MetricFamily};
use crate::model::{LatencyHistogram, TcpTotals};

/// Bounds of round-trip times, as powers of two of nanoseconds: from 16 us to 17 s.
const BOUNDS: std::ops::RangeInclusive<u32> = 14..=34;

pub fn text(totals: &TcpTotals) -> String {
    render(&families(totals))
}

pub fn families(totals: &TcpTotals) -> Vec<MetricFamily> {
    let mut page = MetricsPage::default();
    build_info(&mut page);
    let mut values = page.family(
        "hostint_tcp_connections",
        MetricKind::Gauge,
        "open TCP connections that are watched, by what limited their senders in the last period",
    );
    for one in &totals.limited {
        let class = one.class.as_deref().unwrap_or_default();
        let labels = [("class", class), ("limited", one.limited.name())];
        values.value(&labels, one.connections);
    }
    page.family(
        "hostint_tcp_srtt_seconds",
        MetricKind::Histogram,
        "smoothed round-trip time of each connection in each sample",
    )
    .histogram(&[], round_trips(&totals.srtt));
    for (name, count, help) in [
        (
            "hostint_tcp_retransmitted_segments_total",
            totals.retransmitted_segments,
            "segments that were sent again",
        ),
        (
            "hostint_tcp_spurious_segments_total",
            totals.spurious_segments,
            "segments that the receiver says it had before (DSACK): nothing was lost",
        ),
        (
            "hostint_tcp_timeouts_total",
            totals.timeouts,
            "retransmission timers that ran out",
        ),
        (
            "hostint_tcp_acked_bytes_total",
            totals.bytes_acked,
            "bytes that peers acknowledged",
        ),
        (
            "hostint_tcp_received_bytes_total",
            totals.bytes_received,
            "bytes that arrived in order",
        ),
        (
            "hostint_tcp_begun_total",
            totals.begun,
            "watched connections that were established",
        ),
        (
            "hostint_tcp_ended_total",
            totals.ended,
            "watched connections that ended",
        ),
        (
            "hostint_tcp_short_total",
            totals.short,
            "of these, connections that ended before a sample, and are told at their end alone",
        ),
        (
            "hostint_tcp_failed_total",
            totals.failed,
            "watched connections that were never established",
        ),
        (
            "hostint_tcp_ends_limited_total",
            totals.ends_limited,
            "endings that were not told, because of max-endings",
        ),
        (
            "hostint_tcp_ends_lost_total",
            totals.ends_lost,
            "endings that were not told, because the ring was full",
        ),
        (
            "hostint_tcp_ends_unreported_total",
            totals.ends_unreported,
            "endings that collectors were not told, because of --max-reports",
        ),
        (
            "hostint_tcp_gone_total",
            totals.gone,
            "connections that are gone, and whose end was not seen",
        ),
        (
            "hostint_tcp_beyond_total",
            totals.beyond,
            "samples of connections beyond max-connections",
        ),
        (
            "hostint_tcp_walks_total",
            totals.walks,
            "walks over all sockets",
        ),
    ] {
        page.family(name, MetricKind::Counter, help)
            .value(&[], count);
    }
    page.family(
        "hostint_tcp_walk_seconds",
        MetricKind::Gauge,
        "duration of the last walk",
    )
    .value(&[], seconds(totals.walk_ns));
    page.0
}

fn round_trips(srtt: &LatencyHistogram) -> Histogram {
    let mut buckets: Vec<(f64, u64)> = BOUNDS.map(|power| (seconds(1u64 << power), 0)).collect();
    for (ns, count) in srtt.counts() {
        for (bucket, power) in buckets.iter_mut().zip(BOUNDS) {
            if ns <= 1 << power {
                bucket.1 += count;
            }
        }
    }
    Histogram {
        buckets,
        count: srtt.samples(),
        sum: srtt.whole_sum_ns() as f64 / 1e9,
    }
}
