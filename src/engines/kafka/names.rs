//! The names of nodes and of interfaces, as the schema has them.

use prost::Message;

use crate::model::{RecordName, RecordPort};

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
