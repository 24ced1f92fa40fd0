//! Metrics of packets in INT-MX by pair: reports that all hops joined, those that lack one, and the hops that told nothing.

use super::page::{CountedField, MetricKind, MetricsPage};
use crate::model::MxPairRow;

pub(super) fn write(page: &mut MetricsPage, pairs: &[MxPairRow]) {
    let counted: [CountedField<MxPairRow>; 2] = [
        (
            "hostint_mx_pair_joined_total",
            "reports about packets in INT-MX that all known hops of their flow joined, by pair",
            |row| row.joined,
        ),
        (
            "hostint_mx_pair_incomplete_total",
            "those of which a hop of the flow reported nothing, by pair",
            |row| row.incomplete,
        ),
    ];
    for (name, help, count) in counted {
        let mut family = page.family(name, MetricKind::Counter, help);
        for row in pairs {
            let [source, sink] = [row.source, row.sink].map(|node| node.to_string());
            family.value(&[("source", &*source), ("sink", &*sink)], count(row));
        }
    }
    let name = "hostint_mx_missing_hop_total";
    let help = "reports about packets in INT-MX of which this hop reported nothing, by pair";
    let mut family = page.family(name, MetricKind::Counter, help);
    for row in pairs {
        let [source, sink] = [row.source, row.sink].map(|node| node.to_string());
        for hop in &row.missing {
            let node = hop.node.to_string();
            let labels = [("source", &*source), ("sink", &*sink), ("hop", &*node)];
            family.value(&labels, hop.reports);
        }
    }
}
