//! The numbers of reports to one destination: from 1, and apart for each version and subsystem, as collectors follow them.

use std::collections::BTreeMap;

use crate::model::{HwId, ReportVersion};

#[derive(Debug, Default)]
pub(super) struct ReportNumbers(BTreeMap<(ReportVersion, HwId), u32>);

impl ReportNumbers {
    /// Returns the number of the next datagram.
    pub fn take(&mut self, version: ReportVersion, subsystem: HwId) -> u32 {
        let next = self.0.entry((version, subsystem)).or_insert(1);
        let number = *next;
        *next = number.wrapping_add(1);
        number
    }

    /// The datagram with the newest number did not leave, so the next one gets it.
    pub fn give_back(&mut self, version: ReportVersion, subsystem: HwId) {
        if let Some(next) = self.0.get_mut(&(version, subsystem)) {
            *next = next.wrapping_sub(1);
        }
    }
}
