//! The times of packets through a host as metrics.

use super::page::{CountedField, MetricKind, MetricsPage};
use super::power_buckets::power_buckets;
use crate::model::{InterfacePassage, NodeId, PassageStart, PassageTotals};
use crate::views::passages::GONE;

/// The bounds of buckets are powers of two, from 256 ns to 1.07 s.
const POWERS: std::ops::RangeInclusive<u32> = 8..=30;

/// Pairs of interfaces with values of their own; the others are left out, so that a scrape stays small.
const MOST_PASSAGES: usize = 64;

/// What is counted of all packets and flows.
const COUNTS: [CountedField<PassageTotals>; 7] = [
    (
        "hostint_hop_flow_limited_total",
        "packets of new flows beyond the limit, which are timed and not reported by flow",
        |totals| totals.flow_limited,
    ),
    (
        "hostint_hop_times_full_total",
        "packets for whose interfaces there was no room",
        |totals| totals.times_full,
    ),
    (
        "hostint_hop_flows_told_total",
        "lines about flows of forwarded packets",
        |totals| totals.told,
    ),
    (
        "hostint_hop_flows_put_off_total",
        "lines about flows that the limit put off",
        |totals| totals.put_off,
    ),
    (
        "hostint_hop_events_lost_total",
        "news of flows that were reported later, because the ring was full",
        |totals| totals.events_lost,
    ),
    (
        "hostint_hop_missed_total",
        "packets that the kernel hid from the program, because another one went on on the CPU",
        |totals| totals.missed,
    ),
    (
        "hostint_hop_put_back_total",
        "times that something else took programs off an interface, and they were put back",
        |totals| totals.put_back,
    ),
];

pub fn add(page: &mut MetricsPage, totals: &PassageTotals) {
    let passages = totals.passages.iter().take(MOST_PASSAGES);
    latencies(page, passages.map(|one| (None, one)));
    let mut family = page.family(
        "hostint_hop_arrivals_total",
        MetricKind::Counter,
        "packets that came by the interfaces, and whether they are timed",
    );
    for (outcome, count) in [
        ("stamped", totals.stamped),
        ("has-departure", totals.has_departure),
        ("other-clock", totals.other_clock),
        ("not-forwarded", totals.not_forwarded),
        ("local", totals.local),
        ("unwatched", totals.unwatched),
        ("clock", totals.clock),
        ("unread", totals.unread),
        ("refused", totals.refused),
    ] {
        family.value(&[("outcome", outcome)], count);
    }
    for (name, help, count) in COUNTS {
        page.family(name, MetricKind::Counter, help)
            .value(&[], count(totals));
    }
    let mut family = page.family(
        "hostint_hop_interfaces",
        MetricKind::Gauge,
        "interfaces that were asked for, and whether their packets are timed",
    );
    for (state, count) in [("timed", totals.interfaces), ("left-out", totals.left_out)] {
        family.value(&[("state", state)], count);
    }
}

/// Times by interfaces, of one host or of several.
pub(super) fn latencies<'a>(
    page: &mut MetricsPage,
    passages: impl Iterator<Item = (Option<NodeId>, &'a InterfacePassage)>,
) {
    let mut family = page.family(
        "hostint_hop_latency_seconds",
        MetricKind::Histogram,
        "times of forwarded packets from the interface (or the sender) to the queue, and to the driver behind it",
    );
    for (node, one) in passages {
        let label = |name: &Option<String>, ifindex: u32| match (name, ifindex) {
            (Some(name), _) => name.clone(),
            (None, 0) => GONE.to_owned(),
            (None, _) => ifindex.to_string(),
        };
        let node = node.map(|node| node.to_string());
        let from = label(&one.in_interface, one.in_ifindex);
        let to = label(&one.out_interface, one.out_ifindex);
        let start = match one.start {
            PassageStart::Interface => "interface",
            PassageStart::Sender => "sender",
        };
        for (end, times) in [("driver", &one.sent), ("queue", &one.queued)] {
            let mut labels = vec![
                ("in", &*from),
                ("out", &*to),
                ("start", start),
                ("end", end),
            ];
            labels.extend(node.as_deref().map(|node| ("node", node)));
            family.histogram(&labels, power_buckets(&times.0, POWERS));
        }
    }
}
