//! Which places explain the bad packets: the smallest set that makes them likely.

use std::collections::{HashMap, HashSet};

use super::cells::Cells;
use super::likelihood::{Border, LOSS_GRID, PacketSums, SLOW_GRID};
use super::named::Explanation;
use super::places::FaultPlaces;
use super::recent::Recent;
use crate::model::FLOW_PARTS;

/// No cell says more: a place must explain many cells, and not one very well.
const MOST_OF_CELL: f64 = 60.0;
/// Steps by which the shares of lost and of slow packets of one place's cells may differ.
const LOSS_NEAR: usize = 2;
const SLOW_NEAR: usize = 2;
/// The share of parts of flows that are bad where some flows are.
const SOME: f64 = 0.3;
/// The least gain of the first cause, and of a further one; a further one needs a share of the first, too.
const FIRST: f64 = 15.0;
const FURTHER: f64 = 25.0;
const SHARE_OF_FIRST: f64 = 0.03;
const MOST_CAUSES: usize = 4;
/// Bad packets, and flows, that a cause needs.
const LEAST_BAD: f64 = 20.0;
const LEAST_FLOWS: u32 = 3;
/// Others that are nearly as likely.
const MOST_OTHERS: usize = 3;

/// The packets of a cell, and what is usual.
struct Judged {
    packets: PacketSums,
    border: Border,
    parts: Option<Vec<(f64, f64)>>,
}

/// What is to be explained.
pub struct Explaining<'a> {
    cells: &'a Cells,
    places: &'a FaultPlaces,
    judged: HashMap<usize, Judged>,
}

/// How well a place explains what is left.
#[derive(Clone, Copy)]
struct Fit {
    gain: f64,
    loss: f64,
    slow: f64,
    some_flows: bool,
}

impl<'a> Explaining<'a> {
    /// The packets of the last slots.
    pub fn of(cells: &'a Cells, places: &'a FaultPlaces, recent: &Recent, slots: usize) -> Self {
        let lost_parts = recent.lost_parts(slots);
        let judged = recent.sums(slots).into_iter().map(|(cell, packets)| {
            let border = cells.border(cell);
            let parts = parts_of(packets, recent.shares(cell), lost_parts.get(&cell));
            let one = Judged {
                packets,
                border,
                parts,
            };
            (cell, one)
        });
        Self {
            cells,
            places,
            judged: judged.collect(),
        }
    }

    /// The set that explains most: the one with the likeliest place first, the one without that, or one without wide
    /// places.
    pub fn best(&self, allowed: &[usize], alarmed: &[usize]) -> Vec<Explanation> {
        let first = self.greedy(allowed, alarmed);
        let Some(top) = first.first() else {
            return first;
        };
        let without = |is_out: &dyn Fn(usize) -> bool| {
            let rest: Vec<usize> = allowed
                .iter()
                .copied()
                .filter(|one| !is_out(*one))
                .collect();
            self.greedy(&rest, alarmed)
        };
        let mut sets = vec![without(&|one| one == top.place)];
        if top.some_flows || self.places.place(top.place).is_wide() {
            sets.push(without(&|one| self.places.place(one).is_wide()));
        }
        sets.insert(0, first);
        let total = |set: &Vec<Explanation>| set.iter().map(|one| one.gain - 4.0).sum::<f64>();
        let most = sets.iter().map(total).fold(f64::MIN, f64::max);
        // Of nearly equal sets the simpler one.
        let score = |set: &Vec<Explanation>| {
            let parts = set.len() + usize::from(set.iter().any(|one| one.some_flows));
            total(set) - SHARE_OF_FIRST * most * parts as f64
        };
        sets.into_iter()
            .max_by(|a, b| score(a).total_cmp(&score(b)))
            .unwrap_or_default()
    }

    fn greedy(&self, allowed: &[usize], alarmed: &[usize]) -> Vec<Explanation> {
        let mut explained = HashSet::<usize>::new();
        let mut causes = Vec::<Explanation>::new();
        while causes.len() < MOST_CAUSES {
            let mut fits: Vec<(usize, Fit)> = allowed
                .iter()
                .map(|place| (*place, self.fit(*place, &explained)))
                .collect();
            fits.sort_by(|a, b| b.1.gain.total_cmp(&a.1.gain));
            let Some((place, fit)) = fits.first().copied() else {
                break;
            };
            let least = causes
                .first()
                .map_or(FIRST, |first| FURTHER + SHARE_OF_FIRST * first.gain);
            if fit.gain < least || !(causes.is_empty() || alarmed.contains(&place)) {
                break;
            }
            let mut cause = self.explanation(place, fit, &explained);
            if !self.is_enough(&cause) {
                break;
            }
            cause.others = fits[1..]
                .iter()
                .take(MOST_OTHERS)
                .map(|(other, fit)| (*other, cause.gain - fit.gain))
                .collect();
            explained.extend(&cause.cells);
            causes.push(cause);
        }
        causes
    }

    fn left<'b>(
        &'b self,
        place: usize,
        explained: &'b HashSet<usize>,
    ) -> impl Iterator<Item = (usize, &'b Judged)> {
        let cells = self.places.cells(place).iter();
        let left = cells.filter(|cell| !explained.contains(cell));
        left.filter_map(|cell| Some((*cell, self.judged.get(cell)?)))
    }

    /// The best shares of a place, as a fault of all its packets, or of some flows.
    fn fit(&self, place: usize, explained: &HashSet<usize>) -> Fit {
        let mut loss = [0.0; LOSS_GRID.len()];
        let mut some = [0.0; LOSS_GRID.len()];
        let mut slow = [0.0; SLOW_GRID.len()];
        for (_, one) in self.left(place, explained) {
            let all = LOSS_GRID.map(|step| one.packets.loss_gain(&one.border, step));
            add_fits(&mut loss, all, LOSS_NEAR);
            let parts = LOSS_GRID.map(|step| one.some_gain(step));
            let mut each = parts.into_iter().zip(all);
            add_fits(
                &mut some,
                parts.map(|_| each.next().map_or(0.0, |(part, all)| part.unwrap_or(all))),
                LOSS_NEAR,
            );
            let all = SLOW_GRID.map(|step| one.packets.slow_gain(&one.border, step));
            add_fits(&mut slow, all, SLOW_NEAR);
        }
        let (slow_gain, slow) = best(&slow, &SLOW_GRID);
        let place = self.places.place(place);
        let (penalty, some_penalty) = (place.penalty(), place.some_penalty());
        let fit = |(gain, loss): (f64, f64), some_flows: bool| Fit {
            gain: gain + slow_gain - penalty - if some_flows { some_penalty } else { 0.0 },
            loss,
            slow,
            some_flows,
        };
        let all = fit(best(&loss, &LOSS_GRID), false);
        let some = fit(best(&some, &LOSS_GRID), true);
        // Some flows are no explanation of latency, which is not known by flow.
        if some.gain > all.gain && some.loss > 0.0 {
            some
        } else {
            all
        }
    }

    fn explanation(&self, place: usize, fit: Fit, explained: &HashSet<usize>) -> Explanation {
        let mut cause = Explanation {
            place,
            some_flows: fit.some_flows,
            gain: fit.gain,
            loss: fit.loss,
            slow: fit.slow,
            cells: self.left(place, explained).map(|(cell, _)| cell).collect(),
            own: Vec::new(),
            others: Vec::new(),
        };
        let shows = |cell: &usize| {
            let one = &self.judged[cell];
            cause.gain_of(&one.packets, &one.border) > 0.0
                || (fit.some_flows && one.some_gain(fit.loss).is_some_and(|gain| gain > 0.0))
        };
        let own: Vec<usize> = cause.cells.iter().copied().filter(shows).collect();
        cause.own = if own.is_empty() {
            cause.cells.clone()
        } else {
            own
        };
        cause
    }

    /// True if enough packets of enough flows are bad.
    fn is_enough(&self, cause: &Explanation) -> bool {
        let mut bad = 0.0;
        for cell in &cause.cells {
            let one = &self.judged[cell];
            if cause.loss > 0.0 {
                bad += one.packets.lost;
            }
            if cause.slow > 0.0 {
                let usual = one.border.slow.unwrap_or(0.0) * one.packets.judged;
                bad += one.packets.slow - usual;
            }
        }
        let flows = cause.own.iter().map(|cell| self.cells.get(*cell).flows);
        let (flows, unknown) = flows.fold((0, false), |(sum, unknown), flows| {
            (sum + flows, unknown || flows == 0)
        });
        bad >= LEAST_BAD && (unknown || flows >= LEAST_FLOWS)
    }
}

impl Judged {
    /// The gain if some parts of its flows lose more and the others do not; `None`: parts are not known.
    fn some_gain(&self, step: f64) -> Option<f64> {
        let parts = self.parts.as_ref()?;
        let gains = parts.iter().map(|(sent, lost)| {
            let part = PacketSums {
                sent: *sent,
                lost: *lost,
                ..PacketSums::default()
            };
            let gain = part.loss_gain(&self.border, step);
            (1.0 - SOME + SOME * gain.min(MOST_OF_CELL).exp()).ln()
        });
        Some(gains.sum())
    }
}

/// The packets of each part of a cell's flows, sent and lost.
fn parts_of(
    packets: PacketSums,
    shares: Option<&[f32; FLOW_PARTS]>,
    lost: Option<&[f64; FLOW_PARTS]>,
) -> Option<Vec<(f64, f64)>> {
    let shares = shares?;
    let none = [0.0; FLOW_PARTS];
    let lost = lost.unwrap_or(&none);
    // The flows that are reported one by one must have most of what was lost.
    if lost.iter().sum::<f64>() < packets.lost * 0.5 {
        return None;
    }
    let parts = shares.iter().zip(lost);
    let parts = parts.map(|(share, lost)| (f64::from(*share) * packets.sent, *lost));
    Some(
        parts
            .filter(|(sent, lost)| *sent > 0.5 || *lost > 0.0)
            .collect(),
    )
}

/// Adds to each step how well it explains a cell with these gains: by the best of the steps near it, as a place harms its
/// cells about equally, less what a step further away would explain better.
fn add_fits<const N: usize>(sums: &mut [f64; N], gains: [f64; N], near: usize) {
    let most = gains.iter().copied().fold(0.0, f64::max);
    for (step, sum) in sums.iter_mut().enumerate() {
        let about = &gains[step.saturating_sub(near)..(step + near + 1).min(N)];
        let gain = about.iter().copied().fold(f64::MIN, f64::max);
        *sum += gain.clamp(-MOST_OF_CELL, MOST_OF_CELL);
        if gain > 0.0 {
            *sum -= (most - gain).min(MOST_OF_CELL);
        }
    }
}

/// The greatest of the gains, and its step; no step at all gains nothing.
fn best(gains: &[f64], steps: &[f64]) -> (f64, f64) {
    let each = gains.iter().copied().zip(steps.iter().copied());
    each.fold(
        (0.0, 0.0),
        |best, one| if one.0 > best.0 { one } else { best },
    )
}
