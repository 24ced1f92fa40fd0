//! The name of a node, as the schema has it.

use prost::Message;

use crate::model::RecordName;

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
