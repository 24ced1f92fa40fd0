//! Hosts that reach each other no more. No packet tells of it: what is lost altogether leaves no gap in any numbers. But
//! leases end on both sides, while packets are sent and reports arrive.

use std::collections::{BTreeMap, BTreeSet};

use super::host_causes::empty_cause;
use super::trust::Trust;
use crate::model::{
    CauseEvidence, CauseKind, CauseSide, CauseSubject, Confidence, NetworkCause, NodeId, NodePair,
    SharedBy, VERDICT_SLOT_NS, VerdictSlot,
};

/// Slots in which no packet is measured, from which on it is said. A restart may take two.
const CUT_SLOTS: u32 = 3;
/// One that was cut off for longer is not expected any more: half an hour.
const LONG_CUT_SLOTS: u32 = 180;
/// Pairs from which on a place explains them.
const FEW_PAIRS: usize = 2;
/// Pairs that are named one by one, if no place explains them.
const MOST_NAMED: usize = 3;

/// A pair that does not reach each other.
#[derive(Clone, Copy, Debug)]
struct Cut {
    slots: u32,
    both_ways: bool,
    /// It had packets in the last slot.
    is_now: bool,
}

/// The pairs that do not reach each other.
#[derive(Debug, Default)]
pub struct Reach {
    cut: BTreeMap<NodePair, Cut>,
    reached: BTreeSet<NodePair>,
}

impl Reach {
    pub fn see(&mut self, slot: &VerdictSlot, trust: &Trust) {
        let without_reports: BTreeSet<NodeId> = trust.unreported().into_iter().collect();
        let began = trust.restarted().map(|one| one.node);
        let left_out: BTreeSet<NodeId> = began.chain(without_reports).collect();
        self.reached.clear();
        for cut in self.cut.values_mut() {
            cut.slots += 1;
            cut.is_now = false;
        }
        for (pair, reach) in &slot.reach {
            if reach.reached {
                self.cut.remove(pair);
                self.reached.insert(*pair);
            } else if pair.ends().iter().all(|end| !left_out.contains(end)) {
                let cut = self.cut.entry(*pair).or_insert(Cut {
                    slots: 1,
                    both_ways: reach.both_ways,
                    is_now: true,
                });
                cut.is_now = true;
            }
        }
        // Hosts that send nothing more, or report nothing, cannot show it.
        self.cut.retain(|pair, cut| {
            let ends = pair.ends();
            let is_known = ends.iter().all(|end| !left_out.contains(end));
            cut.slots < LONG_CUT_SLOTS && is_known && (cut.is_now || cut.slots > CUT_SLOTS)
        });
    }

    /// The causes that these pairs have in common.
    pub fn causes(&self, slot: &VerdictSlot) -> Vec<NetworkCause> {
        let cut = self.cut.iter().filter(|(_, cut)| cut.slots >= CUT_SLOTS);
        let mut left: BTreeMap<NodePair, Cut> = cut.map(|(pair, cut)| (*pair, *cut)).collect();
        let mut causes = Vec::new();
        if left.is_empty() {
            return causes;
        }
        if self.reached.is_empty() && left.len() > FEW_PAIRS {
            return vec![cause(Vec::new(), &left, slot)];
        }
        for subject in labels_of(slot) {
            let crossing = |pair: &NodePair| {
                let [one, other] = pair.ends().map(|end| is_in(slot, end, &subject));
                one != other
            };
            let inside =
                |pair: &&NodePair| pair.ends().iter().all(|end| is_in(slot, *end, &subject));
            let is_whole = !self.reached.iter().any(crossing);
            if is_whole && self.reached.iter().any(|pair| inside(&pair)) {
                take(
                    &mut left,
                    vec![subject.clone()],
                    crossing,
                    slot,
                    &mut causes,
                );
            }
        }
        let hosts: BTreeSet<NodeId> = left.keys().flat_map(|pair| pair.ends()).collect();
        for host in hosts {
            let has = |pair: &NodePair| pair.other(host).is_some();
            if !self.reached.iter().any(has) {
                let subject = vec![CauseSubject::Node(host)];
                take(&mut left, subject, has, slot, &mut causes);
            }
        }
        for (pair, cut) in left.iter().take(MOST_NAMED) {
            let subjects = pair.ends().map(CauseSubject::Node).to_vec();
            let alone = [(*pair, *cut)].into();
            causes.push(cause(subjects, &alone, slot));
        }
        causes
    }
}

/// Takes the pairs that a place explains, if they are several.
fn take(
    left: &mut BTreeMap<NodePair, Cut>,
    subjects: Vec<CauseSubject>,
    is_there: impl Fn(&NodePair) -> bool,
    slot: &VerdictSlot,
    causes: &mut Vec<NetworkCause>,
) {
    let there: BTreeMap<NodePair, Cut> = left
        .iter()
        .filter(|(pair, _)| is_there(pair))
        .map(|(pair, cut)| (*pair, *cut))
        .collect();
    if there.len() >= FEW_PAIRS {
        left.retain(|pair, _| !there.contains_key(pair));
        causes.push(cause(subjects, &there, slot));
    }
}

fn cause(
    subjects: Vec<CauseSubject>,
    pairs: &BTreeMap<NodePair, Cut>,
    slot: &VerdictSlot,
) -> NetworkCause {
    let slots = pairs.values().map(|cut| cut.slots).max().unwrap_or(0);
    let mut cause = empty_cause(CauseKind::Unreached, subjects);
    // What was tagged is reported in the slot after it.
    cause.since_ns = slot
        .end_ns
        .saturating_sub(u64::from(slots + 1) * VERDICT_SLOT_NS);
    // A sink that was stopped looks the same to one that only sends.
    if !pairs.values().any(|cut| cut.both_ways) {
        cause.side = CauseSide::Measurement;
    }
    cause.shared = SharedBy {
        bad: pairs.len() as u64,
        all: pairs.len() as u64,
        ..SharedBy::default()
    };
    let says = "pairs of hosts that send to each other, and get no answer";
    cause.evidence = vec![CauseEvidence::new("now", Some(pairs.len() as f64), says)];
    cause.confidence = Confidence::Likely;
    cause
}

fn is_in(slot: &VerdictSlot, node: NodeId, subject: &CauseSubject) -> bool {
    let CauseSubject::Label { label, value } = subject else {
        return false;
    };
    let host = slot.hosts.get(&node);
    host.is_some_and(|host| host.labels.get(label) == Some(value))
}

/// All labels of hosts, with their values.
fn labels_of(slot: &VerdictSlot) -> BTreeSet<CauseSubject> {
    let labels = slot.hosts.values().flat_map(|host| &host.labels);
    let subject = |(label, value): (&String, &String)| CauseSubject::Label {
        label: label.clone(),
        value: value.clone(),
    };
    labels.map(subject).collect()
}
