//! Judges one slot after the other.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::cells::Cells;
use super::evidence::{cause_of, now_of};
use super::explain::Explaining;
use super::host_causes;
use super::limits::LimitWatch;
use super::named::{Explanation, is_over};
use super::past::KnownPast;
use super::places::FaultPlaces;
use super::reach::Reach;
use super::recent::{CellInSlot, HostPast, RECENT_SLOTS, Recent};
use super::side::Witnesses;
use super::trust::Trust;
use crate::model::{
    CauseKind, CauseSide, CauseSubject, FirstCause, JudgedTraffic, NetworkCause, NetworkVerdict,
    NodeId, PairUsuals, VERDICT_SLOT_NS, VerdictSlot, VerdictState,
};

/// Slots without a bad one, after which a cause is over whatever its evidence.
const CLEAN_SLOTS: u32 = 6;
/// A cause is looked for again in each slot at first, and then in each sixth.
const FIRST_SLOTS: usize = 12;
const LATER_SLOTS: usize = 6;
/// Slots before the alarm that are explained, too.
const SLOTS_BEFORE: usize = 8;
/// Another first cause is named if it is found this number of times in a row.
const RIVAL_TIMES: u32 = 2;

/// The causes that are being named.
#[derive(Debug, Default)]
struct NamedCauses {
    explanations: Vec<Explanation>,
    causes: Vec<NetworkCause>,
    /// Single slots show it, and not only their sum.
    is_quick: bool,
    clean: u32,
}

/// All that is remembered from one slot to the next.
#[derive(Debug, Default)]
pub struct VerdictEngine {
    cells: Cells,
    places: FaultPlaces,
    recent: Recent,
    trust: Trust,
    reach: Reach,
    limits: LimitWatch,
    named: Option<NamedCauses>,
    /// Slots since something is suspected.
    alarmed: usize,
    rival: Option<(NetworkCause, u32)>,
    /// The last state and first cause, and since when they are so.
    last: Option<(VerdictState, FirstCause, u64)>,
    /// The first times of what is named, by kind and place.
    firsts: Vec<(CauseKind, Vec<CauseSubject>, u64)>,
}

impl VerdictEngine {
    /// Takes what a history knows of the past.
    pub fn know(&mut self, past: KnownPast) {
        self.cells.know(past);
    }

    /// What the packets of these causes are now is usual from now on. Returns how many causes there were.
    pub fn accept(&mut self, is_meant: impl Fn(&NetworkCause) -> bool) -> usize {
        let Some(named) = &self.named else {
            return 0;
        };
        let each = named.explanations.iter().zip(&named.causes);
        let meant: Vec<_> = each.filter(|(_, cause)| is_meant(cause)).collect();
        for (explanation, _) in &meant {
            for cell in &explanation.cells {
                let (packets, latency) = self.recent.of_cell(*cell);
                self.cells.accept(*cell, packets, latency);
            }
        }
        let accepted = meant.len();
        if accepted > 0 {
            self.places.forget();
            self.named = None;
            self.alarmed = 0;
        }
        accepted
    }

    /// Judges the next ten seconds.
    pub fn slot(&mut self, slot: &VerdictSlot) -> NetworkVerdict {
        if self.cells.is_full_of_idle() {
            (self.places, self.recent, self.named) = Default::default();
            self.limits = LimitWatch::default();
            self.cells.forget_idle(&mut self.places);
        }
        self.trust.see(slot);
        self.reach.see(slot, &self.trust);
        self.cells.see(slot, &mut self.places);
        self.limits.see(slot, &self.cells);
        self.places.begin_slot();
        let left_out = self.trust.unreported();
        let (mut past, latencies) =
            (self.cells).count(slot, &left_out, (&mut self.places, &mut self.recent));
        self.places.end_slot();
        for (node, host) in &slot.hosts {
            past.hosts.insert(
                node.0,
                HostPast {
                    dropped: host.dropped,
                    between: host.dropped_between,
                    reason: host.drop_reason.clone(),
                    queue_ns: host.queue_ns,
                },
            );
        }
        let judged = self.judged(slot, &past.cells);
        let suspects = self.places.suspects(self.places.alarm() / 2.0);
        let suspects = HashSet::from_iter(suspects);
        let clocks = self.named_clocks();
        self.cells.learn(slot, &latencies, (&suspects, &clocks));
        self.recent.push(past, latencies);
        let mut verdict = self.decide(slot);
        let named = self.named.as_ref();
        let named = named.map(|named| (&named.explanations[..], &named.causes[..]));
        let known = (&self.cells, &self.recent);
        (self.limits).apply(&mut verdict, named.unwrap_or_default(), known);
        verdict.as_of_ns = slot.end_ns;
        verdict.judged = judged;
        self.date(&mut verdict);
        verdict
    }

    /// What is usual for each pair.
    pub fn usuals(&self) -> PairUsuals {
        self.cells.usuals()
    }

    fn named_clocks(&self) -> Vec<NodeId> {
        let named = self.named.iter().flat_map(|named| &named.causes);
        let clocks = named.filter(|cause| cause.kind == CauseKind::Clock);
        clocks.filter_map(|cause| cause.node()).collect()
    }

    fn judged(&self, slot: &VerdictSlot, cells: &HashMap<usize, CellInSlot>) -> JudgedTraffic {
        let pair = |cell: &usize| {
            let id = self.cells.id(*cell);
            (id.source, id.sink)
        };
        let pairs: BTreeSet<_> = cells.keys().map(pair).collect();
        let with_latency = cells.iter().filter(|(_, one)| one.packets.judged > 0.0);
        let latency_pairs: BTreeSet<_> = with_latency.map(|(cell, _)| pair(cell)).collect();
        let packets = cells.values().map(|one| one.packets.sent as u64).sum();
        let lost = cells.values().map(|one| one.packets.lost as u64).sum();
        JudgedTraffic {
            pairs: pairs.len() as u64,
            latency_pairs: latency_pairs.len() as u64,
            hosts: slot.hosts.len() as u64,
            reporting: slot.hosts.values().filter(|host| host.reports).count() as u64,
            packets,
            lost,
            usual_ns: u64::from(self.cells.usual_slots()) * VERDICT_SLOT_NS,
            usual_days: self.cells.usual_days(),
        }
    }

    fn decide(&mut self, slot: &VerdictSlot) -> NetworkVerdict {
        if self.trust.is_behind() {
            // What was counted meanwhile is no evidence.
            self.places.forget();
            self.named = None;
            self.alarmed = 0;
            return host_causes::behind(&self.trust);
        }
        let mut gone = host_causes::gone(&self.trust);
        let unreached = self.reach.causes(slot).into_iter();
        gone.extend(unreached.filter(|cause| cause.side != CauseSide::Measurement));
        if !gone.is_empty() {
            return NetworkVerdict {
                state: VerdictState::Degraded,
                causes: gone,
                ..NetworkVerdict::default()
            };
        }
        let mut alarmed = self.places.suspects(self.places.alarm());
        if self.is_named_over() {
            // What else is suspected mostly had the same packets; what had not will be again.
            self.places.forget();
            self.named = None;
            alarmed.clear();
        }
        if alarmed.is_empty() && self.named.is_none() {
            self.alarmed = 0;
            return self.without_cause(slot);
        }
        self.alarmed += 1;
        self.explain(&alarmed);
        match &self.named {
            Some(named) => {
                let first = named.causes.first().map(|cause| cause.side);
                let state = match first {
                    Some(CauseSide::Measurement) => VerdictState::Measurement,
                    Some(CauseSide::Event) => VerdictState::Healthy,
                    _ => VerdictState::Degraded,
                };
                let causes = named.causes.clone();
                let (causes, notes) = match state {
                    VerdictState::Healthy => (Vec::new(), causes),
                    _ => (causes, Vec::new()),
                };
                NetworkVerdict {
                    state,
                    causes,
                    notes,
                    ..NetworkVerdict::default()
                }
            }
            None => self.without_cause(slot),
        }
    }

    fn is_named_over(&mut self) -> bool {
        let Some(named) = &mut self.named else {
            return false;
        };
        let Some(first) = named.explanations.first() else {
            return true;
        };
        let evidence = match named.is_quick {
            true => self.places.quick_evidence(first.place),
            false => self.places.evidence(first.place),
        };
        let is_bad = !named.is_quick || self.places.is_bad_now(first.place);
        named.clean = if is_bad { 0 } else { named.clean + 1 };
        is_over(evidence) || named.clean >= CLEAN_SLOTS
    }

    /// Looks for what explains the bad packets, unless that was done a short while ago.
    fn explain(&mut self, alarmed: &[usize]) {
        let age = self.alarmed - 1;
        let slots = (age + SLOTS_BEFORE)
            .clamp(6, RECENT_SLOTS)
            .min(self.recent.len());
        let is_due = self.named.is_none() || age <= FIRST_SLOTS || age.is_multiple_of(LATER_SLOTS);
        let witnesses = Witnesses {
            cells: &self.cells,
            recent: &self.recent,
            trust: &self.trust,
            slots,
        };
        let mut found = Vec::new();
        if is_due {
            let allowed = self.places.suspects(self.places.alarm() / 2.0);
            let explaining = Explaining::of(&self.cells, &self.places, &self.recent, slots);
            found = explaining.best(&allowed, alarmed);
        }
        let mut causes: Vec<NetworkCause> = found
            .iter()
            .map(|one| {
                let sided = witnesses.side(one, self.places.place(one.place));
                cause_of(one, sided, &self.places, &witnesses)
            })
            .collect();
        drop_rival(self.named.as_ref(), &mut self.rival, &mut causes);
        if causes.is_empty() {
            if let Some(named) = &mut self.named {
                for (one, cause) in named.explanations.iter().zip(&mut named.causes) {
                    cause.now = now_of(one, cause, &witnesses);
                }
            }
            return;
        }
        let is_quick = !is_over(self.places.quick_evidence(found[0].place));
        let clean = self.named.as_ref().map_or(0, |named| named.clean);
        self.named = Some(NamedCauses {
            explanations: found,
            causes,
            is_quick,
            clean,
        });
    }

    fn without_cause(&self, slot: &VerdictSlot) -> NetworkVerdict {
        let has_traffic = self.recent.last(6).any(|slot| !slot.cells.is_empty());
        let mut verdict = host_causes::without_cause(&self.trust, has_traffic);
        let unreached = self.reach.causes(slot);
        if !unreached.is_empty() {
            verdict.state = VerdictState::Measurement;
            verdict.cannot_tell.clear();
            verdict.causes.extend(unreached);
        }
        verdict
    }

    /// Sets since when it is so, and names causes by it.
    fn date(&mut self, verdict: &mut NetworkVerdict) {
        let mut firsts = Vec::new();
        for cause in verdict.causes.iter_mut().chain(&mut verdict.notes) {
            let known = self
                .firsts
                .iter()
                .find(|(kind, subjects, _)| (*kind, subjects) == (cause.kind, &cause.subjects));
            match known {
                Some((.., since_ns)) => cause.since_ns = *since_ns,
                None if cause.since_ns == 0 => cause.since_ns = verdict.as_of_ns - VERDICT_SLOT_NS,
                None => {}
            }
            let node = cause
                .node()
                .map_or(String::new(), |node| format!(":{}", node.0));
            cause.id = format!(
                "{}{node}:{}",
                cause.kind.name(),
                cause.since_ns / 1_000_000_000
            );
            firsts.push((cause.kind, cause.subjects.clone(), cause.since_ns));
        }
        self.firsts = firsts;
        let first = verdict.causes.first();
        let now = (verdict.state, verdict.first_cause());
        let since_ns = match (&self.last, first) {
            (_, Some(cause)) => cause.since_ns,
            (Some((state, cause, since_ns)), _) if (*state, cause) == (now.0, &now.1) => *since_ns,
            _ => verdict.as_of_ns.saturating_sub(VERDICT_SLOT_NS),
        };
        verdict.since_ns = since_ns;
        self.last = Some((now.0, now.1, since_ns));
    }
}

/// The words change only if another cause is found twice in a row.
fn drop_rival(
    named: Option<&NamedCauses>,
    rival: &mut Option<(NetworkCause, u32)>,
    causes: &mut Vec<NetworkCause>,
) {
    let named = named.and_then(|named| named.causes.first());
    let (Some(named), Some(first)) = (named, causes.first()) else {
        return;
    };
    if named.is_same_place(first) {
        *rival = None;
        return;
    }
    let times = match rival {
        Some((known, times)) if known.is_same_place(first) => *times + 1,
        _ => 1,
    };
    if times < RIVAL_TIMES {
        *rival = Some((first.clone(), times));
        causes.clear();
    } else {
        *rival = None;
    }
}
