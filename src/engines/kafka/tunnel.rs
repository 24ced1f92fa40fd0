//! The tunnel that packets of a flow are in, as the schema has it.

use prost::Message;

use super::flow::Flow;
use crate::model;

#[derive(Clone, PartialEq, Message)]
pub struct TunnelMessage {
    #[prost(string, tag = "1")]
    pub kind: String,
    #[prost(uint32, tag = "2")]
    pub id: u32,
    #[prost(message, optional, tag = "3")]
    pub outer: Option<Flow>,
}

impl From<model::Tunnel> for TunnelMessage {
    fn from(tunnel: model::Tunnel) -> Self {
        Self {
            kind: tunnel.which.kind.name().to_owned(),
            id: tunnel.which.id,
            outer: Some(tunnel.outer.into()),
        }
    }
}
