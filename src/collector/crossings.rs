//! Losses by segment: what hosts counted where packets came by is compared along the paths that packets take.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::crossed::{BlockCounts, losses};
use super::known_ways::KnownWays;
use crate::model::crossings::{
    BLOCK_NS, CoveredFlows, CrossingFlow, CrossingPlace, CrossingReport, PathCrossed,
};
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

/// The most places at which packets of a block are counted, and the most reports about it.
const MOST_COUNTING: usize = 1 << 14;

/// The age in blocks after which a host has no more packets of a block to come.
const OVER: u64 = 5;

#[derive(Debug, Default)]
struct FlowBlocks {
    blocks: BTreeMap<u64, BlockCounts>,
    /// The node whose sink received packets.
    sink: Option<NodeId>,
}

/// The hosts that count the packets of a block.
#[derive(Debug, Default)]
struct CountingHosts {
    places: HashSet<(CrossingPlace, NodePort)>,
    covered: Vec<(NodeId, CoveredFlows)>,
}

impl CountingHosts {
    fn note(&mut self, report: &CrossingReport, number: usize, block: u64) {
        let counted = report.counts.iter();
        let counted = counted.filter(|one| matches!(one.packets.get(number), Some(Some(_))));
        for one in counted {
            if self.places.len() < MOST_COUNTING {
                self.places.insert((one.place, one.at(report.node)));
            }
        }
        let is_over = report.told_ns / BLOCK_NS >= block + OVER;
        let Some(covered) = report.covered.filter(|_| is_over) else {
            return;
        };
        let reported = (report.node, covered);
        if self.covered.len() < MOST_COUNTING && !self.covered.contains(&reported) {
            self.covered.push(reported);
        }
    }

    /// True if packets of the flow would have been counted here, and there were none.
    fn had_none(&self, flow: CrossingFlow, counts: &BlockCounts, at: NodePort) -> bool {
        let place = (CrossingPlace::Arrived, at);
        let is_told = |(node, flows): &(NodeId, CoveredFlows)| *node == at.node && flows.has(flow);
        !counts.contains_key(&place)
            && self.places.contains(&place)
            && self.covered.iter().any(is_told)
    }
}

/// The counts that wait, and the paths.
#[derive(Debug, Default)]
pub struct CrossingLedger {
    flows: HashMap<CrossingFlow, FlowBlocks>,
    hosts: BTreeMap<u64, CountingHosts>,
    ways: KnownWays,
    /// Blocks before this one were compared.
    settled: u64,
}

impl CrossingLedger {
    /// Packets take this path.
    pub fn see_path(&mut self, path: &Path, arrival: Arrival) {
        if !path.is_part() {
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
        for (number, block) in (report.first_block..)
            .take(report.blocks.into())
            .enumerate()
        {
            if block >= self.settled {
                self.hosts
                    .entry(block)
                    .or_default()
                    .note(report, number, block);
            }
        }
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
                    let passed = known.entry(place).or_default();
                    passed.packets = u64::from(packets).max(passed.packets);
                    let ttl = counts.ttl.filter(|ttl| ttl.from_block <= block);
                    passed.ttl = ttl.map(|ttl| ttl.ttl);
                }
            }
        }
    }

    fn settle(&mut self, before: u64, now_ns: u64) -> Vec<PathCrossed> {
        if before <= self.settled {
            return Vec::new();
        }
        self.settled = before;
        let open = self.hosts.split_off(&before);
        let hosts = std::mem::replace(&mut self.hosts, open);
        // Blocks of flows that took the same paths are looked at together.
        let mut by_paths: BTreeMap<Vec<&Path>, Vec<BlockCounts>> = BTreeMap::new();
        self.ways.forget(now_ns);
        for (id, flow) in &mut self.flows {
            let open = flow.blocks.split_off(&before);
            let over = std::mem::replace(&mut flow.blocks, open);
            let Some(sink) = flow.sink else { continue };
            let ways = self.ways.of((id.source, sink));
            for (block, counts) in over {
                if counts.values().all(|passed| passed.packets == 0) {
                    continue;
                }
                // A path of other packets of the pair, over hops at which none of these came by, is none of theirs.
                let is_theirs = |path: &&&Path| {
                    let arrivals = path.segments().into_iter().step_by(2).map(|wire| wire.to);
                    let is_passed = |at| {
                        let counting = hosts.get(&block);
                        !counting.is_some_and(|hosts| hosts.had_none(*id, &counts, at))
                    };
                    arrivals.take(path.hops.len()).all(is_passed)
                };
                let theirs: Vec<&Path> = ways.iter().filter(is_theirs).copied().collect();
                let paths = if theirs.is_empty() {
                    ways.clone()
                } else {
                    theirs
                };
                by_paths.entry(paths).or_default().push(counts);
            }
        }
        self.flows.retain(|_, flow| !flow.blocks.is_empty());
        let known = by_paths.iter();
        known
            .flat_map(|(paths, blocks)| losses(paths, blocks))
            .collect()
    }
}
