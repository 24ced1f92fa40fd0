//! The queues of a host as metrics.

use super::page::{CountedField, MetricKind, MetricsPage};
use super::seconds;
use crate::model::{QueueFigures, QueueTotals};

/// Queues with values of their own, those that were over for longest; the others are left out, so that a scrape stays
/// small.
const MOST_QUEUES: usize = 256;

type Figure = fn(&QueueFigures) -> u64;

/// The figures of each queue.
const FIGURES: [(&str, MetricKind, &str, Figure); 7] = [
    (
        "hostint_queue_episodes_total",
        MetricKind::Counter,
        "times that the queue went over its trigger",
        |one| one.episodes,
    ),
    (
        "hostint_queue_over",
        MetricKind::Gauge,
        "1: the queue is over its trigger, and not yet below its reset",
        |one| one.is_over.into(),
    ),
    (
        "hostint_queue_packets_total",
        MetricKind::Counter,
        "packets that left the queue",
        |one| one.packets,
    ),
    (
        "hostint_queue_packets_over_total",
        MetricKind::Counter,
        "packets that were over the queue's trigger",
        |one| one.packets_over,
    ),
    (
        "hostint_queue_packets_told_total",
        MetricKind::Counter,
        "packets over the trigger whose flow was reported",
        |one| one.packets_told,
    ),
    (
        "hostint_queue_packets_suppressed_total",
        MetricKind::Counter,
        "packets over the trigger beyond the quota of their episode",
        |one| one.packets_suppressed,
    ),
    (
        "hostint_queue_drops_total",
        MetricKind::Counter,
        "packets that the queue dropped while it was over its trigger",
        |one| one.drops,
    ),
];

/// What is counted of all queues together.
const COUNTS: [CountedField<QueueTotals>; 4] = [
    (
        "hostint_queue_lines_total",
        "lines about episodes of queues",
        |totals| totals.told,
    ),
    (
        "hostint_queue_lines_put_off_total",
        "lines about episodes that the limit put off",
        |totals| totals.put_off,
    ),
    (
        "hostint_queue_episodes_untold_total",
        "episodes that were not reported, because there were too many at a time",
        |totals| totals.untold,
    ),
    (
        "hostint_queue_events_lost_total",
        "packets over the trigger that were counted and not reported by flow, because the ring was full",
        |totals| totals.events_lost,
    ),
];

pub fn add(page: &mut MetricsPage, totals: &QueueTotals) {
    let labelled: Vec<(String, String, &QueueFigures)> = totals
        .queues
        .iter()
        .take(MOST_QUEUES)
        .map(|one| {
            let dev = one.interface.clone();
            let dev = dev.unwrap_or_else(|| one.ifindex.to_string());
            (dev, one.queue.to_string(), one)
        })
        .collect();
    for (name, kind, help, figure) in FIGURES {
        let mut values = page.family(name, kind, help);
        for (dev, queue, one) in &labelled {
            values.value(&[("dev", &**dev), ("queue", &**queue)], figure(one));
        }
    }
    let mut values = page.family(
        "hostint_queue_seconds_over_total",
        MetricKind::Counter,
        "time that the queue was over its trigger, and not yet below its reset",
    );
    for (dev, queue, one) in &labelled {
        let labels = [("dev", &**dev), ("queue", &**queue)];
        values.value(&labels, seconds(one.over_ns));
    }
    let mut values = page.family(
        "hostint_queue_not_judged_total",
        MetricKind::Counter,
        "packets of watched queues of which it is not known whether they were over the trigger",
    );
    for (why, count) in [
        ("untimed", totals.untimed),
        ("no-backlog", totals.no_backlog),
        ("beyond-bulk", totals.beyond_bulk),
        ("no-room", totals.no_room),
        ("missed", totals.missed),
    ] {
        values.value(&[("why", why)], count);
    }
    for (name, help, count) in COUNTS {
        page.family(name, MetricKind::Counter, help)
            .value(&[], count(totals));
    }
}
