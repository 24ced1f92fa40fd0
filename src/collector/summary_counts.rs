//! The counts of a summary, and what they add to those of an earlier one.

use crate::model::{ClockSums, FlowSquares, LatencyHistogram, Measured, SubjectTotals};

/// The counts of a summary. Each only grows in an epoch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) packets: u64,
    pub(super) bytes: u64,
    pub(super) lost: u64,
    pub(super) recovered: u64,
    pub(super) reordered: u64,
    pub(super) duplicates: u64,
    pub(super) squares: FlowSquares,
}

impl From<&SubjectTotals> for Counts {
    fn from(totals: &SubjectTotals) -> Self {
        Self {
            packets: totals.packets,
            bytes: totals.bytes,
            lost: totals.lost,
            recovered: totals.recovered,
            reordered: totals.reordered,
            duplicates: totals.duplicates,
            squares: totals.squares,
        }
    }
}

impl Counts {
    /// True if `later` was reported after these counts.
    pub(super) fn are_before(&self, later: &Self) -> bool {
        let mut pairs = self.all().into_iter().zip(later.all());
        pairs.any(|(one, later)| one < later)
    }

    pub(super) fn all(&self) -> [u64; 6] {
        [
            self.packets,
            self.bytes,
            self.lost,
            self.recovered,
            self.reordered,
            self.duplicates,
        ]
    }

    /// The packets that were counted after `before`, and their latencies.
    pub(super) fn since(&self, before: &Self, latency: Option<LatencyHistogram>) -> Measured {
        Measured {
            summaries: 1,
            packets: self.packets.saturating_sub(before.packets),
            bytes: self.bytes.saturating_sub(before.bytes),
            lost: self.lost.saturating_sub(before.lost),
            recovered: self.recovered.saturating_sub(before.recovered),
            reordered: self.reordered.saturating_sub(before.reordered),
            duplicates: self.duplicates.saturating_sub(before.duplicates),
            squares: self.squares.since(before.squares),
            latency: latency.unwrap_or_default(),
            corrected: ClockSums::default(),
        }
    }
}
