//! The growth of a flow's counters between two readings.

use crate::model::{FlowSlots, FlowSquares, LatencyResolution, NodeId};

/// The counters of a flow's record since the flow began.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct FlowCounts {
    pub node: NodeId,
    pub packets: u64,
    pub bytes: u64,
    /// Packets declared lost; those that arrived later are counted in `recovered` too.
    pub lost: u64,
    pub recovered: u64,
    pub reordered: u64,
    pub duplicates: u64,
    pub late: u64,
    pub restarts: u32,
    /// The time at which the record was made.
    pub first_ns: u64,
    pub last_ns: u64,
    pub latency_min_ns: i32,
    pub latency_max_ns: i32,
    pub latency_sum_ns: i64,
    pub slots: FlowSlots,
}

/// The counters of a reading that is over, in little memory: there may be a million of them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(in crate::model) struct FlowBase {
    pub packets: u64,
    pub first_ns: u64,
    bytes: u64,
    latency_sum_ns: i64,
    latency_min_ns: i32,
    latency_max_ns: i32,
    /// Most flows have none of these.
    faults: Option<Box<FlowFaults>>,
    slots: FlowSlots,
}

/// Counts of packets that did not arrive, or not in their order.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(in crate::model) struct FlowFaults {
    pub lost: u64,
    pub recovered: u64,
    pub reordered: u64,
    pub duplicates: u64,
    pub late: u64,
    pub restarts: u32,
}

/// What a flow counted since an earlier reading.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(in crate::model) struct FlowGrowth {
    pub packets: u64,
    pub bytes: u64,
    pub faults: FlowFaults,
    pub squares: FlowSquares,
    pub latency_sum_ns: i64,
    /// `None` if the least, or the largest, latency may be an older one.
    pub latency_min_ns: Option<i32>,
    pub latency_max_ns: Option<i32>,
    pub last_ns: u64,
    pub resolution: LatencyResolution,
    /// By the largest latency of their slot.
    pub slots: Vec<(i64, u32)>,
}

impl FlowFaults {
    fn of(counts: &FlowCounts) -> Self {
        Self {
            lost: counts.lost,
            recovered: counts.recovered,
            reordered: counts.reordered,
            duplicates: counts.duplicates,
            late: counts.late,
            restarts: counts.restarts,
        }
    }

    /// Those of a flow with these faults, of which this number of packets arrived.
    fn squares(&self, packets: u64) -> FlowSquares {
        let lost = self.lost.saturating_sub(self.recovered);
        let arrived = packets.saturating_sub(self.duplicates);
        FlowSquares::of_flow(lost, arrived.saturating_add(lost))
    }

    fn since(&self, before: &Self) -> Self {
        Self {
            lost: self.lost.saturating_sub(before.lost),
            recovered: self.recovered.saturating_sub(before.recovered),
            reordered: self.reordered.saturating_sub(before.reordered),
            duplicates: self.duplicates.saturating_sub(before.duplicates),
            late: self.late.saturating_sub(before.late),
            restarts: self.restarts.saturating_sub(before.restarts),
        }
    }
}

impl FlowCounts {
    /// What was counted since `before`.
    pub(in crate::model) fn since(&self, before: &FlowBase) -> FlowGrowth {
        let faults = before.faults.as_deref().copied().unwrap_or_default();
        let now_faults = FlowFaults::of(self);
        let packets = self.packets.saturating_sub(before.packets);
        // Without packets there is no new extreme.
        let is_new = |older: bool| packets > 0 && (before.packets == 0 || older);
        let slots = self.slots.since(&before.slots);
        let by_bound = |(slot, count)| (self.slots.bound_ns(slot), count);
        FlowGrowth {
            packets,
            bytes: self.bytes.saturating_sub(before.bytes),
            faults: now_faults.since(&faults),
            squares: now_faults
                .squares(self.packets)
                .since(faults.squares(before.packets)),
            latency_sum_ns: self.latency_sum_ns.wrapping_sub(before.latency_sum_ns),
            latency_min_ns: is_new(self.latency_min_ns < before.latency_min_ns)
                .then_some(self.latency_min_ns),
            latency_max_ns: is_new(self.latency_max_ns > before.latency_max_ns)
                .then_some(self.latency_max_ns),
            last_ns: self.last_ns,
            resolution: self.slots.resolution(),
            slots: slots.into_iter().map(by_bound).collect(),
        }
    }

    /// What a later reading needs to find the growth.
    pub(in crate::model) fn into_base(self) -> FlowBase {
        let faults = FlowFaults::of(&self);
        FlowBase {
            packets: self.packets,
            first_ns: self.first_ns,
            bytes: self.bytes,
            latency_sum_ns: self.latency_sum_ns,
            latency_min_ns: self.latency_min_ns,
            latency_max_ns: self.latency_max_ns,
            faults: (faults != FlowFaults::default()).then(|| Box::new(faults)),
            slots: self.slots,
        }
    }
}

impl FlowGrowth {
    pub fn is_nothing(&self) -> bool {
        self.packets == 0
            && self.bytes == 0
            && self.faults == FlowFaults::default()
            && self.slots.is_empty()
    }
}
