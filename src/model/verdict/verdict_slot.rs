//! What a collector learned in ten seconds, as the verdict judges it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::{LatencyHistogram, LimitInForce, NodeId, NodePair, PairReach};

/// The length of a slot, ns.
pub const VERDICT_SLOT_NS: u64 = 10_000_000_000;

/// The flows of a cell are put into this many parts by a hash of their addresses and ports, so that what happens to
/// some flows only can be seen.
pub const FLOW_PARTS: usize = 16;

/// The packets of a class from one node to another. They are judged together.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Deserialize, Serialize)]
pub struct CellId {
    pub source: NodeId,
    pub sink: NodeId,
    /// `None`: packets of flows without a class.
    pub class: Option<Box<str>>,
}

/// Packets that were sent, and those of them that were lost.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct CellCounts {
    pub sent: u64,
    pub lost: u64,
}

/// What the summaries of a cell added in a slot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CellGrowth {
    pub counts: CellCounts,
    /// The latencies as they were stamped.
    pub latency: LatencyHistogram,
    /// By how much the sink's clock is ahead of the source's, and the error of that; `None`: it is not known.
    pub clocks_ns: Option<(i64, u64)>,
    /// The packets of the flows that the sink reports one by one, by part, and the number of these flows.
    pub parts: [CellCounts; FLOW_PARTS],
    pub flows: u32,
}

/// What is known of a host in a slot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostInSlot {
    /// What its reports say of it, such as its rack.
    pub labels: BTreeMap<String, String>,
    /// Reports of it came, or are not due yet.
    pub reports: bool,
    /// When its last report came; 0: unknown.
    pub heard_ns: u64,
    /// It is a source of others' traffic or a sink that reports, and nothing is heard of it: no report, and no packets
    /// from it at any sink.
    pub is_gone: bool,
    /// It began again in this slot.
    pub restarted: bool,
    /// Its clock was set in this slot.
    pub clock_set: bool,
    /// Packets that it dropped as the source, after it tagged them, and as the sink, before it stripped them. `None`: it
    /// does not report drops.
    pub dropped: Option<[u64; 2]>,
    /// The reason of most of these drops.
    pub drop_reason: Option<String>,
    /// Packets that it dropped between the source and the sink, as a router.
    pub dropped_between: u64,
    /// The mean time in which packets waited in its own queues, ns. `None`: it does not report queues.
    pub queue_ns: Option<u64>,
    /// The mean time in which packets waited until an application read them, ns.
    pub read_ns: Option<u64>,
    /// The mean time from an application's reading of a request to its answer, ns.
    pub answer_ns: Option<u64>,
    /// The share of time in which receivers at this host limited their senders.
    pub receiver_limited: Option<f64>,
    /// The share of the packets from this host that were measured, of those that its watchlist asks for.
    pub covered: Option<f64>,
}

/// Ten seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VerdictSlot {
    /// The end of the slot, ns since the Unix epoch.
    pub end_ns: u64,
    /// The cells with packets.
    pub cells: BTreeMap<CellId, CellGrowth>,
    pub hosts: BTreeMap<NodeId, HostInSlot>,
    /// The pairs of hosts with many packets to each other, that were measured before.
    pub reach: BTreeMap<NodePair, PairReach>,
    /// The share of reports that were lost on the way to the collector, or by it.
    pub reports_lost: f64,
    /// What is not acceptable, whatever is usual.
    pub limits: Vec<LimitInForce>,
}
