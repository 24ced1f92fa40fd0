//! Which totals are to be reported: those that changed, a few times each.

use std::collections::HashMap;
use std::hash::Hash;

use crate::model::group_totals::TOTALS_TOLD;

struct ReportedTotal {
    packets: u64,
    /// The number of times that it is still to be reported.
    to_report: u8,
}

/// What was told of each total last.
pub struct ReportedTotals<Id>(HashMap<Id, ReportedTotal>);

impl<Id> Default for ReportedTotals<Id> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<Id: Eq + Hash> ReportedTotals<Id> {
    /// Returns true if a total with this number of packets is to be reported in this period, and notes that it is.
    pub fn take(&mut self, id: Id, packets: u64) -> bool {
        let reported = self.0.entry(id).or_insert(ReportedTotal {
            packets: 0,
            to_report: 0,
        });
        if reported.packets != packets {
            *reported = ReportedTotal {
                packets,
                to_report: TOTALS_TOLD,
            };
        }
        let is_told = reported.to_report > 0;
        reported.to_report = reported.to_report.saturating_sub(1);
        is_told
    }

    /// Forgets all others.
    pub fn keep(&mut self, is_kept: impl Fn(&Id) -> bool) {
        self.0.retain(|id, _| is_kept(id));
    }
}
