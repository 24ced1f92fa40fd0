//! The content of a datagram of telemetry reports.

use super::error::DecodeError;
use super::report_v20_parts::SEQUENCE_BITS;
use crate::model::coverage::CoverageReport;
use crate::model::crossings::CrossingReport;
use crate::model::drop_totals_report::DropTotalsReport;
use crate::model::option_hops::OptionHopsReport;
use crate::model::{
    Body, ClockEvidence, HwId, NodeId, NodeIdentity, Observation, PathTotalsReport, Report,
    ReportVersion,
};

/// The content of one datagram.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ReportGroup {
    pub hw_id: HwId,
    /// The node that numbers its datagrams. In v0.5 it is known from the reports that only hosts send; devices of v0.5
    /// are told apart by their addresses.
    pub node: Option<NodeId>,
    /// Each version has a numbering of its own.
    pub version: ReportVersion,
    /// The datagram's number; identities, coverage and evidence about clocks have none.
    pub sequence: u32,
    /// The individual reports; exactly one before v2.0, and none in a datagram that has no number.
    pub reports: Vec<Report>,
    /// Individual reports that could not be read.
    pub refused: Vec<DecodeError>,
    /// Why INT that packets of the reports seem to have could not be read.
    pub unread_int: Vec<DecodeError>,
    /// What the node says beside its reports, in a datagram that has no number.
    pub notice: Option<NodeNotice>,
}

/// What a node says beside its reports.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum NodeNotice {
    /// What the node is called, and its interfaces.
    Identity(NodeIdentity),
    /// The packets that a source did not tag, and those that a sink measured.
    Coverage(CoverageReport),
    /// What the node knows about clocks.
    Clocks(ClockEvidence),
    /// The sums of what the node dropped.
    Drops(DropTotalsReport),
    /// The times of all packets of a path that ends at the node.
    Path(PathTotalsReport),
    /// The packets that came by the node.
    Crossings(CrossingReport),
    /// The hosts whose TCP option 114 the node fills in.
    OptionHops(OptionHopsReport),
}

impl NodeNotice {
    fn node(&self) -> NodeId {
        match self {
            Self::Identity(identity) => identity.node,
            Self::Coverage(coverage) => coverage.node,
            Self::Clocks(evidence) => evidence.node,
            Self::Drops(drops) => drops.node,
            Self::Path(path) => path.totals.path.sink.node,
            Self::Crossings(crossings) => crossings.node,
            Self::OptionHops(hops) => hops.node,
        }
    }
}

impl ReportGroup {
    /// Returns the number of bits in the sequence number.
    pub fn sequence_bits(&self) -> u32 {
        match self.version {
            ReportVersion::V05 | ReportVersion::V10 => 32,
            ReportVersion::V20 => SEQUENCE_BITS,
        }
    }
}

impl From<Report> for ReportGroup {
    /// The group of a single report, as in every version before v2.0.
    fn from(report: Report) -> Self {
        let Observation { hw_id, .. } = report.observation;
        let version = report.observation.version();
        Self {
            hw_id,
            node: match (version, &report.observation.body) {
                // A device names itself in some of its reports only, and numbers all of them in one sequence.
                (ReportVersion::V05, Body::Packet(_)) => None,
                _ => report.observation.reporter(),
            },
            version,
            sequence: report.sequence,
            reports: vec![report],
            refused: Vec::new(),
            notice: None,
            unread_int: Vec::new(),
        }
    }
}

impl From<NodeNotice> for ReportGroup {
    fn from(notice: NodeNotice) -> Self {
        Self {
            hw_id: HwId::default(),
            node: Some(notice.node()),
            version: ReportVersion::V05,
            sequence: 0,
            reports: Vec::new(),
            refused: Vec::new(),
            notice: Some(notice),
            unread_int: Vec::new(),
        }
    }
}
