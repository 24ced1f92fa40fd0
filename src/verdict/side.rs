//! Whose side a fault is on: what the hosts at its place say of themselves.

use std::collections::BTreeMap;

use super::cells::Cells;
use super::named::Explanation;
use super::place::FaultPlace;
use super::recent::Recent;
use super::trust::Trust;
use crate::model::{CauseEvidence, CauseKind, CauseSubject, NodeId};

/// A host's queue in which packets wait longer on average explains delay, ns.
const QUEUE_NS: f64 = 500_000.0;
const QUEUE_SLOTS: usize = 4;
/// The share of the lost packets that a host drops if it is at fault.
const SHARE: f64 = 0.5;
/// A clock that was set shows by the same shift in both directions, of at least this and a share of the latency, ns.
const LEAST_SHIFT_NS: f64 = 5_000.0;
const SHIFT_SHARE: f64 = 0.25;
const UNLIKE: f64 = 0.35;
/// The share of a host's pairs that show it, each by at least this part of the shift, and the fewest pairs of a host.
const AGREE: f64 = 0.75;
const LIKE: f64 = 0.5;
const LEAST_PEERS: usize = 3;
/// Slots that show it.
const SHIFT_SLOTS: usize = 3;

/// A place, or the host that is at fault there, and how that is known.
#[derive(Debug)]
pub struct Sided {
    pub kind: CauseKind,
    pub subjects: Vec<CauseSubject>,
    pub some_flows: bool,
    pub evidence: Vec<CauseEvidence>,
}

/// What is known of a cause's place.
pub struct Witnesses<'a> {
    pub cells: &'a Cells,
    pub recent: &'a Recent,
    pub trust: &'a Trust,
    /// The slots of the cause.
    pub slots: usize,
}

impl Witnesses<'_> {
    pub fn side(&self, cause: &Explanation, place: &FaultPlace) -> Sided {
        let mut sided = Sided {
            kind: place.kind,
            subjects: place.subjects.clone(),
            some_flows: cause.some_flows,
            evidence: Vec::new(),
        };
        if cause.slow > 0.0
            && cause.loss == 0.0
            && let Some((node, shift_ns)) = self.clock_that_was_set(cause)
        {
            sided.kind = CauseKind::Clock;
            sided.subjects = vec![CauseSubject::Node(node)];
            sided.some_flows = false;
            let says = "latency to it changed by this, and from it by as much the other way";
            sided.evidence = vec![CauseEvidence::new("clock_shift_ns", Some(shift_ns), says)];
            return sided;
        }
        if let Some(node) = place.node() {
            self.at_host(cause, node, &mut sided);
        }
        self.between(cause, &mut sided);
        sided
    }

    /// What the host of a place says.
    fn at_host(&self, cause: &Explanation, node: NodeId, sided: &mut Sided) {
        let lost = self.lost(cause);
        let at = match sided.kind {
            CauseKind::HostOut | CauseKind::ClassOut => 0,
            CauseKind::HostIn | CauseKind::ClassIn => 1,
            _ => return,
        };
        if cause.loss > 0.0 {
            let Some(dropped) = self.dropped(node, at) else {
                let says = "it does not report drops";
                sided
                    .evidence
                    .push(CauseEvidence::new("host_drops", None, says));
                return;
            };
            if dropped >= SHARE * lost {
                let own = [CauseKind::HostDropsOut, CauseKind::HostDropsIn];
                sided.kind = own[at];
                sided.subjects = vec![CauseSubject::Node(node)];
                sided.evidence.push(CauseEvidence::new(
                    "host_drops",
                    Some(dropped),
                    "it dropped them itself",
                ));
                sided.evidence.extend(self.reason(node));
                return;
            }
            let says = "it dropped few of them, or none";
            sided
                .evidence
                .push(CauseEvidence::new("host_drops", Some(dropped), says));
            if at == 1 && self.trust.restarted().any(|one| one.node == node) {
                sided.kind = CauseKind::Restarted;
            }
        } else if at == 0 {
            let waits = self.recent.last(QUEUE_SLOTS);
            let waits = waits.filter_map(|slot| slot.hosts.get(&node.0)?.queue_ns);
            let (sum, slots) = waits.fold((0.0, 0.0), |(sum, slots), ns| {
                (sum + ns as f64, slots + 1.0)
            });
            let mean_ns = sum / f64::max(slots, 1.0);
            if mean_ns > QUEUE_NS {
                sided.kind = CauseKind::HostQueue;
                sided.subjects = vec![CauseSubject::Node(node)];
                let says = "nanoseconds that packets wait in its own queue";
                sided
                    .evidence
                    .push(CauseEvidence::new("host_queue_ns", Some(mean_ns), says));
            }
        }
    }

    /// A host that forwards, and dropped what is missing.
    fn between(&self, cause: &Explanation, sided: &mut Sided) {
        let is_network = !matches!(
            sided.kind,
            CauseKind::HostDropsIn | CauseKind::HostDropsOut | CauseKind::Restarted
        );
        if cause.loss == 0.0 || !is_network {
            return;
        }
        let mut dropped = BTreeMap::<u32, u64>::new();
        for slot in self.recent.last(self.slots) {
            for (node, host) in slot.hosts.iter().filter(|(_, host)| host.between > 0) {
                *dropped.entry(*node).or_default() += host.between;
            }
        }
        let Some((node, dropped)) = dropped.into_iter().max_by_key(|(_, dropped)| *dropped) else {
            return;
        };
        if dropped as f64 >= SHARE * self.lost(cause) {
            sided.kind = CauseKind::Hop;
            sided.subjects.insert(0, CauseSubject::Node(NodeId(node)));
            let says = "this host, which forwards them, dropped them";
            sided.evidence.push(CauseEvidence::new(
                "dropped_between",
                Some(dropped as f64),
                says,
            ));
            sided.evidence.extend(self.reason(NodeId(node)));
        }
    }

    /// Why a host dropped packets.
    fn reason(&self, node: NodeId) -> Option<CauseEvidence> {
        let mut slots = self.recent.last(self.slots).rev();
        let reason = slots.find_map(|slot| slot.hosts.get(&node.0)?.reason.as_deref())?;
        Some(CauseEvidence::new("drop_reason", None, reason))
    }

    fn lost(&self, cause: &Explanation) -> f64 {
        let lost = self
            .recent
            .last(self.slots)
            .flat_map(|slot| cause.cells.iter().filter_map(|cell| slot.cells.get(cell)));
        lost.map(|cell| cell.packets.lost).sum()
    }

    /// Packets that a host dropped; `None`: it does not report drops.
    fn dropped(&self, node: NodeId, at: usize) -> Option<f64> {
        let slots = self.recent.last(self.slots);
        let dropped = slots.filter_map(|slot| slot.hosts.get(&node.0)?.dropped);
        dropped
            .map(|each| each[at] as f64)
            .reduce(|sum, more| sum + more)
    }

    /// The host to which all became slower, and from which faster by as much, or the reverse: no network does that.
    /// Most of the packets that are slow must be its own.
    fn clock_that_was_set(&self, cause: &Explanation) -> Option<(NodeId, f64)> {
        let mut shifts = BTreeMap::<NodeId, [Vec<f64>; 2]>::new();
        for (cell, shift_ns) in self.shifts() {
            let id = self.cells.id(cell);
            shifts.entry(id.sink).or_default()[0].push(shift_ns);
            shifts.entry(id.source).or_default()[1].push(shift_ns);
        }
        let noise_ns = LEAST_SHIFT_NS.max(SHIFT_SHARE * self.usual_ns());
        // A host of a small network has few peers.
        let least = LEAST_PEERS.min(shifts.len().saturating_sub(1));
        let mut found: Option<(f64, NodeId, f64)> = None;
        for (node, [mut into, mut out]) in shifts {
            if into.len() < least || out.len() < least || !self.is_about(cause, node) {
                continue;
            }
            let weight = ((into.len() + out.len()) as f64).sqrt();
            let (a, b) = (median(&mut into), median(&mut out));
            let both = a.abs().min(b.abs());
            let agree = |shifts: &[f64], shift: f64| {
                let like = shifts.iter().filter(|one| *one / shift > LIKE);
                like.count() as f64 >= AGREE * shifts.len() as f64
            };
            let is_set = a * b < 0.0
                && both > noise_ns
                && (a + b).abs() < UNLIKE * (a.abs() + b.abs())
                && agree(&into, a)
                && agree(&out, b);
            if is_set && found.is_none_or(|(most, ..)| both * weight > most) {
                found = Some((both * weight, node, a));
            }
        }
        found.map(|(_, node, shift_ns)| (node, shift_ns))
    }

    /// True if most of the cells that show a cause are a host's.
    fn is_about(&self, cause: &Explanation, node: NodeId) -> bool {
        let own = cause.own.iter().filter(|cell| {
            let id = self.cells.id(**cell);
            id.source == node || id.sink == node
        });
        own.count() * 2 >= cause.own.len()
    }

    /// By how much the fastest packets of each cell take longer than usual; if some are below 0, which sinks do not
    /// tell apart, by how much the mean does.
    fn shifts(&self) -> Vec<(usize, f64)> {
        let mut sums = BTreeMap::<usize, (f64, f64)>::new();
        for slot in self.recent.last(SHIFT_SLOTS) {
            for (cell, one) in &slot.cells {
                let Some((p05_ns, mean_ns)) = self.cells.get(*cell).usual.p05_and_mean_ns() else {
                    continue;
                };
                let shift_ns = match (one.p05_ns, one.mean_ns) {
                    (Some(now_ns), _) => now_ns - p05_ns,
                    (None, Some(now_ns)) => now_ns - mean_ns,
                    (None, None) => continue,
                };
                let sum = sums.entry(*cell).or_default();
                *sum = (sum.0 + shift_ns as f64, sum.1 + 1.0);
            }
        }
        let mean = |(cell, (sum, slots)): (usize, (f64, f64))| (cell, sum / slots);
        sums.into_iter().map(mean).collect()
    }

    fn usual_ns(&self) -> f64 {
        let mut usual: Vec<f64> = (self.cells.each())
            .filter_map(|(_, cell)| cell.usual.p05_and_mean_ns())
            .map(|(ns, _)| ns as f64)
            .collect();
        if usual.is_empty() {
            0.0
        } else {
            median(&mut usual)
        }
    }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
