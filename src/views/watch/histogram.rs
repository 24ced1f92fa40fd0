//! Histograms of powers of two: differences between two refreshes, and quantiles.

/// The number of packets that may be counted while a flow's counters are read.
const UNDER_WAY: u64 = 1024;

/// The counts between two refreshes, if they can be known: slots are as wide as the kernel's and wrap around like them.
pub fn window(now: &[u32], before: &[u32], packets: u64) -> Option<Vec<u32>> {
    if now.len() != before.len() {
        return None;
    }
    let counts: Vec<u32> = now
        .iter()
        .zip(before)
        .map(|(now, before)| now.wrapping_sub(*before))
        .collect();
    let most = packets.saturating_add(UNDER_WAY);
    let plausible = counts.iter().all(|count| u64::from(*count) <= most);
    plausible.then_some(counts)
}

/// The upper bound of the slot that this share of packets (in thousandths) is in or below, but at most the greatest
/// latency. `None` if there are no packets.
pub fn quantile(counts: &[u32], thousandths: u64, max_ns: i64) -> Option<i64> {
    let all: u64 = counts.iter().map(|count| u64::from(*count)).sum();
    let wanted = (all * thousandths).div_ceil(1000).max(1);
    let mut below = 0;
    for (slot, count) in counts.iter().enumerate() {
        below += u64::from(*count);
        if below >= wanted {
            return Some(upper_ns(slot).min(max_ns.max(0)));
        }
    }
    None
}

/// The upper bound of a slot.
pub fn upper_ns(slot: usize) -> i64 {
    match slot {
        0 => 0,
        _ => 1i64.checked_shl(slot as u32).unwrap_or(i64::MAX),
    }
}
