//! Questions to a collector's history about what hosts dropped, and their answers.

use clap::ValueEnum;
use serde::Serialize;

use crate::model::{DropCount, DropPosition, FlowKey, FlowPods, NodeId, PodName, TunnelId};

/// What drops are added up by.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum DropGrouping {
    /// the kernel's reason
    #[default]
    Reason,
    /// reason, function of the kernel, interface, and host
    Place,
    /// host
    Node,
    /// flow, with reason, function and host
    Flow,
    /// pod or container that misses the packets, and reason
    Pod,
}

/// A question about drops.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct DropQuery {
    pub by: DropGrouping,
    /// The drops of this host alone.
    pub node: Option<NodeId>,
    pub limit: usize,
}

/// Drops in a span, of a host or of all. What they are not added up by is left out.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct DropFigures {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<FlowKey>,
    /// The flow is the one inside of this tunnel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tunnel: Option<TunnelId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod: Option<String>,
    /// What the API server of its cluster calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_name: Option<PodName>,
    /// Those at the ends of the flow.
    #[serde(flatten)]
    pub pods: FlowPods,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<DropPosition>,
    /// The packets are no loss.
    pub ignored: bool,
    /// Only a counter of the kernel reports these drops.
    pub without_packet: bool,
    #[serde(flatten)]
    pub count: DropCount,
}

/// Dropped packets over time, by reason; periods without drops are left out.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct DropSeries {
    pub period_ns: u64,
    pub points: Vec<DropPoint>,
}

/// The packets that were dropped for a reason in a period.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct DropPoint {
    pub begin_ns: u64,
    pub reason: String,
    pub packets: u64,
}

/// INT's loss of a flow or a pair, split by the hosts that dropped the packets. All counts are of segments, as INT
/// counts.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct LossSplit {
    /// What INT misses.
    pub lost: u64,
    /// Dropped by the source host, which had tagged them. `None`: it tells no drops.
    pub source_host: Option<u64>,
    /// Dropped by the sink host, which had not stripped them yet. `None`: it tells no drops.
    pub sink_host: Option<u64>,
    /// The rest. `None` if one of the hosts reports no drops, so that the rest may be its own.
    pub network: Option<u64>,
    /// The part of the network's that hosts between source and sink reported.
    pub between: u64,
    /// What cannot be split: drops of the source host whose flow or sink is not known, or more drops than INT misses,
    /// because INT does not tell the loss yet or told it before the span.
    pub unsplit: u64,
    /// Dropped by the sink host behind the strip: these packets arrived, and INT does not miss them.
    pub behind_strip: u64,
}

/// Lost segments of a flow or a pair that a host between source and sink dropped.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct LossAt {
    pub node: NodeId,
    pub segments: u64,
}

/// Where the packets of a flow or a pair were lost, as far as hosts tell their drops.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct LossByHost {
    #[serde(flatten)]
    pub split: LossSplit,
    /// The hosts between, most segments first.
    pub at: Vec<LossAt>,
}

/// The drops of both hosts of a flow or a pair.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct PairDrops {
    pub source_reports: bool,
    pub sink_reports: bool,
    pub behind_tag: u64,
    pub between: u64,
    pub before_strip: u64,
    pub behind_strip: u64,
    /// Of the source host, behind its tag, without a known flow.
    pub without_flow: u64,
}

impl LossSplit {
    pub fn new(lost: u64, told: &PairDrops) -> Self {
        let source_host = told.source_reports.then_some(told.behind_tag.min(lost));
        let left = lost - source_host.unwrap_or(0);
        let sink_host = told.sink_reports.then_some(told.before_strip.min(left));
        let left = left - sink_host.unwrap_or(0);
        let behind_tag = source_host.map_or(0, |taken| told.behind_tag - taken);
        let before_strip = sink_host.map_or(0, |taken| told.before_strip - taken);
        // Drops without a known flow may be a part of what is left.
        let unknown = told.without_flow.min(left);
        Self {
            lost,
            source_host,
            sink_host,
            network: (told.source_reports && told.sink_reports).then_some(left - unknown),
            between: told.between.min(left - unknown),
            unsplit: unknown + behind_tag + before_strip,
            behind_strip: told.behind_strip,
        }
    }
}
