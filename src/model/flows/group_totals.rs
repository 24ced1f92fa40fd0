//! The totals of a group of flows: those of a class from one source node.

use std::collections::BTreeMap;

use crate::model::flow_growth::FlowGrowth;
use crate::model::{LatencyResolution, SlotRange, SubjectTotals, latency_of};

/// Totals that changed are reported this number of times, so that what falls silent is known although a datagram was
/// lost. The totals of what has traffic change in each period.
pub const TOTALS_TOLD: u8 = 3;

/// Sums over the flows of a group since it was first seen.
///
/// Flows that count in powers of two have sums of their own. Otherwise one of them would make all quantiles of the
/// group coarse, for as long as the sums last.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct GroupTotals {
    fine: FlowSums,
    coarse: FlowSums,
}

/// Sums over the flows that count latencies in the same slots.
#[derive(Clone, Debug, Eq, PartialEq)]
struct FlowSums {
    /// All but the latencies.
    totals: SubjectTotals,
    latency_min_ns: i32,
    latency_max_ns: i32,
    latency_sum_ns: i128,
    resolution: LatencyResolution,
    /// Packets by the largest latency of their slot.
    slots: BTreeMap<i64, u64>,
    /// The number of times that the totals are still to be reported.
    to_report: u8,
}

impl Default for GroupTotals {
    fn default() -> Self {
        Self {
            fine: FlowSums::new(LatencyResolution::Fine),
            coarse: FlowSums::new(LatencyResolution::Coarse),
        }
    }
}

impl GroupTotals {
    /// Adds what a flow counted since `began_ns`, or later.
    pub(in crate::model) fn add(&mut self, more: &FlowGrowth, began_ns: u64) {
        match more.resolution {
            LatencyResolution::Coarse => self.coarse.add(more, began_ns),
            LatencyResolution::Middle | LatencyResolution::Fine => self.fine.add(more, began_ns),
        }
    }

    /// Returns the totals that are to be reported. No packet is in both.
    pub(in crate::model) fn news(&mut self) -> impl Iterator<Item = SubjectTotals> {
        let fine = self.fine.news();
        // A collector knows these by the resolution of their latencies.
        let has_latencies = !self.coarse.slots.is_empty();
        let coarse = has_latencies.then(|| self.coarse.news()).flatten();
        fine.into_iter().chain(coarse)
    }
}

impl FlowSums {
    fn new(resolution: LatencyResolution) -> Self {
        Self {
            totals: SubjectTotals {
                slots: SlotRange::ALL,
                ..SubjectTotals::default()
            },
            latency_min_ns: i32::MAX,
            latency_max_ns: i32::MIN,
            latency_sum_ns: 0,
            resolution,
            slots: BTreeMap::new(),
            to_report: 0,
        }
    }

    fn add(&mut self, more: &FlowGrowth, began_ns: u64) {
        if more.is_nothing() {
            return;
        }
        self.to_report = TOTALS_TOLD;
        let to = &mut self.totals;
        if to.epoch_ns == 0 {
            to.epoch_ns = began_ns;
        }
        to.last_ns = to.last_ns.max(more.last_ns);
        to.packets += more.packets;
        to.bytes += more.bytes;
        to.lost += more.faults.lost;
        to.recovered += more.faults.recovered;
        to.reordered += more.faults.reordered;
        to.duplicates += more.faults.duplicates;
        to.late += more.faults.late;
        to.restarts += u64::from(more.faults.restarts);
        to.squares.add(more.squares);
        self.latency_sum_ns += i128::from(more.latency_sum_ns);
        for (bound_ns, count) in &more.slots {
            *self.slots.entry(*bound_ns).or_default() += u64::from(*count);
        }
        // An extreme that the flow had before this group counted is no value of the group.
        let (least, most) = (more.latency_min_ns, more.latency_max_ns);
        self.latency_min_ns = self.latency_min_ns.min(least.unwrap_or(i32::MAX));
        self.latency_max_ns = self.latency_max_ns.max(most.unwrap_or(i32::MIN));
    }

    /// Extremes that are not known are any: `LatencyHistogram::of_counts` finds the bounds of their slots.
    fn ends(&self) -> (i32, i32) {
        match self.latency_min_ns > self.latency_max_ns {
            true => (i32::MIN, i32::MAX),
            false => (self.latency_min_ns, self.latency_max_ns),
        }
    }

    fn news(&mut self) -> Option<SubjectTotals> {
        let counts = self
            .slots
            .iter()
            .map(|(bound_ns, count)| (*bound_ns, *count));
        let is_told = self.to_report > 0;
        self.to_report = self.to_report.saturating_sub(1);
        is_told.then(|| SubjectTotals {
            latency: latency_of(self.resolution, self.ends(), self.latency_sum_ns, counts),
            ..self.totals.clone()
        })
    }
}
