//! The last totals that a collector counted of a subject: what its next summary is subtracted from.

use std::net::IpAddr;

use crate::model::{FlowKey, FlowSquares, LatencyResolution, NodeId, Summary, SummarySubject};

/// The name of what a sink reports totals of.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum SummaryName {
    Flow(FlowKey),
    /// The flows of a class, apart by the slots that they count latencies in.
    Group {
        class: Option<Box<str>>,
        coarse: bool,
    },
    /// A place of a path: see [`PlaceTotals::place`](crate::model::PlaceTotals::place).
    Path {
        way: Box<[u8]>,
        place: u8,
    },
}

/// The last totals of a subject.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SummaryBase {
    /// The sender, which is not known of reports from a file.
    pub exporter: Option<IpAddr>,
    pub source_node: NodeId,
    pub sink_node: NodeId,
    pub name: SummaryName,
    pub epoch_ns: u64,
    /// The time of the summary.
    pub seen_ns: u64,
    /// Packets, bytes, lost, recovered, reordered, duplicates.
    pub counts: [u64; 6],
    pub squares: FlowSquares,
    /// The encoded histogram.
    pub latency: Box<[u8]>,
}

/// All that a collector keeps for its next run.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SummaryBases {
    /// The time until which summaries were counted. `None` if some subjects that were counted are not among these.
    pub until_ns: Option<u64>,
    pub bases: Vec<SummaryBase>,
}

impl From<&Summary> for SummaryName {
    fn from(summary: &Summary) -> Self {
        match &summary.subject {
            SummarySubject::Flow { flow, .. } => Self::Flow(*flow),
            SummarySubject::Group { class } => Self::Group {
                class: class.as_deref().map(Box::from),
                coarse: summary.totals.latency.resolution() == LatencyResolution::Coarse,
            },
        }
    }
}
