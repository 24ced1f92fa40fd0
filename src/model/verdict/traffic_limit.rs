//! What is not acceptable, whatever is usual.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::model::NodeId;

/// One end of the traffic that a limit is for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum LimitEnd {
    /// A node's name, or its id.
    Node(String),
    /// All nodes with this value of a label.
    Label { label: String, value: String },
}

/// A limit as a user sets it. What is left out matches everything.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct TrafficLimit {
    pub class: Option<Box<str>>,
    pub from: Option<LimitEnd>,
    pub to: Option<LimitEnd>,
    /// The greatest latency of 99 of a hundred packets.
    pub latency_ns: Option<u64>,
    /// The greatest number of lost packets of a thousand million.
    pub loss_ppb: Option<u64>,
}

/// The same of nodes that there are.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct LimitInForce {
    pub class: Option<Box<str>>,
    /// `None`: from all nodes.
    pub from: Option<BTreeSet<NodeId>>,
    pub to: Option<BTreeSet<NodeId>>,
    pub latency_ns: Option<u64>,
    /// The share of lost packets.
    pub loss: Option<f64>,
}

/// The limit of what a cause is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct CauseLimit {
    pub latency_ns: Option<u64>,
    pub loss: Option<f64>,
    /// False: it is worse than usual, but within the limit.
    pub exceeded: bool,
}
