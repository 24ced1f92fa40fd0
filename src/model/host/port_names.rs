//! The names of interfaces, which stand beside ports.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::{NodeId, NodePort};

/// The name of each interface that has one.
pub type PortNames = BTreeMap<NodePort, String>;

/// The name of an interface beside its number.
#[derive(Clone, Debug, Eq, PartialEq, Deserialize, Serialize)]
pub struct RecordPort {
    #[serde(flatten)]
    pub at: NodePort,
    pub name: String,
}

/// The names that hosts tell of their interfaces; none where two hosts with one node ID differ.
pub fn port_names<'a>(
    hosts: impl Iterator<Item = (NodeId, &'a BTreeMap<u16, String>)>,
) -> PortNames {
    let mut reported = BTreeMap::<NodePort, Option<&String>>::new();
    for (node, interfaces) in hosts {
        for (port, name) in interfaces {
            let known = reported
                .entry(NodePort { node, port: *port })
                .or_insert(Some(name));
            *known = known.filter(|known| *known == name);
        }
    }
    let named = reported.into_iter();
    named
        .filter_map(|(at, name)| Some((at, name?.clone())))
        .collect()
}
