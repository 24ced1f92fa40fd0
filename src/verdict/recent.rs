//! The packets of the last minutes, slot by slot.

use std::collections::{HashMap, VecDeque};

use super::likelihood::PacketSums;
use crate::model::{FLOW_PARTS, LatencyHistogram};

/// Ten minutes.
pub const RECENT_SLOTS: usize = 60;

/// The packets of a cell in a slot.
#[derive(Clone, Copy, Debug, Default)]
pub struct CellInSlot {
    pub packets: PacketSums,
    /// The fifth of a hundred latencies; `None`: too few.
    pub p05_ns: Option<i64>,
    pub mean_ns: Option<i64>,
}

/// What hosts dropped, and where packets waited.
#[derive(Clone, Debug, Default)]
pub struct HostPast {
    pub dropped: Option<[u64; 2]>,
    pub between: u64,
    /// The reason of most of these drops.
    pub reason: Option<String>,
    pub queue_ns: Option<u64>,
}

/// A slot that is over.
#[derive(Clone, Debug, Default)]
pub struct PastSlot {
    pub end_ns: u64,
    pub cells: HashMap<usize, CellInSlot>,
    /// Lost packets by part of flows, of cells that lost some.
    pub lost_parts: HashMap<usize, [u32; FLOW_PARTS]>,
    pub hosts: HashMap<u32, HostPast>,
}

/// The last slots, oldest first.
#[derive(Debug, Default)]
pub struct Recent {
    slots: VecDeque<PastSlot>,
    /// The share of each cell's packets that each part of its flows has.
    shares: HashMap<usize, [f32; FLOW_PARTS]>,
    /// The latencies of cells in the last slots, for the figures of a cause.
    latency: VecDeque<HashMap<usize, LatencyHistogram>>,
}

/// The weight of a slot in the shares of parts.
const SHARE_WEIGHT: f32 = 0.1;
/// The slots whose latencies are kept.
const LATENCY_SLOTS: usize = 6;

impl Recent {
    pub fn push(&mut self, slot: PastSlot, latency: HashMap<usize, LatencyHistogram>) {
        self.slots.push_back(slot);
        if self.slots.len() > RECENT_SLOTS {
            self.slots.pop_front();
        }
        self.latency.push_back(latency);
        if self.latency.len() > LATENCY_SLOTS {
            self.latency.pop_front();
        }
    }

    /// Learns how the packets of a cell are spread over the parts of its flows.
    pub fn spread(&mut self, cell: usize, sent: [u64; FLOW_PARTS]) {
        let all: u64 = sent.iter().sum();
        if all == 0 {
            return;
        }
        let share = |sent: u64| sent as f32 / all as f32;
        let known = self.shares.entry(cell).or_insert_with(|| sent.map(share));
        for (known, sent) in known.iter_mut().zip(sent) {
            *known += SHARE_WEIGHT * (share(sent) - *known);
        }
    }

    pub fn shares(&self, cell: usize) -> Option<&[f32; FLOW_PARTS]> {
        self.shares.get(&cell)
    }

    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// The last slots, oldest first.
    pub fn last(&self, slots: usize) -> impl DoubleEndedIterator<Item = &PastSlot> {
        self.slots.range(self.slots.len().saturating_sub(slots)..)
    }

    /// The packets of each cell in the last slots.
    pub fn sums(&self, slots: usize) -> HashMap<usize, PacketSums> {
        let mut sums = HashMap::<usize, PacketSums>::new();
        for slot in self.last(slots) {
            for (cell, one) in &slot.cells {
                sums.entry(*cell).or_default().add(one.packets);
            }
        }
        sums
    }

    /// The lost packets of each part of a cell's flows in the last slots.
    pub fn lost_parts(&self, slots: usize) -> HashMap<usize, [f64; FLOW_PARTS]> {
        let mut sums = HashMap::<usize, [f64; FLOW_PARTS]>::new();
        for slot in self.last(slots) {
            for (cell, parts) in &slot.lost_parts {
                let sum = sums.entry(*cell).or_default();
                for (sum, lost) in sum.iter_mut().zip(parts) {
                    *sum += f64::from(*lost);
                }
            }
        }
        sums
    }

    /// The packets of a cell in the last minute, and their latencies.
    pub fn of_cell(&self, cell: usize) -> (PacketSums, LatencyHistogram) {
        let mut sum = PacketSums::default();
        let slots = self.last(LATENCY_SLOTS);
        slots
            .filter_map(|slot| slot.cells.get(&cell))
            .for_each(|one| sum.add(one.packets));
        (sum, self.latency(&[cell]))
    }

    /// The latencies of these cells in the last minute.
    pub fn latency(&self, cells: &[usize]) -> LatencyHistogram {
        let mut all = LatencyHistogram::default();
        for slot in &self.latency {
            for latency in cells.iter().filter_map(|cell| slot.get(cell)) {
                all.merge(latency);
            }
        }
        all
    }
}
