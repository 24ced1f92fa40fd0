//! Whether two hosts reach each other.

use crate::model::NodeId;

/// Two hosts, whichever sends.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct NodePair(NodeId, NodeId);

impl NodePair {
    pub fn of(one: NodeId, other: NodeId) -> Self {
        Self(one.min(other), one.max(other))
    }

    pub fn first(self) -> NodeId {
        self.0
    }

    pub fn ends(self) -> [NodeId; 2] {
        [self.0, self.1]
    }

    /// The other end of a pair that this host is in.
    pub fn other(self, node: NodeId) -> Option<NodeId> {
        match node {
            _ if node == self.0 => Some(self.1),
            _ if node == self.1 => Some(self.0),
            _ => None,
        }
    }
}

/// What is known of two hosts with packets to each other, that were measured before.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct PairReach {
    /// Packets are measured. Otherwise no lease is left: one host's questions, or the other one's answers, do not arrive.
    pub reached: bool,
    /// Packets of both directions were measured before.
    pub both_ways: bool,
}
