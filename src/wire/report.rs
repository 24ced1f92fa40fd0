//! A datagram of telemetry reports of any version; the first bits tell the versions apart.

use super::{
    DecodeError, packet, report_clock, report_coverage, report_crossings, report_drop_totals,
    report_header, report_identity, report_option_hops, report_path, report_v05, report_v10,
    report_v20,
};
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
            ReportVersion::V20 => report_v20::SEQUENCE_BITS,
        }
    }
}

/// Reads one datagram of untrusted content.
pub fn decode(datagram: &[u8]) -> Result<ReportGroup, DecodeError> {
    // With fewer bytes than a header of v0.5, which is version 0, it is cut short.
    if datagram.len() >= report_header::HEADER_BYTES && datagram.iter().all(|byte| *byte == 0) {
        return Err(DecodeError::Length {
            what: "datagram of zeros",
            found: datagram.len(),
            expected: "a report",
        });
    }
    let mut group = read(datagram)?;
    group.unread_int = group.reports.iter().filter_map(unread_int).collect();
    Ok(group)
}

/// The INT of a reported packet that could not be read.
fn unread_int(report: &Report) -> Option<DecodeError> {
    let Body::Packet(reported) = &report.observation.body else {
        return None;
    };
    // In v0.5, there is no INT without the flag.
    let has_int = reported.version != ReportVersion::V05 || report.observation.flags.tracked_flow;
    let packet = reported
        .packet
        .as_ref()
        .filter(|packet| packet.int.is_empty() && has_int)?;
    packet::unread_int(packet.first, &packet.bytes)
}

fn read(datagram: &[u8]) -> Result<ReportGroup, DecodeError> {
    match datagram.first().map_or(0, |first| first >> 4) {
        0 => match notice(datagram) {
            Some(notice) => notice.map(ReportGroup::from),
            None => report_v05::decode(datagram).map(ReportGroup::from),
        },
        1 => report_v10::decode(datagram).map(ReportGroup::from),
        2 => report_v20::decode(datagram),
        found => Err(DecodeError::Version { found }),
    }
}

/// Reads a datagram that is none of reports. `None`: it is one of reports.
fn notice(datagram: &[u8]) -> Option<Result<NodeNotice, DecodeError>> {
    Some(if report_identity::is_one(datagram) {
        report_identity::decode(datagram).map(NodeNotice::Identity)
    } else if report_coverage::is_one(datagram) {
        report_coverage::decode(datagram).map(NodeNotice::Coverage)
    } else if report_clock::is_one(datagram) {
        report_clock::decode(datagram).map(NodeNotice::Clocks)
    } else if report_drop_totals::is_one(datagram) {
        report_drop_totals::decode(datagram).map(NodeNotice::Drops)
    } else if report_crossings::is_one(datagram) {
        report_crossings::decode(datagram).map(NodeNotice::Crossings)
    } else if report_option_hops::is_one(datagram) {
        report_option_hops::decode(datagram).map(NodeNotice::OptionHops)
    } else if report_path::is_one(datagram) {
        report_path::decode(datagram).map(NodeNotice::Path)
    } else {
        return None;
    })
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
