//! Metrics of hosts' TCP connections, at a collector.

use super::page::{MetricKind, MetricsPage};
use super::seconds;
use crate::model::HostTcpRow;

/// A counter of each host and limit.
type Counter = (&'static str, &'static str, fn(&HostTcpRow) -> u64);

const COUNTERS: [Counter; 5] = [
    (
        "hostint_host_tcp_retransmitted_segments_total",
        "segments that a host's TCP sent again, by what limited the connection, since the collector started",
        |row| row.counts.retransmitted_segments,
    ),
    (
        "hostint_host_tcp_spurious_segments_total",
        "segments that the receiver says it had before (DSACK), since the collector started",
        |row| row.counts.spurious_segments,
    ),
    (
        "hostint_host_tcp_timeouts_total",
        "retransmission timers that ran out, since the collector started",
        |row| row.counts.timeouts,
    ),
    (
        "hostint_host_tcp_acked_bytes_total",
        "bytes that peers of a host acknowledged, since the collector started",
        |row| row.counts.bytes_acked,
    ),
    (
        "hostint_host_tcp_received_bytes_total",
        "bytes that a host received in order, since the collector started",
        |row| row.counts.bytes_received,
    ),
];

pub(super) fn write(page: &mut MetricsPage, rows: &[HostTcpRow]) {
    if rows.is_empty() {
        return;
    }
    let nodes: Vec<String> = rows.iter().map(|row| row.node.to_string()).collect();
    let labelled = || {
        rows.iter().zip(&nodes).map(|(row, node)| {
            let labels = [("node", &**node), ("limited", row.limited.name())];
            (row, labels)
        })
    };
    let mut family = page.family(
        "hostint_host_tcp_connections",
        MetricKind::Gauge,
        "open TCP connections of a host, by what limits their senders",
    );
    for (row, labels) in labelled() {
        family.value(&labels, row.open);
    }
    let mut family = page.family(
        "hostint_host_tcp_limited_seconds_total",
        MetricKind::Counter,
        "time for which something limited a host's connections, added up over them, since the collector started",
    );
    for (row, labels) in labelled() {
        family.value(&labels, seconds(row.us.saturating_mul(1000)));
    }
    for (name, help, of) in COUNTERS {
        let mut family = page.family(name, MetricKind::Counter, help);
        for (row, labels) in labelled() {
            family.value(&labels, of(row));
        }
    }
}
