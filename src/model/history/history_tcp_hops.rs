//! Which hops are the worst of how many TCP connections, as option 114 told.

use serde::Serialize;

use crate::model::{NodeId, WorstHop};

/// A hop that was the worst one of connections.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct TcpHop {
    /// The node that it is; absent if nothing told that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// Its number, at its worst: on different paths it may have different ones.
    pub hop: u8,
    /// Connections whose worst hop it was at any time.
    pub connections: u64,
    /// The beginnings of the first and of the last ten seconds in which it was the worst hop of any.
    pub first_ns: u64,
    pub last_ns: u64,
    /// The worst that it told: the longest queue, or the least free bandwidth.
    pub worst: WorstHop,
}

/// The answer: all hops, those of most connections first.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct TcpHops {
    /// Connections that any worst hop was told of.
    pub connections: u64,
    pub hops: Vec<TcpHop>,
}
