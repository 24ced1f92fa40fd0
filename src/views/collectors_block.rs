//! The collectors that a daemon reports to, in its block of a status.

use std::fmt;

use super::digits::Grouped;
use super::drops::counted;
use crate::model::NodeId;

/// A line: `  collectors: 192.0.2.9:32766, as node 7; 12 reports sent`.
pub struct CollectorsBlock<'a> {
    pub addresses: &'a [String],
    pub node: Option<NodeId>,
    pub sent: u64,
    pub lost: u64,
}

impl fmt::Display for CollectorsBlock<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.addresses.is_empty() {
            return writeln!(f, "  no collectors");
        }
        write!(f, "  collectors: {}", self.addresses.join(", "))?;
        if let Some(node) = self.node {
            write!(f, ", as node {node}")?;
        }
        write!(f, "; {} sent", counted(self.sent, "report"))?;
        if self.lost > 0 {
            write!(f, ", {} COULD NOT BE SENT", Grouped(self.lost))?;
        }
        writeln!(f)
    }
}
