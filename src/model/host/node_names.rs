//! The names of nodes and of their interfaces, which stand beside their numbers.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::{NodeId, NodePort, PortNames, RecordPort};

/// The name of each node and of each interface that has one.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct NodeNames {
    nodes: BTreeMap<NodeId, String>,
    ports: PortNames,
}

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
        Self {
            nodes: names.into_iter().collect(),
            ports: PortNames::new(),
        }
    }
}

impl NodeNames {
    pub const NONE: Self = Self {
        nodes: BTreeMap::new(),
        ports: PortNames::new(),
    };

    /// The same with the names of these interfaces.
    #[must_use]
    pub fn with_ports(mut self, ports: PortNames) -> Self {
        self.ports = ports;
        self
    }

    pub fn name(&self, node: NodeId) -> Option<&str> {
        self.nodes.get(&node).map(String::as_str)
    }

    pub fn port(&self, at: NodePort) -> Option<&str> {
        self.ports.get(&at).map(String::as_str)
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

    /// Those of these interfaces that have a name, each once.
    pub fn of_ports(&self, ports: impl Iterator<Item = NodePort>) -> Vec<RecordPort> {
        let mut named: Vec<RecordPort> = Vec::new();
        for at in ports {
            let is_new = named.iter().all(|known| known.at != at);
            if let Some(name) = self.port(at).filter(|_| is_new) {
                named.push(RecordPort {
                    at,
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
