//! Counts of latencies by slot: differences between two refreshes, and quantiles.

use std::collections::BTreeMap;

use crate::model::FlowStatus;

/// The greatest latency of a slot, and its packets, whose number wraps around. Slots ascend.
pub type SlotCount = (i64, u32);

/// The number of packets that may be counted while a flow's counters are read.
const UNDER_WAY: u64 = 1024;

/// The counts of a flow: of its own slots, or in powers of two if the daemon that was asked tells no others.
pub fn counts_of(flow: &FlowStatus) -> Vec<SlotCount> {
    match &flow.latency_slots[..] {
        [] => powers_of(flow),
        slots => slots.to_vec(),
    }
}

/// The counts of a flow in powers of two.
pub fn powers_of(flow: &FlowStatus) -> Vec<SlotCount> {
    let slots = flow.histogram.iter().enumerate();
    let counts = slots.map(|(slot, count)| (upper_ns(slot), *count));
    counts.filter(|(_, count)| *count != 0).collect()
}

/// The counts between two refreshes, if they can be known.
pub fn window(now: &[SlotCount], before: &[SlotCount], packets: u64) -> Option<Vec<SlotCount>> {
    let mut counts = BTreeMap::from_iter(now.iter().copied());
    for (slot_ns, before) in before {
        let count = counts.entry(*slot_ns).or_default();
        *count = count.wrapping_sub(*before);
    }
    let most = packets.saturating_add(UNDER_WAY);
    let plausible = counts.values().all(|count| u64::from(*count) <= most);
    let counts = counts.into_iter().filter(|(_, count)| *count != 0);
    plausible.then(|| counts.collect())
}

/// The greatest latency of the slot that this share of packets (in thousandths) is in or below, but at most the greatest
/// latency. `None` if there are no packets.
pub fn quantile(counts: &[SlotCount], thousandths: u64, max_ns: i64) -> Option<i64> {
    let all: u64 = counts.iter().map(|(_, count)| u64::from(*count)).sum();
    let wanted = (all * thousandths).div_ceil(1000).max(1);
    let mut below = 0;
    for (slot_ns, count) in counts {
        below += u64::from(*count);
        if below >= wanted {
            return Some((*slot_ns).min(max_ns.max(0)));
        }
    }
    None
}

/// The upper bound of a slot in powers of two.
pub fn upper_ns(slot: usize) -> i64 {
    match slot {
        0 => 0,
        _ => 1i64.checked_shl(slot as u32).unwrap_or(i64::MAX),
    }
}
