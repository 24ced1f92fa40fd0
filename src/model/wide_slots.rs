//! The 32-bit counts of a flow's histogram, in 64 bits.

use super::LATENCY_SLOTS;

/// A flow of fewer packets has no slot that wrapped around.
const NARROW_PACKETS: u64 = 1 << 32;

/// Counts that are read at least once while a slot counts 2^32 packets.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WideSlots {
    low: [u32; LATENCY_SLOTS],
    counts: [u64; LATENCY_SLOTS],
}

impl WideSlots {
    /// The counts of a flow that was not read before.
    ///
    /// If slots wrapped around already, nothing tells which: their packets count in the slot of the mean latency.
    pub fn new(low: [u32; LATENCY_SLOTS], packets: u64, mean_ns: i64) -> Self {
        let mut counts = low.map(u64::from);
        let missing = packets.saturating_sub(counts.iter().sum());
        let wraps = missing.saturating_add(NARROW_PACKETS / 2) / NARROW_PACKETS;
        let size = u64::try_from(mean_ns).ok().and_then(u64::checked_ilog2);
        let slot = size.map_or(0, |power| power as usize + 1);
        counts[slot.min(LATENCY_SLOTS - 1)] += wraps * NARROW_PACKETS;
        Self { low, counts }
    }

    /// Reads the counts again.
    pub fn read(&mut self, low: [u32; LATENCY_SLOTS]) {
        let slots = self.counts.iter_mut().zip(low.iter().zip(&self.low));
        for (count, (now, before)) in slots {
            *count += u64::from(now.wrapping_sub(*before));
        }
        self.low = low;
    }

    pub fn counts(&self) -> [u64; LATENCY_SLOTS] {
        self.counts
    }
}
