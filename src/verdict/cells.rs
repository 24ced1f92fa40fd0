//! The cells: packets of a class from one node to another, and what is usual for them.

use std::collections::{HashMap, HashSet};

use super::likelihood::{Border, PacketSums};
use super::past::{KnownPast, SourceToSink, hour_of};
use super::place::{Labels, labels_of, places_of};
use super::places::FaultPlaces;
use super::recent::{CellInSlot, PastSlot, Recent};
use super::usual::{UNKNOWN_LOSS, Usual, corrected};
use crate::model::{CellGrowth, CellId, LatencyHistogram, NodeId, PairUsuals, VerdictSlot};

/// The most cells. If there are more, those without packets for a day are forgotten, and if there are none, new ones
/// are not judged.
const MOST_CELLS: usize = 65_536;
const IDLE_SLOTS: u64 = 8_640;
/// The most hosts whose labels are remembered.
const MOST_LABELLED: usize = 16_384;

/// Slots after the start in which what a history has of the last hours is still of use.
const SEED_SLOTS: u64 = 60;

/// Latencies that tell a fifth of a hundred.
const LEAST_FOR_P05: u64 = 5;

/// A cell.
#[derive(Debug, Default)]
pub struct KnownCell {
    pub usual: Usual,
    pub border: Option<Border>,
    pub flows: u32,
    /// The number of the last slot with packets.
    last: u64,
    /// The places that it belongs to.
    places: Vec<usize>,
    /// The version of the past that its usual has.
    past: u64,
}

/// All cells that had packets.
#[derive(Debug, Default)]
pub struct Cells {
    known: HashMap<CellId, usize>,
    ids: Vec<CellId>,
    cells: Vec<KnownCell>,
    labels: Labels,
    /// The loss that is usual in all.
    pool: f64,
    slots: u64,
    /// The number of cells of each pair.
    of_pair: HashMap<SourceToSink, u32>,
    past: KnownPast,
    /// The hour whose usual is in use, and the version of what is known of it.
    hour_ns: u64,
    version: u64,
}

impl Cells {
    pub fn id(&self, cell: usize) -> &CellId {
        &self.ids[cell]
    }

    pub fn get(&self, cell: usize) -> &KnownCell {
        &self.cells[cell]
    }

    pub fn each(&self) -> impl Iterator<Item = (&CellId, &KnownCell)> {
        self.ids.iter().zip(&self.cells)
    }

    pub fn border(&self, cell: usize) -> Border {
        let known = &self.cells[cell];
        known
            .border
            .unwrap_or_else(|| known.usual.border(self.pool(), known.usual.is_corrected()))
    }

    /// What is usual for each pair.
    pub fn usuals(&self) -> PairUsuals {
        let mut usuals = PairUsuals::new();
        for (cell, id) in self.ids.iter().enumerate() {
            let usual = self.cells[cell].usual.of_pair(self.border(cell).loss);
            let Some(usual) = usual else {
                continue;
            };
            let pair = usuals.entry((id.source, id.sink));
            pair.and_modify(|known| known.join(&usual)).or_insert(usual);
        }
        usuals
    }

    fn pool(&self) -> f64 {
        if self.pool > 0.0 {
            self.pool
        } else {
            UNKNOWN_LOSS
        }
    }

    /// The longest time that a cell was learned from, in slots.
    pub fn usual_slots(&self) -> u32 {
        self.cells
            .iter()
            .map(|cell| cell.usual.slots())
            .max()
            .unwrap_or(0)
    }

    /// The most days of which the same hour is known.
    pub fn usual_days(&self) -> u32 {
        let days = self.cells.iter().map(|cell| cell.usual.days());
        days.max().unwrap_or(0)
    }

    /// Takes what a history knows.
    pub fn know(&mut self, past: KnownPast) {
        for (hour_ns, pairs) in past.hours {
            self.past.hours.retain(|(known, _)| *known != hour_ns);
            self.past.hours.push((hour_ns, pairs));
        }
        self.past.last.extend(past.last);
        self.version += 1;
    }

    /// Gives cells what a history knows of this hour, and of the last ones.
    fn remember(&mut self, now_ns: u64) {
        let hour_ns = hour_of(now_ns);
        if hour_ns != self.hour_ns {
            self.hour_ns = hour_ns;
            self.past.hours.retain(|(known, _)| *known >= hour_ns);
            self.version += 1;
        }
        if self.slots == SEED_SLOTS {
            self.past.last = HashMap::new();
        }
        let hour = self.past.hours.iter().find(|(known, _)| *known == hour_ns);
        for (id, cell) in self.ids.iter().zip(&mut self.cells) {
            if cell.past == self.version {
                continue;
            }
            cell.past = self.version;
            let pair = (id.source, id.sink);
            let is_alone = self.of_pair.get(&pair) == Some(&1);
            let usual = hour.and_then(|(_, pairs)| pairs.get(&pair)).copied();
            cell.usual.set_hour(usual, is_alone);
            if is_alone
                && !cell.usual.is_known()
                && let Some(last) = self.past.last.remove(&pair)
            {
                cell.usual.begin_with(last);
            }
        }
    }

    /// Takes these packets of a cell as usual, whatever was usual before.
    pub fn accept(&mut self, cell: usize, packets: PacketSums, latency: LatencyHistogram) {
        let known = &mut self.cells[cell];
        known.usual.accept(packets, latency);
        known.border = None;
    }

    fn count_pairs(&mut self) {
        let mut of_pair = HashMap::new();
        for id in &self.ids {
            *of_pair.entry((id.source, id.sink)).or_insert(0) += 1;
        }
        self.of_pair = of_pair;
        self.version += 1;
    }

    /// Takes the labels and the new cells of a slot.
    pub fn see(&mut self, slot: &VerdictSlot, places: &mut FaultPlaces) {
        let mut labels = labels_of(&slot.hosts);
        let room = MOST_LABELLED.saturating_sub(labels.len());
        for (node, known) in self.labels.iter().take(room) {
            labels.entry(*node).or_insert_with(|| known.clone());
        }
        if labels != self.labels {
            self.labels = labels;
            places.without_cells();
            for cell in 0..self.cells.len() {
                self.place(cell, places);
            }
        }
        self.slots += 1;
        let before = self.ids.len();
        for id in slot.cells.keys() {
            if let Some(cell) = self.known.get(id) {
                self.cells[*cell].last = self.slots;
            } else if self.ids.len() < MOST_CELLS {
                let cell = self.cells.len();
                self.known.insert(id.clone(), cell);
                self.ids.push(id.clone());
                self.cells.push(KnownCell {
                    last: self.slots,
                    ..KnownCell::default()
                });
                self.place(cell, places);
            }
        }
        if self.ids.len() > before {
            self.count_pairs();
        }
        self.remember(slot.end_ns - 1);
        let (mut sent, mut lost) = (0, 0);
        for cell in &self.cells {
            let learned = cell.usual.learned();
            (sent, lost) = (sent + learned.0, lost + learned.1);
        }
        self.pool = lost as f64 / sent.max(1) as f64;
    }

    /// True if there is no room for a new cell, and some are idle.
    pub fn is_full_of_idle(&self) -> bool {
        let is_idle = |cell: &KnownCell| self.slots - cell.last > IDLE_SLOTS;
        self.ids.len() >= MOST_CELLS && self.cells.iter().any(is_idle)
    }

    /// Forgets cells that are idle. All cells have other numbers then, also in these places, which are new.
    pub fn forget_idle(&mut self, places: &mut FaultPlaces) {
        let cells = std::mem::take(&mut self.cells);
        let ids = std::mem::take(&mut self.ids);
        self.known.clear();
        for (id, cell) in ids.into_iter().zip(cells) {
            if self.slots - cell.last <= IDLE_SLOTS {
                self.known.insert(id.clone(), self.ids.len());
                self.ids.push(id);
                self.cells.push(cell);
            }
        }
        for cell in 0..self.cells.len() {
            self.place(cell, places);
        }
        self.count_pairs();
    }

    fn place(&mut self, cell: usize, places: &mut FaultPlaces) {
        let of = places_of(&self.ids[cell], &self.labels);
        let numbers = of.into_iter().map(|place| places.add(place, cell));
        self.cells[cell].places = numbers.collect();
    }

    /// Counts the packets of a slot: what they say of each place is added, and what they were is returned.
    /// `left_out` are sinks whose reports cannot be trusted now.
    pub fn count(
        &mut self,
        slot: &VerdictSlot,
        left_out: &[NodeId],
        (places, recent): (&mut FaultPlaces, &mut Recent),
    ) -> (PastSlot, HashMap<usize, LatencyHistogram>) {
        let mut past = PastSlot {
            end_ns: slot.end_ns,
            ..PastSlot::default()
        };
        let mut latencies = HashMap::new();
        let pool = self.pool();
        for (id, growth) in &slot.cells {
            let Some(cell) = self.known.get(id).copied() else {
                continue;
            };
            let known = &mut self.cells[cell];
            let is_set = |node| slot.hosts.get(node).is_some_and(|host| host.clock_set);
            if is_set(&id.source) || is_set(&id.sink) {
                known.usual.see_clock_set();
            }
            known.flows = known.flows.max(growth.flows);
            let latency = corrected(growth);
            if !left_out.contains(&id.sink) {
                let is_comparable = known.usual.is_comparable(growth);
                let packets = packets_of(growth, known.usual.limit_ns(growth.clocks_ns));
                let border = known.usual.border(pool, growth.clocks_ns.is_some());
                known.border = Some(border);
                let gains = packets.gains(&border);
                known
                    .places
                    .iter()
                    .for_each(|place| places.blame(*place, &gains));
                // A sink counts what is below 0 as 0.
                let is_cut = growth.latency.quantile(0.05).is_none_or(|ns| ns <= 0);
                let p05_ns = (latency.samples() >= LEAST_FOR_P05 && !is_cut && is_comparable)
                    .then(|| latency.quantile(0.05))
                    .flatten();
                let mean_ns = mean_of(growth).filter(|_| is_comparable);
                let in_slot = CellInSlot {
                    packets,
                    p05_ns,
                    mean_ns,
                };
                past.cells.insert(cell, in_slot);
                if growth.counts.lost > 0 {
                    let lost = growth
                        .parts
                        .map(|part| u32::try_from(part.lost).unwrap_or(u32::MAX));
                    past.lost_parts.insert(cell, lost);
                }
                recent.spread(cell, growth.parts.map(|part| part.sent));
            }
            latencies.insert(cell, latency);
        }
        (past, latencies)
    }

    /// Learns the slot, but for cells of places that may be at fault, and of hosts whose clock is.
    pub fn learn(
        &mut self,
        slot: &VerdictSlot,
        latencies: &HashMap<usize, LatencyHistogram>,
        (suspects, clocks): (&HashSet<usize>, &[NodeId]),
    ) {
        for (id, growth) in &slot.cells {
            let Some(cell) = self.known.get(id).copied() else {
                continue;
            };
            let known = &mut self.cells[cell];
            let is_suspect = known.places.iter().any(|place| suspects.contains(place))
                || clocks.contains(&id.source)
                || clocks.contains(&id.sink);
            known.usual.learn(growth, &latencies[&cell], is_suspect);
        }
    }
}

/// The packets of a slot. Those above the limit are slow; without one, latency is not judged.
pub fn packets_of(growth: &CellGrowth, limit_ns: Option<f64>) -> PacketSums {
    let stamped = &growth.latency;
    let ahead_ns = growth.clocks_ns.map_or(0, |(ahead_ns, _)| ahead_ns);
    let (slow, judged) = match limit_ns {
        Some(limit_ns) => {
            // All packets of a slot are slow if the least of them would be: slots of large stamps are wide.
            let is_slow = |ns: i64| {
                let (least_ns, _) = stamped.resolution().bounds(ns);
                least_ns.saturating_sub(ahead_ns) as f64 > limit_ns
            };
            let slow = stamped.counts().filter(|(ns, _)| is_slow(*ns));
            (slow.map(|(_, count)| count).sum(), stamped.samples())
        }
        None => (0_u64, 0),
    };
    PacketSums {
        sent: growth.counts.sent as f64,
        lost: growth.counts.lost.min(growth.counts.sent) as f64,
        slow: slow as f64,
        judged: judged as f64,
    }
}

/// The mean latency without the known difference of the clocks, also if it is below 0; `None`: too few.
fn mean_of(growth: &CellGrowth) -> Option<i64> {
    let samples = growth.latency.samples();
    let ahead_ns = growth.clocks_ns.map_or(0, |(ahead_ns, _)| ahead_ns);
    (samples >= LEAST_FOR_P05).then(|| {
        let mean_ns = growth.latency.whole_sum_ns() / i128::from(samples);
        i64::try_from(mean_ns).unwrap_or(0) - ahead_ns
    })
}
