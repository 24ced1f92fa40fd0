//! The tracked flows: the values that their next reports are compared with.

use std::collections::HashMap;

use super::ids::FlowName;
use super::numbers::SequenceNumbers;
use super::path_period::FlowPathRow;
use super::totals::SummaryTotals;
use crate::model::SeededHash;

/// A flow without a report for this time makes room for others.
const QUIET_NS: u64 = 120_000_000_000;

/// A flow that is tracked.
#[derive(Debug, Default)]
pub struct TrackedFlow {
    pub numbers: SequenceNumbers,
    pub totals: SummaryTotals,
    /// The place of its gathered row.
    pub row: Option<RowPlace>,
    /// Where its last report counted among the paths.
    pub path_row: Option<FlowPathRow>,
    seen_ns: u64,
}

/// The place of a row among those gathered for a transaction, and the beginning of its ten seconds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RowPlace {
    pub transaction: u64,
    pub begin_ns: u64,
    pub row: usize,
}

impl RowPlace {
    /// True if both rows belong to the same transaction and the same ten seconds.
    pub fn same(&self, other: &Self) -> bool {
        (self.transaction, self.begin_ns) == (other.transaction, other.begin_ns)
    }
}

/// All tracked flows, up to a limit.
#[derive(Debug)]
pub struct TrackedFlows {
    flows: HashMap<FlowName, TrackedFlow, SeededHash>,
    most: usize,
    /// The time when quiet flows were last forgotten.
    swept_ns: u64,
}

impl TrackedFlows {
    pub fn new(most: usize) -> Self {
        Self {
            flows: HashMap::default(),
            most,
            swept_ns: 0,
        }
    }

    /// Returns the tracked flow of this name, which may be new, or `None` if there is no room for it.
    pub fn follow(&mut self, name: &FlowName, time_ns: u64) -> Option<&mut TrackedFlow> {
        if self.flows.len() >= self.most && !self.flows.contains_key(name) && !self.sweep(time_ns) {
            return None;
        }
        let flow = self.flows.entry(*name).or_default();
        flow.seen_ns = flow.seen_ns.max(time_ns);
        Some(flow)
    }

    /// Makes room, at most once a second. Returns true if there is room.
    fn sweep(&mut self, now_ns: u64) -> bool {
        if now_ns.abs_diff(self.swept_ns) > 1_000_000_000 {
            self.swept_ns = now_ns;
            self.flows
                .retain(|_, flow| flow.seen_ns.saturating_add(QUIET_NS) > now_ns);
        }
        self.flows.len() < self.most
    }
}
