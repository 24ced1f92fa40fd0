//! Metrics of the episodes of hosts' queues, at a collector.

use super::page::{MetricKind, MetricsPage};
use super::seconds;
use crate::model::metrics::Number;
use crate::model::{EpisodeCounts, HostQueueRow};

type Figure = (&'static str, &'static str, fn(&EpisodeCounts) -> Number);

const FIGURES: [Figure; 6] = [
    (
        "hostint_host_queue_episodes_total",
        "times that a host's queue went over its trigger, since the collector started",
        |counts| counts.episodes.into(),
    ),
    (
        "hostint_host_queue_seconds_over_total",
        "time that the queue was over its trigger, and not yet below its reset, since the collector started",
        |counts| seconds(counts.over_ns).into(),
    ),
    (
        "hostint_host_queue_packets_over_total",
        "packets that were over the queue's trigger, since the collector started",
        |counts| counts.packets.into(),
    ),
    (
        "hostint_host_queue_packets_told_total",
        "packets over the trigger whose flow was reported, since the collector started",
        |counts| counts.told.into(),
    ),
    (
        "hostint_host_queue_packets_suppressed_total",
        "packets over the trigger beyond the quota of their episode, since the collector started",
        |counts| counts.suppressed.into(),
    ),
    (
        "hostint_host_queue_drops_total",
        "packets that the queue dropped while it was over its trigger, since the collector started",
        |counts| counts.drops.into(),
    ),
];

pub(super) fn write(page: &mut MetricsPage, rows: &[HostQueueRow]) {
    for (name, help, figure) in FIGURES {
        let mut family = page.family(name, MetricKind::Counter, help);
        for row in rows {
            let (node, queue) = (row.node.to_string(), row.queue.to_string());
            let labels = [("node", &*node), ("dev", &*row.dev), ("queue", &*queue)];
            family.value(&labels, figure(&row.counts));
        }
    }
}
