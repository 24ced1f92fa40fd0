//! The part of a path that packets were added up for, as the schema has it.

use prost::Message;

use crate::model::PathPartRecord;

#[derive(Clone, PartialEq, Message)]
pub struct PathPartMessage {
    #[prost(string, tag = "1")]
    pub path_hash: String,
    #[prost(uint32, repeated, tag = "2")]
    pub nodes: Vec<u32>,
    #[prost(string, tag = "3")]
    pub part: String,
    #[prost(uint32, tag = "4")]
    pub from_node: u32,
    #[prost(uint32, tag = "5")]
    pub from_port: u32,
    #[prost(uint32, tag = "6")]
    pub to_node: u32,
    #[prost(uint32, tag = "7")]
    pub to_port: u32,
}

impl From<PathPartRecord> for PathPartMessage {
    fn from(part: PathPartRecord) -> Self {
        Self {
            path_hash: part.path_hash,
            nodes: part.nodes.iter().map(|node| node.0).collect(),
            part: part.part,
            from_node: part.from.node.0,
            from_port: part.from.port.into(),
            to_node: part.to.node.0,
            to_port: part.to.port.into(),
        }
    }
}
