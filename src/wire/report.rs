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
    /// What the node tells of itself.
    pub identity: Option<NodeIdentity>,
    /// The packets that a source did not tag.
    pub coverage: Option<CoverageReport>,
    /// What the node knows about clocks.
    pub clocks: Option<ClockEvidence>,
    /// The sums of what the node dropped.
    pub drops: Option<DropTotalsReport>,
    /// The times of all packets of a path that ends at the node.
    pub path: Option<PathTotalsReport>,
    /// The packets that came by the node.
    pub crossings: Option<CrossingReport>,
    /// The hosts whose TCP option 114 the node fills in.
    pub option_hops: Option<OptionHopsReport>,
}

impl ReportGroup {
    /// True for a datagram that tells something beside reports, and has no number.
    pub fn is_beside_reports(&self) -> bool {
        let of_hosts = self.identity.is_some() || self.coverage.is_some() || self.clocks.is_some();
        let of_packets = self.path.is_some() || self.crossings.is_some();
        of_hosts || of_packets || self.drops.is_some() || self.option_hops.is_some()
    }

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
        0 if report_identity::is_one(datagram) => report_identity::decode(datagram).map(Into::into),
        0 if report_coverage::is_one(datagram) => report_coverage::decode(datagram).map(Into::into),
        0 if report_clock::is_one(datagram) => report_clock::decode(datagram).map(Into::into),
        0 if report_drop_totals::is_one(datagram) => {
            report_drop_totals::decode(datagram).map(Into::into)
        }
        0 if report_crossings::is_one(datagram) => {
            report_crossings::decode(datagram).map(Into::into)
        }
        0 if report_option_hops::is_one(datagram) => {
            report_option_hops::decode(datagram).map(Into::into)
        }
        0 if report_path::is_one(datagram) => report_path::decode(datagram).map(Into::into),
        0 => report_v05::decode(datagram).map(ReportGroup::from),
        1 => report_v10::decode(datagram).map(ReportGroup::from),
        2 => report_v20::decode(datagram),
        found => Err(DecodeError::Version { found }),
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
            identity: None,
            coverage: None,
            clocks: None,
            drops: None,
            path: None,
            crossings: None,
            option_hops: None,
            unread_int: Vec::new(),
        }
    }
}

impl ReportGroup {
    /// A datagram of a node that is none of its reports.
    fn beside_reports(node: NodeId) -> Self {
        Self {
            hw_id: HwId::default(),
            node: Some(node),
            version: ReportVersion::V05,
            sequence: 0,
            reports: Vec::new(),
            refused: Vec::new(),
            identity: None,
            coverage: None,
            clocks: None,
            drops: None,
            path: None,
            crossings: None,
            option_hops: None,
            unread_int: Vec::new(),
        }
    }
}

impl From<NodeIdentity> for ReportGroup {
    fn from(identity: NodeIdentity) -> Self {
        let node = identity.node;
        Self {
            identity: Some(identity),
            ..Self::beside_reports(node)
        }
    }
}

impl From<CoverageReport> for ReportGroup {
    fn from(coverage: CoverageReport) -> Self {
        let node = coverage.node;
        Self {
            coverage: Some(coverage),
            ..Self::beside_reports(node)
        }
    }
}

impl From<ClockEvidence> for ReportGroup {
    fn from(evidence: ClockEvidence) -> Self {
        let node = evidence.node;
        Self {
            clocks: Some(evidence),
            ..Self::beside_reports(node)
        }
    }
}

impl From<DropTotalsReport> for ReportGroup {
    fn from(drops: DropTotalsReport) -> Self {
        let node = drops.node;
        Self {
            drops: Some(drops),
            ..Self::beside_reports(node)
        }
    }
}

impl From<PathTotalsReport> for ReportGroup {
    fn from(path: PathTotalsReport) -> Self {
        let node = path.totals.path.sink.node;
        Self {
            path: Some(path),
            ..Self::beside_reports(node)
        }
    }
}

impl From<CrossingReport> for ReportGroup {
    fn from(crossings: CrossingReport) -> Self {
        let node = crossings.node;
        Self {
            crossings: Some(crossings),
            ..Self::beside_reports(node)
        }
    }
}

impl From<OptionHopsReport> for ReportGroup {
    fn from(hops: OptionHopsReport) -> Self {
        let node = hops.node;
        Self {
            option_hops: Some(hops),
            ..Self::beside_reports(node)
        }
    }
}
