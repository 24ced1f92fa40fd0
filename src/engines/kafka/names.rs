//! The names of nodes, of interfaces and of pods, as the schema has them.

use prost::Message;

use super::flow::octets;
use crate::model::{RecordName, RecordPod, RecordPort};

#[derive(Clone, PartialEq, Message)]
pub struct NodeNameMessage {
    #[prost(uint32, tag = "1")]
    pub node: u32,
    #[prost(string, tag = "2")]
    pub name: String,
}

impl From<RecordName> for NodeNameMessage {
    fn from(one: RecordName) -> Self {
        Self {
            node: one.node.0,
            name: one.name,
        }
    }
}

#[derive(Clone, PartialEq, Message)]
pub struct InterfaceNameMessage {
    #[prost(uint32, tag = "1")]
    pub node: u32,
    #[prost(uint32, tag = "2")]
    pub port: u32,
    #[prost(string, tag = "3")]
    pub name: String,
}

impl From<RecordPort> for InterfaceNameMessage {
    fn from(one: RecordPort) -> Self {
        Self {
            node: one.at.node.0,
            port: one.at.port.into(),
            name: one.name,
        }
    }
}

#[derive(Clone, PartialEq, Message)]
pub struct PodNameMessage {
    #[prost(bytes = "vec", optional, tag = "1")]
    pub address: Option<Vec<u8>>,
    #[prost(string, optional, tag = "2")]
    pub uid: Option<String>,
    #[prost(string, tag = "3")]
    pub namespace: String,
    #[prost(string, tag = "4")]
    pub pod: String,
    #[prost(string, tag = "5")]
    pub workload: String,
    #[prost(string, tag = "6")]
    pub workload_kind: String,
}

impl From<RecordPod> for PodNameMessage {
    fn from(one: RecordPod) -> Self {
        Self {
            address: one.address.map(octets),
            uid: one.uid,
            namespace: one.name.namespace,
            pod: one.name.pod,
            workload: one.name.workload,
            workload_kind: one.name.workload_kind,
        }
    }
}
