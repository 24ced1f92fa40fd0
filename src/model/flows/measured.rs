//! Packets that sinks counted: sums of what their summaries report.

use crate::model::{ClockSums, FlowSquares, LatencyHistogram};

/// The packets that one or more summaries tell of. Sums can be merged in any order.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Measured {
    /// The number of summaries.
    pub summaries: u64,
    /// Packets that arrived, duplicates among them.
    pub packets: u64,
    pub bytes: u64,
    /// Packets that were declared lost; `recovered` counts those of them that arrived later.
    pub lost: u64,
    pub recovered: u64,
    pub reordered: u64,
    pub duplicates: u64,
    /// Those of the flows of groups.
    pub squares: FlowSquares,
    pub latency: LatencyHistogram,
    /// The same latencies without the difference of the clocks, as far as that was known.
    pub corrected: ClockSums,
}

impl Measured {
    pub fn merge(&mut self, other: &Self) {
        for (sum, more) in [
            (&mut self.summaries, other.summaries),
            (&mut self.packets, other.packets),
            (&mut self.bytes, other.bytes),
            (&mut self.lost, other.lost),
            (&mut self.recovered, other.recovered),
            (&mut self.reordered, other.reordered),
            (&mut self.duplicates, other.duplicates),
        ] {
            *sum = sum.saturating_add(more);
        }
        self.squares.add(other.squares);
        self.latency.merge(&other.latency);
        self.corrected.merge(&other.corrected);
    }

    /// True for the sums of summaries that only repeat what others told.
    pub fn is_nothing(&self) -> bool {
        let counts = [
            self.packets,
            self.bytes,
            self.lost,
            self.recovered,
            self.reordered,
            self.duplicates,
        ];
        counts == [0; 6]
    }

    /// Returns the approximate memory of these sums.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(self.latency.numbered_slots())
    }

    /// Packets that never arrived.
    pub fn missing(&self) -> u64 {
        self.lost.saturating_sub(self.recovered)
    }

    /// Packets that were sent: a duplicate is no other packet.
    pub fn sent(&self) -> u64 {
        self.packets
            .saturating_sub(self.duplicates)
            .saturating_add(self.missing())
    }
}
