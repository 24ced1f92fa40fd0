//! Events that the sink's kernel half hands to its user half.

use crate::model::{Encapsulation, FlowKey, Hop, NodeId, QueueDepth, QuotedHeaders};

/// One observation of the sink, before it becomes a report.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SinkEvent {
    Latency(LatencyEvent),
    Loss(LossEvent),
    /// Sequence numbers went missing in this flow: check it again soon, but do not report it yet.
    Gap(FlowKey),
}

/// Why a latency is reported.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Reasons {
    pub new_flow: bool,
    pub bucket_change: bool,
    pub period: bool,
    /// The packet took other transit hops than the one reported before.
    pub path_change: bool,
    /// Transit hops tell of the packet, too (INT-MX).
    pub sample: bool,
}

/// A packet whose latency is reported.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LatencyEvent {
    pub reasons: Reasons,
    pub encapsulation: Encapsulation,
    pub flow: FlowKey,
    /// Present for IPv4 without options only: the headers as received; for extension-udp the outer IPv4 header and the
    /// inner L4 header, for vxlan-gpe those of the inner packet.
    pub headers: Option<QuotedHeaders>,
    pub source: Hop,
    /// Transit hops, newest first.
    pub transit: Vec<Hop>,
    pub sink_port: u16,
    /// Arrival, nanoseconds since the Unix epoch.
    pub sink_ns: u64,
    /// The network card's clock stamped the arrival.
    pub by_nic: bool,
    /// The flow's sequence number, from the INT block.
    pub sequence: u32,
    pub latency_ns: i64,
    /// The source's root queue when the packet was stamped.
    pub queue: Option<QueueDepth>,
}

/// Sequence numbers that are missing in a flow and no longer expected.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LossEvent {
    pub flow: FlowKey,
    pub source_node: NodeId,
    pub source_port: u16,
    pub sink_port: u16,
    /// Arrival of the last packet before the first hole, nanoseconds since the Unix epoch.
    pub before_ns: u64,
    /// The first missing number minus 1.
    pub before_seq: u32,
    /// Number of missing sequence numbers.
    pub count: u32,
}
