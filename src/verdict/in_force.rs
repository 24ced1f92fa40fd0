//! The limits of a config file, for the nodes that there are.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{HostInSlot, LimitEnd, LimitInForce, NodeId, NodeNames, TrafficLimit};

/// The limits of these nodes. A name that no node has is that of none.
pub fn in_force(
    limits: &[TrafficLimit],
    hosts: &BTreeMap<NodeId, HostInSlot>,
    names: &NodeNames,
) -> Vec<LimitInForce> {
    let nodes = |end: &Option<LimitEnd>| -> Option<BTreeSet<NodeId>> {
        let end = end.as_ref()?;
        let is_meant = |(node, host): &(&NodeId, &HostInSlot)| match end {
            LimitEnd::Label { label, value } => host.labels.get(label) == Some(value),
            LimitEnd::Node(text) => names.name(**node) == Some(text) || text.parse() == Ok(node.0),
        };
        let meant = hosts.iter().filter(is_meant);
        Some(meant.map(|(node, _)| *node).collect())
    };
    let in_force = limits.iter().map(|one| LimitInForce {
        class: one.class.clone(),
        from: nodes(&one.from),
        to: nodes(&one.to),
        latency_ns: one.latency_ns,
        loss: one.loss_ppb.map(|ppb| ppb as f64 / 1e9),
    });
    in_force.collect()
}
