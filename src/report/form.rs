//! The format of reports to collectors.

use crate::model::{HwId, NodeId, Observation, Report, ReportVersion};
use crate::wire::{report_standard, report_v05, report_v10, report_v20};

/// A version of Telemetry Report. Observations that v1.0 and v2.0 cannot express are sent as v0.5.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ReportForm {
    pub version: ReportVersion,
    /// The DSCP value that marks packets with INT; reports of v1.0 and v2.0 quote packets with it.
    pub dscp: u8,
}

/// The reporting node of a group of v2.0.
pub(super) type Reporter = (HwId, NodeId);

/// The format in which an observation was written.
pub(super) enum WrittenAs {
    /// A datagram of v1.0.
    V10,
    /// An individual report of v2.0.
    V20(Reporter),
    /// Nothing was written: the format is v0.5, or cannot express the observation.
    No,
}

impl ReportForm {
    /// Writes the report in this format and replaces the content of `out`.
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
            ReportVersion::V20 => report_standard::v20(observation, self.dscp)
                .and_then(|packet| {
                    report_v20::append(observation.flags, &packet, out)?;
                    Some((observation.hw_id, packet.node?))
                })
                .map_or(WrittenAs::No, WrittenAs::V20),
        }
    }
}

/// Writes the report as v0.5, which can express all observations, and replaces the content of `out`.
pub(super) fn write_v05(report: &Report, out: &mut Vec<u8>) {
    out.clear();
    report_v05::emit(report, out);
}
