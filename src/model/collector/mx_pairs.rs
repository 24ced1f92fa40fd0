//! How the packets of pairs in INT-MX fared: which reports lack a hop, and which hops these are.

use serde::Serialize;

use crate::model::NodeId;

/// A pair of source and sink since the collector started.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct MxPairRow {
    pub source: NodeId,
    pub sink: NodeId,
    /// Reports of the sink that all known hops of the flow joined, and those that lacked one.
    pub joined: u64,
    pub incomplete: u64,
    /// The hops that told nothing of packets, those with most packets first. A report may lack several. One whose
    /// packet came twice lacks none: what hops reported is of one of both.
    pub missing: Vec<MxMissingHop>,
}

/// A hop that told of other packets of the flow.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct MxMissingHop {
    pub node: NodeId,
    pub reports: u64,
}
