//! TCP connections as metrics.

use super::page::{CountedField, MetricKind, MetricsPage};
use super::{build_info, seconds, text as render};
use crate::model::metrics::{Histogram, MetricFamily};
use crate::model::{LatencyHistogram, OptionCounts, QUEUE_STEP_BYTES, TcpTotals};

/// Bounds of round-trip times, as powers of two of nanoseconds: from 16 us to 17 s.
const BOUNDS: std::ops::RangeInclusive<u32> = 14..=34;

/// Bounds of the latency of all hops: from 1 us to 4.3 s.
const PATH_BOUNDS: std::ops::RangeInclusive<u32> = 10..=32;

/// Bounds of queues, as powers of two of steps: from 8 KiB to 1 MiB.
const QUEUE_BOUNDS: std::ops::RangeInclusive<u32> = 0..=7;

/// What is counted of all connections.
const COUNTS: [CountedField<TcpTotals>; 15] = [
    (
        "hostint_tcp_retransmitted_segments_total",
        "segments that were sent again",
        |totals| totals.retransmitted_segments,
    ),
    (
        "hostint_tcp_spurious_segments_total",
        "segments that the receiver says it had before (DSACK): nothing was lost",
        |totals| totals.spurious_segments,
    ),
    (
        "hostint_tcp_timeouts_total",
        "retransmission timers that ran out",
        |totals| totals.timeouts,
    ),
    (
        "hostint_tcp_acked_bytes_total",
        "bytes that peers acknowledged",
        |totals| totals.bytes_acked,
    ),
    (
        "hostint_tcp_received_bytes_total",
        "bytes that arrived in order",
        |totals| totals.bytes_received,
    ),
    (
        "hostint_tcp_begun_total",
        "watched connections that were established",
        |totals| totals.begun,
    ),
    (
        "hostint_tcp_ended_total",
        "watched connections that ended",
        |totals| totals.ended,
    ),
    (
        "hostint_tcp_short_total",
        "of these, connections that ended before a sample, and are reported at their end alone",
        |totals| totals.short,
    ),
    (
        "hostint_tcp_failed_total",
        "watched connections that were never established",
        |totals| totals.failed,
    ),
    (
        "hostint_tcp_ends_limited_total",
        "endings that were not reported, because of max-endings",
        |totals| totals.ends_limited,
    ),
    (
        "hostint_tcp_ends_lost_total",
        "endings that were not reported, because the ring was full",
        |totals| totals.ends_lost,
    ),
    (
        "hostint_tcp_ends_unreported_total",
        "endings that collectors did not get, because of --max-reports",
        |totals| totals.ends_unreported,
    ),
    (
        "hostint_tcp_gone_total",
        "connections that are gone, and whose end was not seen",
        |totals| totals.gone,
    ),
    (
        "hostint_tcp_beyond_total",
        "samples of connections beyond max-connections",
        |totals| totals.beyond,
    ),
    (
        "hostint_tcp_walks_total",
        "walks over all sockets",
        |totals| totals.walks,
    ),
];

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
    .histogram(&[], times(&totals.srtt, BOUNDS));
    if let Some(counts) = &totals.option {
        option(&mut page, counts, totals);
    }
    for (name, help, count) in COUNTS {
        page.family(name, MetricKind::Counter, help)
            .value(&[], count(totals));
    }
    page.family(
        "hostint_tcp_walk_seconds",
        MetricKind::Gauge,
        "duration of the last walk",
    )
    .value(&[], seconds(totals.walk_ns));
    page.0
}

/// Option 114 of all connections.
fn option(page: &mut MetricsPage, counts: &OptionCounts, totals: &TcpTotals) {
    for (name, count, help) in [
        (
            "hostint_tcp_option_requests_total",
            counts.requests,
            "segments that were sent with a request of TCP option 114",
        ),
        (
            "hostint_tcp_option_samples_total",
            counts.samples,
            "requests of option 114 that an echo answered",
        ),
        (
            "hostint_tcp_option_echoes_total",
            counts.echoes,
            "segments that were sent with an echo of option 114",
        ),
        (
            "hostint_tcp_option_no_room_total",
            counts.no_room,
            "segments whose other options left no room for option 114",
        ),
        (
            "hostint_tcp_option_off_total",
            counts.off,
            "connections that send no requests of option 114 any more, because of a timeout",
        ),
    ] {
        page.family(name, MetricKind::Counter, help)
            .value(&[], count);
    }
    page.family(
        "hostint_tcp_path_latency_seconds",
        MetricKind::Histogram,
        "time in all hops that fill in option 114, of the worst answer to each connection in each sample",
    )
    .histogram(&[], times(&totals.path_latency, PATH_BOUNDS));
    page.family(
        "hostint_tcp_path_queue_bytes",
        MetricKind::Histogram,
        "longest queue of a hop that fills in option 114, of the worst answer to each connection in each sample",
    )
    .histogram(&[], queues(&totals.path_queue_steps));
}

fn times(all: &LatencyHistogram, bounds: std::ops::RangeInclusive<u32>) -> Histogram {
    let bounds = bounds.map(|power| (seconds(1u64 << power), 1 << power));
    Histogram {
        buckets: buckets(all, bounds),
        count: all.samples(),
        sum: all.whole_sum_ns() as f64 / 1e9,
    }
}

/// A queue of n steps may be nearly one step longer.
fn queues(steps: &LatencyHistogram) -> Histogram {
    let step = f64::from(QUEUE_STEP_BYTES);
    let bounds = QUEUE_BOUNDS.map(|power| (f64::from(1u32 << power) * step, (1 << power) - 1));
    Histogram {
        buckets: buckets(steps, bounds),
        count: steps.samples(),
        sum: steps.whole_sum_ns() as f64 * step,
    }
}

/// Counts what is at most each bound.
fn buckets(all: &LatencyHistogram, bounds: impl Iterator<Item = (f64, i64)>) -> Vec<(f64, u64)> {
    let at_most = |bound: i64| {
        let counts = all.counts().filter(|(value, _)| *value <= bound);
        counts.map(|(_, count)| count).sum()
    };
    bounds
        .map(|(shown, bound)| (shown, at_most(bound)))
        .collect()
}
