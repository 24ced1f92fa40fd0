//! What people choose reports by: their kind, and the nodes that they are about.

use crate::model::{Body, NodeId, Observation};

/// The kinds of reports that hosts and devices send, as [`Observation::kind`] names them.
pub const REPORT_KINDS: [&str; 13] = [
    "latency",
    "drop-summary",
    "flow-summary",
    "group-summary",
    "host-drop",
    "host-hop",
    "queue",
    "tcp",
    "drop",
    "intermediate",
    "local",
    "packet",
    "ethernet",
];

impl Observation {
    /// Whether its host sends it again each period with counts that grew, whether or not anything is wrong.
    pub fn is_repeated(&self) -> bool {
        matches!(
            self.body,
            Body::Summary(_) | Body::FlowPassage(_) | Body::Connection(_)
        )
    }

    /// The nodes that it is about: those that packets passed, and the one that reports.
    pub fn nodes(&self) -> Vec<NodeId> {
        let mut nodes = Vec::from_iter(self.reporter());
        match &self.body {
            Body::Latency(report) => {
                let hops = &report.hops;
                nodes.extend([hops.source().node, hops.sink().node]);
                nodes.extend(hops.transit().iter().map(|hop| hop.node));
            }
            Body::DropSummary(summary) => nodes.push(summary.source_node),
            Body::Summary(summary) => nodes.push(summary.source_node),
            Body::Packet(report) => nodes.extend(report.path()),
            Body::HostDrop(report) => nodes.extend(report.drop.int.map(|int| int.source)),
            Body::PathPart(part) => nodes.push(part.path.source.node),
            Body::HostDropSum(sum) => nodes.extend(sum.subject.tagged_by),
            Body::FlowPassage(_) | Body::Queue(_) | Body::Connection(_) => {}
        }
        nodes
    }
}
