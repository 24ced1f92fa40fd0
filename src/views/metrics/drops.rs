//! The drops of a host as metrics.

use super::page::{MetricKind, MetricsPage, OTHER};
use crate::model::{DropCount, DropTotals, PlaceDrops};

/// Places with values of their own. The others are one sum, so that a scrape stays small.
const MOST_PLACES: usize = 256;

pub fn add(page: &mut MetricsPage, totals: &DropTotals) {
    reasons(page, totals);
    places(page, totals);
    let mut values = page.family(
        "hostint_drops_without_packet_total",
        MetricKind::Counter,
        "losses that only a counter of the kernel has, since postcards began",
    );
    for one in &totals.without_packet {
        let dev = one.interface.as_deref().unwrap_or_default();
        values.value(&[("counter", &one.counter), ("dev", dev)], one.count);
    }
    for (name, count, help) in [
        (
            "hostint_drops_ignored_total",
            totals.ignored,
            "dropped packets that are no loss, whose flows are not reported",
        ),
        (
            "hostint_drops_without_flow_total",
            totals.no_flow,
            "dropped packets that are not IP",
        ),
        (
            "hostint_drops_flow_limited_total",
            totals.flow_limited,
            "dropped packets of new flows beyond the limit",
        ),
        (
            "hostint_drop_flows_told_total",
            totals.told,
            "lines about flows of dropped packets",
        ),
        (
            "hostint_drop_flows_put_off_total",
            totals.put_off,
            "lines about flows that the limit put off",
        ),
        (
            "hostint_drop_events_lost_total",
            totals.events_lost,
            "flows that were reported later, because the ring was full",
        ),
        (
            "hostint_tracepoint_missed_total",
            totals.missed,
            "drops that the kernel hid from the program, because another one went on on the CPU",
        ),
    ] {
        page.family(name, MetricKind::Counter, help)
            .value(&[], count);
    }
}

type Figure = fn(&DropCount) -> u64;

fn reasons(page: &mut MetricsPage, totals: &DropTotals) {
    let figures: [(_, _, Figure); 3] = [
        (
            "hostint_drops_total",
            "packets that the host dropped, by the kernel's reason",
            |count| count.packets,
        ),
        (
            "hostint_drop_segments_total",
            "segments of those packets",
            |count| count.segments,
        ),
        (
            "hostint_drop_bytes_total",
            "bytes of those packets, from the IP header on",
            |count| count.bytes,
        ),
    ];
    for (name, help, figure) in figures {
        let mut values = page.family(name, MetricKind::Counter, help);
        for one in &totals.reasons {
            let ignored = if one.ignored { "1" } else { "0" };
            let labels = [("reason", &*one.reason.label()), ("ignored", ignored)];
            values.value(&labels, figure(&one.count));
        }
    }
}

fn places(page: &mut MetricsPage, totals: &DropTotals) {
    let mut values = page.family(
        "hostint_drop_places_total",
        MetricKind::Counter,
        "packets that the host dropped, by reason, function of the kernel, interface, and whether they are reported",
    );
    let (first, others) = totals.places.split_at(totals.places.len().min(MOST_PLACES));
    for one in first {
        let labels = [
            ("reason", &*one.reason.label()),
            ("place", one.place.as_deref().unwrap_or_default()),
            ("dev", one.interface.as_deref().unwrap_or_default()),
            ("ignored", if one.ignored { "1" } else { "0" }),
        ];
        values.value(&labels, one.count.packets);
    }
    if !others.is_empty() {
        let packets = |one: &PlaceDrops| one.count.packets;
        let sum: u64 = others.iter().map(packets).sum();
        let labels = [
            ("reason", OTHER),
            ("place", OTHER),
            ("dev", OTHER),
            ("ignored", OTHER),
        ];
        values.value(&labels, sum);
    }
}
