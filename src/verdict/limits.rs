//! Packets beyond the limits that users set, whatever is usual for them.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use super::cells::{Cells, packets_of};
use super::host_causes::empty_cause;
use super::likelihood::PacketSums;
use super::named::Explanation;
use super::recent::Recent;
use crate::model::{
    CauseKind, CauseLimit, CauseMetric, CauseSide, CauseSubject, CellId, LimitInForce,
    NetworkCause, NetworkVerdict, SharedBy, TrafficFigures, VERDICT_SLOT_NS, VerdictSlot,
    VerdictState,
};

/// Packets are beyond a limit if those of the last minute are, and those of five minutes.
const SHORT_SLOTS: usize = 6;
const LONG_SLOTS: usize = 30;
/// Bad packets that it takes, and the share of slow ones that a limit of latency allows.
const LEAST_BAD: f64 = 20.0;
const SLOW_SHARE: f64 = 0.01;

/// The strictest limit of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
struct CellLimit {
    latency_ns: Option<u64>,
    loss: Option<f64>,
    /// The first rule that gives one.
    rule: usize,
}

#[derive(Debug)]
struct LimitedCell {
    limit: CellLimit,
    slots: VecDeque<PacketSums>,
    /// Since when it is beyond, and the slots since the last minute was.
    beyond: Option<(u64, usize)>,
}

/// All cells that have a limit.
#[derive(Debug, Default)]
pub struct LimitWatch {
    rules: Vec<LimitInForce>,
    /// The number of cells that were looked at.
    seen: usize,
    cells: BTreeMap<usize, LimitedCell>,
}

impl LimitInForce {
    fn has(&self, id: &CellId) -> bool {
        let fits = |nodes: &Option<_>, node| {
            let nodes: Option<&std::collections::BTreeSet<_>> = nodes.as_ref();
            nodes.is_none_or(|nodes| nodes.contains(&node))
        };
        (self.class.is_none() || self.class == id.class)
            && fits(&self.from, id.source)
            && fits(&self.to, id.sink)
    }
}

/// The strictest of these limits for a cell.
fn limit_of(id: &CellId, rules: &[LimitInForce]) -> Option<CellLimit> {
    let mut found: Option<CellLimit> = None;
    for (rule, one) in rules.iter().enumerate().filter(|(_, one)| one.has(id)) {
        let known = found.get_or_insert(CellLimit {
            latency_ns: None,
            loss: None,
            rule,
        });
        known.latency_ns = strictest(known.latency_ns, one.latency_ns, u64::min);
        known.loss = strictest(known.loss, one.loss, f64::min);
    }
    found
}

fn strictest<T: Copy>(one: Option<T>, other: Option<T>, min: impl Fn(T, T) -> T) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(min(one, other)),
        (one, other) => one.or(other),
    }
}

impl LimitedCell {
    fn sum(&self, slots: usize) -> PacketSums {
        let mut sum = PacketSums::default();
        let skipped = self.slots.len().saturating_sub(slots);
        (self.slots.iter().skip(skipped)).for_each(|one| sum.add(*one));
        sum
    }

    fn metrics(&self, slots: usize) -> [bool; 2] {
        let sum = self.sum(slots);
        let is_lossy = (self.limit.loss)
            .is_some_and(|loss| sum.lost >= LEAST_BAD && sum.lost > loss * sum.sent);
        [
            is_lossy,
            sum.slow >= LEAST_BAD && sum.slow > SLOW_SHARE * sum.judged,
        ]
    }

    fn push(&mut self, packets: PacketSums, end_ns: u64) {
        self.slots.push_back(packets);
        if self.slots.len() > LONG_SLOTS {
            self.slots.pop_front();
        }
        let short = self.metrics(SHORT_SLOTS).contains(&true);
        let long = self.metrics(LONG_SLOTS).contains(&true);
        let has_begun = short && long && self.slots.len() >= SHORT_SLOTS;
        self.beyond = match self.beyond {
            Some((since_ns, calm)) => {
                let calm = if short { 0 } else { calm + 1 };
                (long && calm < SHORT_SLOTS).then_some((since_ns, calm))
            }
            None => has_begun.then_some((
                end_ns.saturating_sub(SHORT_SLOTS as u64 * VERDICT_SLOT_NS),
                0,
            )),
        };
    }
}

impl LimitWatch {
    pub fn see(&mut self, slot: &VerdictSlot, cells: &Cells) {
        let count = cells.each().count();
        if slot.limits != self.rules || count != self.seen {
            self.rules.clone_from(&slot.limits);
            self.seen = count;
            let mut before = std::mem::take(&mut self.cells);
            for (cell, (id, _)) in cells.each().enumerate() {
                let Some(limit) = limit_of(id, &self.rules) else {
                    continue;
                };
                let known = before.remove(&cell).filter(|one| one.limit == limit);
                let new = || LimitedCell {
                    limit,
                    slots: VecDeque::new(),
                    beyond: None,
                };
                self.cells.insert(cell, known.unwrap_or_else(new));
            }
        }
        for (cell, one) in &mut self.cells {
            let growth = slot.cells.get(cells.id(*cell));
            let packets = growth.map_or_else(PacketSums::default, |growth| {
                let limit_ns = one.limit.latency_ns.zip(growth.clocks_ns);
                let limit_ns = limit_ns.map(|(ns, (_, error_ns))| (ns + error_ns) as f64);
                packets_of(growth, limit_ns)
            });
            one.push(packets, slot.end_ns);
        }
    }

    /// The strictest limit of these cells; `None`: one of them has none.
    fn limit_of_all(&self, cells: &[usize]) -> Option<CauseLimit> {
        let mut all = CauseLimit::default();
        for cell in cells {
            let one = self.cells.get(cell)?;
            all.latency_ns = strictest(all.latency_ns, one.limit.latency_ns, u64::min);
            all.loss = strictest(all.loss, one.limit.loss, f64::min);
            all.exceeded |= one.beyond.is_some();
        }
        Some(all)
    }

    /// Says what is beyond its limit, and takes the blame from what is within it.
    pub fn apply(
        &self,
        verdict: &mut NetworkVerdict,
        named: (&[Explanation], &[NetworkCause]),
        (cells, recent): (&Cells, &Recent),
    ) {
        verdict.limits.clone_from(&self.rules);
        if verdict.state == VerdictState::CannotTell || self.cells.is_empty() {
            return;
        }
        let mut explained = HashSet::<usize>::new();
        for cause in &mut verdict.causes {
            let mut known = named.0.iter().zip(named.1);
            let Some((explanation, _)) = known.find(|(_, known)| known.is_same_place(cause)) else {
                continue;
            };
            explained.extend(&explanation.cells);
            cause.limit = self.limit_of_all(&explanation.own);
            if let Some(limit) = &mut cause.limit {
                limit.exceeded |= is_beyond(cause.now, cause.usual.is_corrected, *limit);
            }
        }
        let is_blamed = |cause: &NetworkCause| {
            let is_of_packets = matches!(cause.side, CauseSide::Network | CauseSide::Host);
            !is_of_packets || cause.limit.is_none_or(|limit| limit.exceeded)
        };
        let causes = std::mem::take(&mut verdict.causes);
        let (mut causes, mut notes): (Vec<_>, Vec<_>) = causes.into_iter().partition(is_blamed);
        let beyond = self.beyond(&explained, (cells, recent));
        let has_beyond = !beyond.is_empty();
        if causes.is_empty() && !notes.is_empty() && !has_beyond {
            verdict.state = VerdictState::Healthy;
        } else if has_beyond && verdict.state != VerdictState::Degraded {
            causes.splice(0..0, beyond);
            verdict.state = VerdictState::Degraded;
        } else {
            causes.extend(beyond);
        }
        notes.append(&mut verdict.notes);
        (verdict.causes, verdict.notes) = (causes, notes);
    }

    /// A cause for each rule that packets are beyond, but for those that are explained.
    fn beyond(&self, explained: &HashSet<usize>, known: (&Cells, &Recent)) -> Vec<NetworkCause> {
        let mut of_rule = HashMap::<usize, Vec<usize>>::new();
        for (cell, one) in &self.cells {
            if one.beyond.is_some() && !explained.contains(cell) {
                of_rule.entry(one.limit.rule).or_default().push(*cell);
            }
        }
        let mut rules: Vec<_> = of_rule.into_iter().collect();
        rules.sort_unstable();
        let causes = rules.into_iter();
        causes
            .filter_map(|(rule, beyond)| self.cause_of(rule, &beyond, known))
            .collect()
    }

    fn cause_of(
        &self,
        rule: usize,
        beyond: &[usize],
        (cells, recent): (&Cells, &Recent),
    ) -> Option<NetworkCause> {
        let since_ns = |cell: &usize| Some((self.cells.get(cell)?.beyond?.0, *cell));
        let (since_ns, first) = beyond.iter().filter_map(since_ns).min()?;
        let id = cells.id(first);
        let mut subjects = vec![CauseSubject::Node(id.source), CauseSubject::Node(id.sink)];
        if id.class.is_some() {
            subjects.push(CauseSubject::Class(id.class.clone()));
        }
        let mut sum = PacketSums::default();
        let mut metrics = [false; 2];
        for one in beyond.iter().filter_map(|cell| self.cells.get(cell)) {
            sum.add(one.sum(LONG_SLOTS));
            let own = one.metrics(LONG_SLOTS);
            metrics = [metrics[0] || own[0], metrics[1] || own[1]];
        }
        let latency = recent.latency(beyond);
        let limit = self.cells.get(&first)?.limit;
        let all = self.cells.values().filter(|one| one.limit.rule == rule);
        let each = [CauseMetric::Loss, CauseMetric::Latency];
        let metric = each.into_iter().zip(metrics).filter(|(_, is_bad)| *is_bad);
        Some(NetworkCause {
            since_ns,
            metric: metric.map(|(metric, _)| metric).collect(),
            now: TrafficFigures {
                packets: sum.sent as u64,
                lost: sum.lost as u64,
                loss: sum.lost / sum.sent.max(1.0),
                slow: sum.slow / sum.judged.max(1.0),
                p50_ns: latency.quantile(0.5),
                p99_ns: latency.quantile(0.99),
            },
            usual: cells.get(first).usual.figures(),
            limit: Some(CauseLimit {
                latency_ns: limit.latency_ns,
                loss: limit.loss,
                exceeded: true,
            }),
            shared: SharedBy {
                bad_cells: beyond.len() as u64,
                cells: all.count() as u64,
                ..SharedBy::default()
            },
            ..empty_cause(CauseKind::BeyondLimit, subjects)
        })
    }
}

/// True if these packets are beyond a limit.
fn is_beyond(now: TrafficFigures, is_corrected: bool, limit: CauseLimit) -> bool {
    let is_slow = limit.latency_ns.is_some_and(|most_ns| {
        is_corrected && now.p99_ns.is_some_and(|ns| ns > most_ns.cast_signed())
    });
    is_slow || limit.loss.is_some_and(|loss| now.loss > loss)
}
