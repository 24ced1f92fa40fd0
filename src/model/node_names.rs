//! The names of nodes, which stand beside their IDs.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::NodeId;

/// The name of each node that has one.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct NodeNames(BTreeMap<NodeId, String>);

/// A name beside the ID that it stands with.
#[derive(Clone, Debug, Eq, PartialEq, Deserialize, Serialize)]
pub struct RecordName {
    pub node: NodeId,
    pub name: String,
}

/// Displays `web-3 (7)`, and `7` without a name.
#[derive(Clone, Copy, Debug)]
pub struct NodeText<'a> {
    node: NodeId,
    name: Option<&'a str>,
}

impl FromIterator<(NodeId, String)> for NodeNames {
    fn from_iter<T: IntoIterator<Item = (NodeId, String)>>(names: T) -> Self {
        Self(names.into_iter().collect())
    }
}

impl NodeNames {
    pub const NONE: Self = Self(BTreeMap::new());

    pub fn name(&self, node: NodeId) -> Option<&str> {
        self.0.get(&node).map(String::as_str)
    }

    pub fn text(&self, node: NodeId) -> NodeText<'_> {
        NodeText {
            node,
            name: self.name(node),
        }
    }

    /// Those of these nodes that have a name, each once.
    pub fn of(&self, nodes: impl Iterator<Item = NodeId>) -> Vec<RecordName> {
        let mut named: Vec<RecordName> = Vec::new();
        for node in nodes {
            let is_new = named.iter().all(|known| known.node != node);
            if let Some(name) = self.name(node).filter(|_| is_new) {
                named.push(RecordName {
                    node,
                    name: name.to_owned(),
                });
            }
        }
        named
    }
}

impl fmt::Display for NodeText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name {
            Some(name) => write!(f, "{name} ({})", self.node),
            None => self.node.fmt(f),
        }
    }
}
