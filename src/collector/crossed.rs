//! The losses of a pair by segment, from the counts of its packets in blocks that are over.
//!
//! A link's loss is what departed before it and did not arrive behind it, a box's what arrived and did not depart. Where
//! links have an end in common, they lose packets together, and which of them did is known only if none was lost.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::model::crossings::{Crossed, CrossedPlace, CrossingPlace, PathCrossed};
use crate::model::{NodeId, NodePort, Path};

/// The packets of a block that came by a place, and their TTL.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Passed {
    pub packets: u64,
    pub ttl: Option<u8>,
}

/// What came by in a block, by place.
pub type BlockCounts = HashMap<(CrossingPlace, NodePort), Passed>;

/// Ends of wires: those that packets leave by, and those that they come to.
#[derive(Clone, Debug, Default)]
struct Wires {
    from: BTreeSet<NodePort>,
    to: BTreeSet<NodePort>,
}

/// The wires of paths, in groups that have no end in common.
fn groups(paths: &[&Path]) -> Vec<Wires> {
    let mut groups: Vec<Wires> = Vec::new();
    for wire in paths.iter().flat_map(|path| wires(path)) {
        let shares = |group: &mut Wires| group.from.contains(&wire.0) || group.to.contains(&wire.1);
        let mut joined = Wires::default();
        for group in groups.extract_if(.., shares) {
            joined.from.extend(group.from);
            joined.to.extend(group.to);
        }
        joined.from.insert(wire.0);
        joined.to.insert(wire.1);
        groups.push(joined);
    }
    groups
}

/// Each wire of a path: where packets leave, and where they arrive.
fn wires(path: &Path) -> impl Iterator<Item = (NodePort, NodePort)> {
    path.segments()
        .into_iter()
        .step_by(2)
        .map(|wire| (wire.from, wire.to))
}

/// The first place that this segment, given by its number in the way, has in one of the paths.
#[derive(Debug)]
struct CrossedSums<'a> {
    paths: &'a [&'a Path],
    by_place: BTreeMap<(usize, u8, bool), Crossed>,
    /// The routers on wires that said nothing, by path and the wire's place.
    unseen: BTreeMap<(usize, u8), u8>,
}

impl CrossedSums<'_> {
    /// Adds to the first path that has such a segment; others that have it show the same.
    fn add(&mut self, is_it: impl Fn(&Path, usize) -> bool, is_queue: bool, crossed: Crossed) {
        for (number, path) in self.paths.iter().enumerate() {
            let Some(at) = (0..path.segment_count()).find(|at| is_it(path, *at)) else {
                continue;
            };
            // Queues are named by the hop in front of their wire, which is not the first one.
            let place = if is_queue { at / 2 - 1 } else { at + 1 };
            let sum = self
                .by_place
                .entry((number, place as u8, is_queue))
                .or_default();
            sum.merge(crossed);
            return;
        }
    }

    fn done(self) -> Vec<PathCrossed> {
        let mut found: BTreeMap<usize, Vec<(CrossedPlace, Crossed)>> = BTreeMap::new();
        for ((number, place, is_queue), crossed) in self.by_place {
            let place = match is_queue {
                true => CrossedPlace::Queue(place),
                false => CrossedPlace::Segment(place),
            };
            found.entry(number).or_default().push((place, crossed));
        }
        let named = found.into_iter().filter_map(|(number, places)| {
            let path = (*self.paths.get(number)?).clone();
            let unseen = self.unseen.iter().filter(|((of, _), _)| *of == number);
            let unseen = unseen.map(|((_, place), routers)| (*place, *routers));
            Some(PathCrossed {
                path,
                places,
                unseen: unseen.collect(),
            })
        });
        named.collect()
    }
}

/// Returns the losses that are known of these blocks.
pub fn losses(paths: &[&Path], blocks: &[BlockCounts]) -> Vec<PathCrossed> {
    let groups = groups(paths);
    let mut sums = CrossedSums {
        paths,
        by_place: BTreeMap::new(),
        unseen: BTreeMap::new(),
    };
    for counts in blocks {
        let block = Block { paths, counts };
        for group in &groups {
            block.add_wires(group, &mut sums);
        }
        let hops = paths.iter().flat_map(|path| &path.hops).map(|hop| hop.node);
        for node in hops.collect::<BTreeSet<_>>() {
            block.add_box(node, &mut sums);
        }
        block.add_whole(&mut sums);
        block.add_unseen(&mut sums);
    }
    sums.done()
}

/// The counts of a block, and the paths that its packets took.
struct Block<'a> {
    paths: &'a [&'a Path],
    counts: &'a BlockCounts,
}

impl Block<'_> {
    fn at(&self, place: CrossingPlace, port: NodePort) -> Option<u64> {
        Some(self.counts.get(&(place, port))?.packets)
    }

    /// Where what leaves by this end of a wire is counted, and what comes to that one.
    fn leaving(&self, from: NodePort) -> (CrossingPlace, NodePort) {
        match self.paths.iter().any(|path| path.source == from) {
            true => (CrossingPlace::Tagged, from),
            false => (CrossingPlace::Departed, from),
        }
    }

    fn coming(&self, to: NodePort) -> (CrossingPlace, NodePort) {
        match self.paths.iter().any(|path| path.sink == to) {
            true => (CrossingPlace::Received, to),
            false => (CrossingPlace::Arrived, to),
        }
    }

    /// What left by this end of a wire, and what came to that one.
    fn left(&self, from: NodePort) -> Option<u64> {
        let (place, port) = self.leaving(from);
        self.at(place, port)
    }

    fn came(&self, to: NodePort) -> Option<u64> {
        let (place, port) = self.coming(to);
        self.at(place, port)
    }

    /// Each router takes one from the TTL, so the difference is known if all packets have the same at either end, whichever
    /// wires they took.
    fn add_unseen(&self, sums: &mut CrossedSums<'_>) {
        for (number, path) in self.paths.iter().enumerate() {
            for (at, (from, to)) in wires(path).enumerate() {
                let ttl = |place| self.counts.get(&place).and_then(|passed| passed.ttl);
                let (left, came) = (ttl(self.leaving(from)), ttl(self.coming(to)));
                let routers = left
                    .zip(came)
                    .and_then(|(left, came)| left.checked_sub(came));
                if let Some(routers) = routers {
                    sums.unseen.insert((number, 2 * at as u8 + 1), routers);
                }
            }
        }
    }

    fn add_wires(&self, group: &Wires, sums: &mut CrossedSums<'_>) {
        let left: Option<u64> = group.from.iter().map(|from| self.left(*from)).sum();
        let came: Option<u64> = group.to.iter().map(|to| self.came(*to)).sum();
        let one = group.from.len() == 1 && group.to.len() == 1;
        for from in &group.from {
            self.add_queue(*from, came.filter(|_| one), sums);
        }
        let (Some(left), Some(came)) = (left, came) else {
            return;
        };
        for from in &group.from {
            for to in &group.to {
                let is_it = |path: &Path, at: usize| {
                    at.is_multiple_of(2)
                        && path
                            .segments()
                            .get(at)
                            .is_some_and(|wire| (wire.from, wire.to) == (*from, *to))
                };
                // Of several wires each is named only if all packets of all of them came.
                let packets = match one {
                    true => left,
                    false if left == came => self
                        .left(*from)
                        .unwrap_or(0)
                        .min(self.came(*to).unwrap_or(0)),
                    false => continue,
                };
                let lost = if one { difference(left, came) } else { 0 };
                sums.add(is_it, false, Crossed { packets, lost });
            }
        }
    }

    /// The queue's packets are a part of those of its wire. What arrived behind the wire was sent, even if that was not seen.
    fn add_queue(&self, from: NodePort, came: Option<u64>, sums: &mut CrossedSums<'_>) {
        let (Some(departed), Some(sent)) = (
            self.at(CrossingPlace::Departed, from),
            self.at(CrossingPlace::Sent, from),
        ) else {
            return;
        };
        let is_it = |path: &Path, at: usize| {
            at > 0
                && at.is_multiple_of(2)
                && path
                    .segments()
                    .get(at)
                    .is_some_and(|wire| wire.from == from)
        };
        let lost = difference(departed, sent.max(came.unwrap_or(0)));
        sums.add(
            is_it,
            true,
            Crossed {
                packets: departed,
                lost,
            },
        );
    }

    /// What arrived at a box by any interface, and left it by any.
    fn add_box(&self, node: NodeId, sums: &mut CrossedSums<'_>) {
        let of = |wanted: CrossingPlace| {
            let all = self.counts.iter();
            all.filter(|((place, at), _)| *place == wanted && at.node == node)
                .map(|(_, passed)| passed.packets)
                .sum::<u64>()
        };
        // Packets came and went by all interfaces that paths name.
        let hops = || {
            self.paths
                .iter()
                .flat_map(|path| &path.hops)
                .filter(|hop| hop.node == node)
        };
        let port = |port| NodePort { node, port };
        let is_known = hops().all(|hop| {
            self.at(CrossingPlace::Arrived, port(hop.ingress_port))
                .is_some()
                && self
                    .at(CrossingPlace::Departed, port(hop.egress_port))
                    .is_some()
        });
        if !is_known {
            return;
        }
        let arrived = of(CrossingPlace::Arrived);
        let lost = difference(arrived, of(CrossingPlace::Departed));
        let is_it = |path: &Path, at: usize| {
            at % 2 == 1 && path.hops.get(at / 2).is_some_and(|hop| hop.node == node)
        };
        sums.add(
            is_it,
            false,
            Crossed {
                packets: arrived,
                lost,
            },
        );
    }

    /// The packets of the pair, from the source to the sink.
    fn add_whole(&self, sums: &mut CrossedSums<'_>) {
        let Some(first) = self.paths.first() else {
            return;
        };
        let of = |wanted: CrossingPlace, node: NodeId| {
            let all = self.counts.iter();
            let mut found = all
                .filter(|((place, at), _)| *place == wanted && at.node == node)
                .peekable();
            found.peek()?;
            Some(found.map(|(_, passed)| passed.packets).sum::<u64>())
        };
        let tagged = of(CrossingPlace::Tagged, first.source.node);
        let received = of(CrossingPlace::Received, first.sink.node);
        if let (Some(tagged), Some(received)) = (tagged, received) {
            let crossed = Crossed {
                packets: tagged,
                lost: difference(tagged, received),
            };
            sums.by_place
                .entry((0, 0, false))
                .or_default()
                .merge(crossed);
        }
    }
}

fn difference(came: u64, left: u64) -> i64 {
    came.cast_signed().saturating_sub(left.cast_signed())
}
