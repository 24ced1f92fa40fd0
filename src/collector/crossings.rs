//! Losses by segment: what hosts counted where packets came by is compared along the paths that packets take.

use std::collections::{BTreeMap, HashMap};

use super::crossed::{PairCounts, losses};
use super::known_ways::KnownWays;
use crate::model::crossings::{BLOCK_NS, CrossingFlow, CrossingPlace, CrossingReport, PathCrossed};
use crate::model::{Arrival, NodeId, NodePort, Path};

/// The most flows, and places of a flow, that are followed.
const MOST_FLOWS: usize = 1 << 16;
const MOST_PLACES: usize = 64;

/// A block is compared when all hosts have told of it for the last time: its age in blocks.
const SETTLED: u64 = 14;

/// The same in ns: what is known is of packets of this time ago.
pub const SETTLED_NS: u64 = SETTLED * BLOCK_NS;

/// A host whose clock differs by more than this may name blocks by other numbers. A report may be late by as much.
const MOST_APART_NS: u64 = 1_000_000_000;

/// The counts of a block: by place.
type BlockCounts = HashMap<(CrossingPlace, NodePort), u64>;

#[derive(Debug, Default)]
struct FlowBlocks {
    blocks: BTreeMap<u64, BlockCounts>,
    /// The node whose sink received packets.
    sink: Option<NodeId>,
}

/// The counts that wait, and the paths.
#[derive(Debug, Default)]
pub struct CrossingLedger {
    flows: HashMap<CrossingFlow, FlowBlocks>,
    ways: KnownWays,
    /// Blocks before this one were compared.
    settled: u64,
}

impl CrossingLedger {
    /// Packets take this path.
    pub fn see_path(&mut self, path: &Path, arrival: Arrival) {
        if path.queue().is_none() {
            self.ways.see(path, arrival.received_ns);
        }
    }

    /// Adds what a host counted. Returns what is known of the blocks that are over since the last report.
    pub fn add(&mut self, report: &CrossingReport, arrival: Arrival) -> Vec<PathCrossed> {
        let now_ns = arrival.received_ns;
        let is_recent = report.told_ns.saturating_add(2 * MOST_APART_NS) >= now_ns;
        if is_recent && report.told_ns <= now_ns.saturating_add(MOST_APART_NS) {
            self.note(report);
        }
        self.settle((now_ns / BLOCK_NS).saturating_sub(SETTLED), now_ns)
    }

    fn note(&mut self, report: &CrossingReport) {
        for counts in &report.counts {
            if self.flows.len() >= MOST_FLOWS && !self.flows.contains_key(&counts.flow) {
                continue;
            }
            let flow = self.flows.entry(counts.flow).or_default();
            if counts.place == CrossingPlace::Received {
                flow.sink = Some(report.node);
            }
            let place = (counts.place, counts.at(report.node));
            for (block, packets) in (report.first_block..).zip(&counts.packets) {
                let Some(packets) = packets.filter(|_| block >= self.settled) else {
                    continue;
                };
                let known = flow.blocks.entry(block).or_default();
                if known.len() < MOST_PLACES || known.contains_key(&place) {
                    // Counts only grow, and reports may overtake each other.
                    let count = known.entry(place).or_default();
                    *count = u64::from(packets).max(*count);
                }
            }
        }
    }

    fn settle(&mut self, before: u64, now_ns: u64) -> Vec<PathCrossed> {
        if before <= self.settled {
            return Vec::new();
        }
        self.settled = before;
        let mut by_pair: BTreeMap<(NodeId, NodeId), PairCounts> = BTreeMap::new();
        for (id, flow) in &mut self.flows {
            let open = flow.blocks.split_off(&before);
            let over = std::mem::replace(&mut flow.blocks, open);
            let Some(sink) = flow.sink else { continue };
            let pair = by_pair.entry((id.source, sink)).or_default();
            pair.extend(
                over.into_values()
                    .filter(|block| block.values().any(|count| *count > 0)),
            );
        }
        self.flows.retain(|_, flow| !flow.blocks.is_empty());
        self.ways.forget(now_ns);
        let mut known = Vec::new();
        for (pair, blocks) in by_pair {
            known.extend(losses(&self.ways.of(pair), &blocks));
        }
        known
    }
}
