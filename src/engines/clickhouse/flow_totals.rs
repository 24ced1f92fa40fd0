//! The totals of a flow or class as the columns `flow_*` have them.

use crate::model::{Body, LATENCY_SLOTS, LatencyHistogram, SubjectTotals};

/// Totals since an epoch. Times are ns since the Unix epoch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FlowTotals {
    pub(super) first_ns: u64,
    pub(super) last_ns: u64,
    pub(super) packets: u64,
    pub(super) bytes: u64,
    /// Packets declared lost that have not arrived since.
    pub(super) lost: u64,
    pub(super) reordered: u64,
    pub(super) duplicates: u64,
    pub(super) late: u64,
    pub(super) restarts: u32,
    pub(super) latency_min_ns: i32,
    pub(super) latency_max_ns: i32,
    pub(super) latency_sum_ns: i64,
}

impl FlowTotals {
    /// The totals of a summary, of which each part has all.
    pub(super) fn of(body: &Body) -> Option<Self> {
        match body {
            Body::Summary(summary) => Some((&summary.totals).into()),
            _ => None,
        }
    }
}

impl From<&SubjectTotals> for FlowTotals {
    fn from(totals: &SubjectTotals) -> Self {
        let (min, max) = totals.latency.ends().unwrap_or_default();
        Self {
            first_ns: totals.epoch_ns,
            last_ns: totals.last_ns,
            packets: totals.packets,
            bytes: totals.bytes,
            lost: totals.lost.saturating_sub(totals.recovered),
            reordered: totals.reordered,
            duplicates: totals.duplicates,
            late: totals.late,
            restarts: u32::try_from(totals.restarts).unwrap_or(u32::MAX),
            latency_min_ns: in_32_bits(min),
            latency_max_ns: in_32_bits(max),
            latency_sum_ns: totals.latency.sum_ns(),
        }
    }
}

/// The histogram of a summary, if all of its slots are known. Slot n > 0 counts packets with a latency in [2^(n-1), 2^n) ns,
/// slot 0 those with 0 or less. The 32-bit counts wrap around.
pub(super) fn histogram(body: &Body) -> Vec<u32> {
    match body {
        Body::Summary(summary) if summary.is_whole() => {
            powers_of_two(&summary.totals.latency).to_vec()
        }
        _ => Vec::new(),
    }
}

fn in_32_bits(ns: i64) -> i32 {
    ns.clamp(i32::MIN.into(), i32::MAX.into()) as i32
}

/// The counts in slots whose bounds are powers of two.
fn powers_of_two(latency: &LatencyHistogram) -> [u32; LATENCY_SLOTS] {
    let mut slots = [0_u32; LATENCY_SLOTS];
    for (bound_ns, count) in latency.counts() {
        let size = u64::try_from(bound_ns).ok().and_then(u64::checked_ilog2);
        let slot = size.map_or(0, |power| power as usize + 1);
        let slot = &mut slots[slot.min(LATENCY_SLOTS - 1)];
        *slot = slot.wrapping_add(count as u32);
    }
    slots
}
