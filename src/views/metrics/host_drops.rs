//! Metrics of what hosts dropped, at a collector.

use std::collections::BTreeMap;

use super::page::{MetricKind, MetricsPage};
use crate::model::HostDropRow;

pub(super) fn write(page: &mut MetricsPage, rows: &[HostDropRow]) {
    let name = "hostint_host_drops_total";
    let help = "packets that a host dropped, by the kernel's reason and by where INT sees them, since the collector started";
    let mut family = page.family(name, MetricKind::Counter, help);
    // Packets that several nodes tagged are one value.
    let mut sums: BTreeMap<_, u64> = BTreeMap::new();
    for row in rows.iter().filter(|row| !row.subject.without_packet) {
        let HostDropRow { node, subject, .. } = row;
        let key = (
            *node,
            subject.reason.label(),
            subject.position,
            subject.ignored,
        );
        *sums.entry(key).or_default() += row.count.packets;
    }
    for ((node, reason, position, ignored), packets) in sums {
        let node = node.to_string();
        let labels = [
            ("node", &*node),
            ("reason", &*reason),
            ("position", position.name()),
            ("ignored", if ignored { "1" } else { "0" }),
        ];
        family.value(&labels, packets);
    }
    let name = "hostint_host_drops_without_packet_total";
    let help =
        "losses of a host that only a counter of its kernel has, since the collector started";
    let mut family = page.family(name, MetricKind::Counter, help);
    let mut sums: BTreeMap<_, u64> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.subject.without_packet) {
        let counter = row.subject.place.clone().unwrap_or_default();
        *sums.entry((row.node, counter)).or_default() += row.count.packets;
    }
    for ((node, counter), packets) in sums {
        let node = node.to_string();
        family.value(&[("node", &*node), ("counter", &*counter)], packets);
    }
}
