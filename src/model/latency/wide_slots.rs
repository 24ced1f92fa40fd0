//! The 32-bit counts of a flow's slots, in 64 bits.

use std::collections::BTreeMap;

use crate::model::{FlowSlots, LatencyHistogram, latency_of};

/// A flow of fewer packets has no slot that wrapped around.
const NARROW_PACKETS: u64 = 1 << 32;

/// Counts that are read at least once while a slot counts 2^32 packets.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WideSlots {
    low: FlowSlots,
    counts: BTreeMap<u16, u64>,
}

impl WideSlots {
    /// The counts of a flow that was not read before.
    ///
    /// If slots wrapped around already, nothing tells which: their packets count in the slot of the mean latency.
    pub fn new(low: &FlowSlots, packets: u64, mean_ns: i64) -> Self {
        let narrow = low.counts().iter();
        let mut counts: BTreeMap<u16, u64> = narrow
            .map(|(slot, count)| (*slot, u64::from(*count)))
            .collect();
        let missing = packets.saturating_sub(counts.values().sum());
        let wraps = missing.saturating_add(NARROW_PACKETS / 2) / NARROW_PACKETS;
        if wraps > 0 {
            *counts.entry(low.slot(mean_ns)).or_default() += wraps * NARROW_PACKETS;
        }
        Self {
            low: low.clone(),
            counts,
        }
    }

    /// Reads the counts again.
    pub fn read(&mut self, low: &FlowSlots) {
        for (slot, more) in low.since(&self.low) {
            *self.counts.entry(slot).or_default() += u64::from(more);
        }
        self.low.clone_from(low);
    }

    /// The histogram of these counts.
    pub fn histogram(&self, ends: (i32, i32), sum_ns: i128) -> LatencyHistogram {
        let counts = self.counts.iter();
        let counts = counts.map(|(slot, count)| (self.low.bound_ns(*slot), *count));
        latency_of(self.low.resolution(), ends, sum_ns, counts)
    }
}
