//! The latency counts of a flow, as its sink keeps them: in fine slots, or in powers of two.

use crate::model::latency_histogram::{slot_of, upper_bound};
use crate::model::{LatencyHistogram, LatencyResolution};

/// Slots in powers of two: slot n > 0 counts latencies in [2^(n-1), 2^n) ns, slot 0 those of 0 and less.
pub const LATENCY_SLOTS: usize = 32;
/// Fine slots: those of [`LatencyHistogram`] from 0 to 2^31 - 1 ns, and slot 0 counts negative latencies too.
pub const FINE_SLOTS: usize = 864;

/// Counts of the slots that have any, by ascending number. They have 32 bits and wrap around.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct FlowSlots {
    fine: bool,
    counts: Box<[(u16, u32)]>,
}

fn counts_of(counts: &[u32]) -> Box<[(u16, u32)]> {
    let numbered = (0..).zip(counts.iter().copied());
    numbered.filter(|(_, count)| *count != 0).collect()
}

impl FlowSlots {
    pub fn coarse(counts: &[u32; LATENCY_SLOTS]) -> Self {
        Self {
            fine: false,
            counts: counts_of(counts),
        }
    }

    pub fn fine(counts: &[u32; FINE_SLOTS]) -> Self {
        Self {
            fine: true,
            counts: counts_of(counts),
        }
    }

    pub fn resolution(&self) -> LatencyResolution {
        match self.fine {
            true => LatencyResolution::Fine,
            false => LatencyResolution::Coarse,
        }
    }

    /// The largest latency that a slot counts.
    pub fn bound_ns(&self, slot: u16) -> i64 {
        match self.fine {
            true => upper_bound(slot.cast_signed()),
            false => (1_i64 << slot) - 1,
        }
    }

    /// The counts that were added since `before`, by the number of their slot.
    pub fn since(&self, before: &Self) -> Vec<(u16, u32)> {
        let mut before = before.counts.iter().copied().peekable();
        let mut added = Vec::new();
        for (slot, count) in &self.counts {
            // A slot that was there, and is not, wrapped around to exactly 0.
            while let Some((gone, was)) = before.next_if(|known| known.0 < *slot) {
                added.push((gone, was.wrapping_neg()));
            }
            let was = before.next_if(|known| known.0 == *slot);
            let more = count.wrapping_sub(was.map_or(0, |known| known.1));
            if more != 0 {
                added.push((*slot, more));
            }
        }
        added.extend(before.map(|(gone, was)| (gone, was.wrapping_neg())));
        added
    }

    /// The counts in powers of two.
    pub fn powers(&self) -> [u32; LATENCY_SLOTS] {
        let mut powers = [0_u32; LATENCY_SLOTS];
        for (slot, count) in &self.counts {
            let power = &mut powers[power_of(self.bound_ns(*slot))];
            *power = power.wrapping_add(*count);
        }
        powers
    }

    /// The slot that counts a latency.
    pub fn slot(&self, latency_ns: i64) -> u16 {
        let latency_ns = latency_ns.clamp(0, i32::MAX.into());
        match self.fine {
            true => slot_of(latency_ns).cast_unsigned(),
            false => power_of(latency_ns) as u16,
        }
    }

    /// The histogram of these counts.
    pub fn histogram(&self, ends: (i32, i32), sum_ns: i128) -> LatencyHistogram {
        let counts = self.counts.iter();
        let counts = counts.map(|(slot, count)| (self.bound_ns(*slot), u64::from(*count)));
        latency_of(self.resolution(), ends, sum_ns, counts)
    }

    /// The counts by the number of their slot.
    pub fn counts(&self) -> &[(u16, u32)] {
        &self.counts
    }
}

/// The slot in powers of two that counts a latency.
pub fn power_of(latency_ns: i64) -> usize {
    let size = u64::try_from(latency_ns).ok().and_then(u64::checked_ilog2);
    let slot = size.map_or(0, |power| power as usize + 1);
    slot.min(LATENCY_SLOTS - 1)
}

/// The histogram of counts by the upper bound of their slot. Fine slots count negative latencies together with 0, so
/// that a histogram with any is less than fine.
pub fn latency_of(
    resolution: LatencyResolution,
    (min_ns, max_ns): (i32, i32),
    sum_ns: i128,
    counts: impl IntoIterator<Item = (i64, u64)>,
) -> LatencyHistogram {
    let resolution = match min_ns {
        0.. => resolution,
        _ => resolution.min(LatencyResolution::Middle),
    };
    let ends = (min_ns.into(), max_ns.into());
    LatencyHistogram::of_counts(resolution, ends, sum_ns, counts)
}
