//! Latencies as two hosts' stamps tell them: what their clocks explain is not shown as a negative time.

use std::collections::HashMap;

use super::digits::Nanoseconds;
use crate::model::{HostStatus, NodeId};

/// What a host knows of the clocks of those that it asks for leases.
#[derive(Clone, Debug, Default)]
pub struct PeerClocks {
    /// The most by which the clock of a node can be ahead.
    ahead_ns: HashMap<NodeId, i64>,
}

impl PeerClocks {
    pub fn of(status: &HostStatus) -> Self {
        let peers = status.source.iter().flat_map(|source| &source.peers);
        let known = peers.filter_map(|peer| peer.node.zip(peer.clock_bound_ns));
        Self {
            ahead_ns: known.map(|(node, [_, most])| (node, most)).collect(),
        }
    }

    /// A latency of a packet from this node as text: `~0` if it is less than 0, and the true one need not be.
    pub fn text(&self, source: NodeId, stamped_ns: i64) -> String {
        let ahead_ns = self.ahead_ns.get(&source);
        if stamped_ns < 0 && ahead_ns.is_some_and(|most| stamped_ns.saturating_add(*most) >= 0) {
            return "~0".to_owned();
        }
        Nanoseconds(stamped_ns).to_string()
    }
}
