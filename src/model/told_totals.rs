//! Which totals are to be told: those that changed, a few times each.

use std::collections::HashMap;
use std::hash::Hash;

use super::group_totals::TOTALS_TOLD;

struct ToldTotal {
    packets: u64,
    /// The number of times that it is still to be told.
    to_tell: u8,
}

/// What was told of each total last.
pub struct ToldTotals<Id>(HashMap<Id, ToldTotal>);

impl<Id> Default for ToldTotals<Id> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<Id: Eq + Hash> ToldTotals<Id> {
    /// Returns true if a total with this number of packets is to be told in this period, and notes that it is.
    pub fn take(&mut self, id: Id, packets: u64) -> bool {
        let told = self.0.entry(id).or_insert(ToldTotal {
            packets: 0,
            to_tell: 0,
        });
        if told.packets != packets {
            *told = ToldTotal {
                packets,
                to_tell: TOTALS_TOLD,
            };
        }
        let is_told = told.to_tell > 0;
        told.to_tell = told.to_tell.saturating_sub(1);
        is_told
    }

    /// Forgets all others.
    pub fn keep(&mut self, is_kept: impl Fn(&Id) -> bool) {
        self.0.retain(|id, _| is_kept(id));
    }
}
