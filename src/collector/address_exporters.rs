//! The exporters of one address.

use super::exporter::{Exporter, NumberingKey};
use super::numbering::NumberingCounts;
use crate::model::NodeId;

/// An exporter that was silent for this time makes room for others when the table is full. Exporters that report stay,
/// so forged ones cannot push them out.
pub const IDLE_NS: u64 = 60_000_000_000;

/// The least time between two searches for idle exporters. The table is searched only when it is full.
const SWEEP_NS: u64 = 1_000_000_000;

/// All exporters of one address, sorted by key.
#[derive(Debug, Default)]
pub(super) struct AddressExporters {
    pub(super) followed: Vec<Exporter>,
    pub(super) swept_ns: Option<u64>,
}

impl AddressExporters {
    /// Returns the place of an exporter, or as the error the place where it would be inserted.
    pub(super) fn place_of(&self, key: NumberingKey) -> Result<usize, usize> {
        self.followed.binary_search_by_key(&key, |one| one.key)
    }

    /// Removes a node's exporter that has sent nothing but identities.
    pub(super) fn take_without_reports(&mut self, node: NodeId) -> Option<Exporter> {
        let is_one = |one: &Exporter| one.key.node == Some(node) && one.is_without_reports();
        let place = self.followed.iter().position(is_one)?;
        Some(self.followed.remove(place))
    }

    /// Forgets idle exporters, adds their counts to `counts`, and returns how many they were.
    pub(super) fn forget_idle(&mut self, now_ns: u64, counts: &mut NumberingCounts) -> usize {
        let before = self.followed.len();
        self.followed.retain(|one| {
            let idle = is_idle(one.last_seen_ns, now_ns);
            if idle {
                counts.add(&one.numbering.counts());
            }
            !idle
        });
        before - self.followed.len()
    }
}

pub(super) fn is_idle(last_seen_ns: u64, now_ns: u64) -> bool {
    now_ns.saturating_sub(last_seen_ns) > IDLE_NS
}

/// True if a search for idle exporters is due, and records that it takes place now.
pub(super) fn is_due(swept_ns: &mut Option<u64>, now_ns: u64) -> bool {
    // If the clock was set back, the search does not wait for the old time.
    let due = swept_ns.is_none_or(|last| now_ns < last || now_ns - last >= SWEEP_NS);
    if due {
        *swept_ns = Some(now_ns);
    }
    due
}
