//! The totals of a group of flows: those of a class from one source node.

use std::collections::BTreeMap;

use super::flow_growth::FlowGrowth;
use super::{LatencyResolution, SlotRange, SubjectTotals, latency_of};

/// Sums over the flows of a group since it was first seen.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct GroupTotals {
    /// All but the latencies.
    totals: SubjectTotals,
    latency_min_ns: i32,
    latency_max_ns: i32,
    latency_sum_ns: i128,
    /// The coarsest of its flows.
    resolution: LatencyResolution,
    /// Packets by the largest latency of their slot.
    slots: BTreeMap<i64, u64>,
    /// Something was added since the totals were last told.
    changed: bool,
}

impl GroupTotals {
    pub(super) fn new(epoch_ns: u64) -> Self {
        Self {
            totals: SubjectTotals {
                epoch_ns,
                slots: SlotRange::ALL,
                ..SubjectTotals::default()
            },
            latency_min_ns: i32::MAX,
            latency_max_ns: i32::MIN,
            latency_sum_ns: 0,
            resolution: LatencyResolution::Fine,
            slots: BTreeMap::new(),
            changed: false,
        }
    }

    /// Adds what a flow counted.
    pub(super) fn add(&mut self, more: &FlowGrowth) {
        if more.is_nothing() {
            return;
        }
        self.changed = true;
        let to = &mut self.totals;
        to.last_ns = to.last_ns.max(more.last_ns);
        to.packets += more.packets;
        to.bytes += more.bytes;
        to.lost += more.faults.lost;
        to.recovered += more.faults.recovered;
        to.reordered += more.faults.reordered;
        to.duplicates += more.faults.duplicates;
        to.late += more.faults.late;
        to.restarts += u64::from(more.faults.restarts);
        self.latency_sum_ns += i128::from(more.latency_sum_ns);
        if !more.slots.is_empty() {
            self.resolution = self.resolution.min(more.resolution);
        }
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

    /// Returns the totals if they changed since they were last told.
    pub(super) fn news(&mut self) -> Option<SubjectTotals> {
        let counts = self
            .slots
            .iter()
            .map(|(bound_ns, count)| (*bound_ns, *count));
        std::mem::take(&mut self.changed).then(|| SubjectTotals {
            latency: latency_of(self.resolution, self.ends(), self.latency_sum_ns, counts),
            ..self.totals.clone()
        })
    }
}
