//! A datagram of telemetry reports of any version; the first bits tell the versions apart.

use super::error::DecodeError;
pub use super::report_content::{NodeNotice, ReportGroup};
use super::{
    packet, report_clock, report_coverage, report_crossings, report_drop_totals, report_header,
    report_identity, report_option_hops, report_path, report_v05, report_v10, report_v20,
};
use crate::model::{Body, Report, ReportVersion};

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
