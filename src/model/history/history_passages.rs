//! Queries to a collector's history about the time that packets take through hosts, and their results.

use clap::ValueEnum;
use serde::Serialize;

use crate::model::{FlowPassage, FlowPods, NodeId, PassagePods};

/// The figure that flows through hosts are sorted by.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum PassageOrder {
    /// longest mean time first
    #[default]
    Mean,
    /// longest time of a packet first
    Max,
    /// most packets first
    Packets,
    /// newest report first
    Newest,
}

/// A question about the flows that hosts forwarded.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct PassageQuery {
    /// Only those of this host.
    pub node: Option<NodeId>,
    /// Only those of this flow of the history, before or behind NAT.
    pub flow: Option<i64>,
    pub order: PassageOrder,
    pub limit: usize,
}

/// A flow that a host forwarded, as the host told it last.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct ForwardedFlow {
    pub node: NodeId,
    /// When the collector received that.
    pub told_ns: u64,
    #[serde(flatten)]
    pub hop: FlowPassage,
    /// The pods at the ends of the flow.
    #[serde(flatten)]
    pub ends: FlowPods,
    /// Those behind the interfaces.
    #[serde(flatten)]
    pub behind: PassagePods,
}
