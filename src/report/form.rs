//! The form in which reports go to collectors.

use crate::model::{HwId, NodeId, Observation, Report, ReportVersion};
use crate::wire::{report_standard, report_v05, report_v10, report_v20};

/// A version of Telemetry Report. What v1.0 and v2.0 cannot tell goes out as v0.5.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ReportForm {
    pub version: ReportVersion,
    /// Marks packets with INT, also those that reports of v1.0 and v2.0 begin to quote.
    pub dscp: u8,
}

/// Who speaks in a group of v2.0.
pub(super) type Reporter = (HwId, NodeId);

/// What became of an observation in some form.
pub(super) enum WrittenAs {
    /// A datagram of v1.0.
    V10,
    /// An individual report of v2.0.
    V20(Reporter),
    /// Nothing: the form has no room for it, or is v0.5.
    No,
}

impl ReportForm {
    /// Writes the report in this form over `out`.
    pub(super) fn write(self, observation: &Observation, out: &mut Vec<u8>) -> WrittenAs {
        out.clear();
        match self.version {
            ReportVersion::V05 => WrittenAs::No,
            ReportVersion::V10 => match report_standard::v10(observation, self.dscp) {
                Some(packet) => {
                    report_v10::emit(observation, &packet, out);
                    WrittenAs::V10
                }
                None => WrittenAs::No,
            },
            ReportVersion::V20 => {
                let told = report_standard::v20(observation, self.dscp);
                let written = told.and_then(|packet| {
                    report_v20::append(observation.flags, &packet, out)?;
                    Some((observation.hw_id, packet.node?))
                });
                written.map_or(WrittenAs::No, WrittenAs::V20)
            }
        }
    }
}

/// Writes the report as v0.5 over `out`, which has room for all of them.
pub(super) fn write_v05(report: &Report, out: &mut Vec<u8>) {
    out.clear();
    report_v05::emit(report, out);
}
