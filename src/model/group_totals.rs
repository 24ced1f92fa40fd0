//! The totals of a group of flows: those of a class from one source node.

use super::{
    FlowCounts, LATENCY_SLOTS, LatencyHistogram, LatencyResolution, SlotRange, SubjectTotals,
};

/// Sums over the flows of a group since it was first seen.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct GroupTotals {
    /// All but the latencies.
    totals: SubjectTotals,
    latency_min_ns: i32,
    latency_max_ns: i32,
    latency_sum_ns: i128,
    histogram: [u64; LATENCY_SLOTS],
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
            histogram: [0; LATENCY_SLOTS],
            changed: false,
        }
    }

    /// Adds what a flow counted since `before`.
    pub(super) fn add(&mut self, now: &FlowCounts, before: &FlowCounts) {
        if now == before {
            return;
        }
        self.changed = true;
        let to = &mut self.totals;
        to.last_ns = to.last_ns.max(now.last_ns);
        to.packets += now.packets.saturating_sub(before.packets);
        to.bytes += now.bytes.saturating_sub(before.bytes);
        to.lost += now.lost.saturating_sub(before.lost);
        to.recovered += now.recovered.saturating_sub(before.recovered);
        to.reordered += now.reordered.saturating_sub(before.reordered);
        to.duplicates += now.duplicates.saturating_sub(before.duplicates);
        to.late += now.late.saturating_sub(before.late);
        to.restarts += u64::from(now.restarts.saturating_sub(before.restarts));
        let more_ns = now.latency_sum_ns.wrapping_sub(before.latency_sum_ns);
        self.latency_sum_ns += i128::from(more_ns);
        let slots = now.histogram.iter().zip(&before.histogram);
        for (sum, (now, before)) in self.histogram.iter_mut().zip(slots) {
            *sum += u64::from(now.wrapping_sub(*before));
        }
        if now.packets == before.packets {
            return;
        }
        // An extreme that the flow had before this group counted is no value of the group.
        if before.packets == 0 || now.latency_min_ns < before.latency_min_ns {
            self.latency_min_ns = self.latency_min_ns.min(now.latency_min_ns);
        }
        if before.packets == 0 || now.latency_max_ns > before.latency_max_ns {
            self.latency_max_ns = self.latency_max_ns.max(now.latency_max_ns);
        }
    }

    /// Extremes that are not known are any: [`LatencyHistogram::of_counts`] finds the bounds of their slots.
    fn ends(&self) -> (i32, i32) {
        match self.latency_min_ns > self.latency_max_ns {
            true => (i32::MIN, i32::MAX),
            false => (self.latency_min_ns, self.latency_max_ns),
        }
    }

    /// Returns the totals if they changed since they were last told.
    pub(super) fn news(&mut self) -> Option<SubjectTotals> {
        std::mem::take(&mut self.changed).then(|| SubjectTotals {
            latency: coarse_latency(self.ends(), self.latency_sum_ns, self.histogram),
            ..self.totals.clone()
        })
    }
}

/// The histogram of counts in powers of two.
pub fn coarse_latency(
    (min_ns, max_ns): (i32, i32),
    sum_ns: i128,
    histogram: [u64; LATENCY_SLOTS],
) -> LatencyHistogram {
    let bounds = (0..).map(|slot| if slot == 0 { 0 } else { (1_i64 << slot) - 1 });
    let ends = (min_ns.into(), max_ns.into());
    let counts = bounds.zip(histogram);
    LatencyHistogram::of_counts(LatencyResolution::Coarse, ends, sum_ns, counts)
}
