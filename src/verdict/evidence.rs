//! A cause in figures: since when, how much, against what, and which others share it.

use std::collections::BTreeSet;

use super::likelihood::PacketSums;
use super::named::Explanation;
use super::places::{FaultPlaces, LEAST, MOST};
use super::recent::RECENT_SLOTS;
use super::side::{Sided, Witnesses};
use crate::model::{
    CauseKind, CauseSide, Confidence, NetworkCause, OtherCause, SharedBy, TrafficFigures,
    UsualFigures, VERDICT_SLOT_NS,
};

/// By how much less likely the next explanation is.
const SURE: f64 = 20.0;
const LIKELY: f64 = 5.0;
/// Explanations that are nearly as likely have the same packets.
const SAME: f64 = 1e-6;

/// Slots that are together so unlikely in an incident are between two of them.
const APART: f64 = 10.0;

/// The cause that an explanation is.
pub fn cause_of(
    explanation: &Explanation,
    sided: Sided,
    places: &FaultPlaces,
    witnesses: &Witnesses<'_>,
) -> NetworkCause {
    let since_ns = onset(explanation, witnesses);
    let usual = usual_of(explanation, witnesses);
    let place = places.place(explanation.place);
    let others = explanation.others.iter().map(|(other, less)| {
        let penalties = places.place(*other).penalty() - place.penalty();
        let other = places.place(*other);
        OtherCause {
            kind: other.kind,
            subjects: other.subjects.clone(),
            log_likelihood_less: less - penalties,
            same_packets: (less - penalties).abs() < SAME * explanation.gain.max(1.0),
        }
    });
    let instead_of: Vec<OtherCause> = others.collect();
    let next = instead_of.iter().map(|other| other.log_likelihood_less);
    let confidence = match next.fold(f64::MAX, f64::min) {
        less if less >= SURE => Confidence::Sure,
        less if less >= LIKELY => Confidence::Likely,
        _ => Confidence::OneOf,
    };
    let mut cause = NetworkCause {
        id: String::new(),
        text: String::new(),
        commands: Vec::new(),
        kind: sided.kind,
        side: side_of(&sided),
        subjects: sided.subjects,
        some_flows: sided.some_flows,
        metric: explanation.metrics(),
        since_ns,
        since_error_ns: VERDICT_SLOT_NS,
        now: TrafficFigures::default(),
        usual,
        limit: None,
        silenced_until_ns: None,
        shared: shared_by(explanation, place.kind, witnesses),
        evidence: sided.evidence,
        instead_of,
        confidence,
    };
    cause.now = now_of(explanation, &cause, witnesses);
    cause
}

/// A host that forwards and drops is a host; one that did not say what it drops is the network.
fn side_of(sided: &Sided) -> CauseSide {
    match sided.kind {
        CauseKind::Hop => CauseSide::Host,
        kind => kind.side(),
    }
}

/// The begin of the slot since which the packets show it.
fn onset(explanation: &Explanation, witnesses: &Witnesses<'_>) -> u64 {
    let cells = witnesses.cells;
    let (mut tail, mut best, mut since_ns) = (0.0, f64::MIN, 0);
    for slot in witnesses.recent.last(RECENT_SLOTS).rev() {
        let own = explanation.own.iter();
        let said = own.filter_map(|cell| {
            let one = slot.cells.get(cell)?;
            Some(explanation.gain_of(&one.packets, &cells.border(*cell)))
        });
        tail += said.sum::<f64>().clamp(LEAST, MOST);
        if tail > best {
            (best, since_ns) = (tail, slot.end_ns.saturating_sub(VERDICT_SLOT_NS));
        } else if tail <= best - APART {
            break;
        }
    }
    since_ns
}

/// The packets from the onset to the last slot that shows it, of ten minutes at most.
pub fn now_of(
    explanation: &Explanation,
    cause: &NetworkCause,
    witnesses: &Witnesses<'_>,
) -> TrafficFigures {
    let (mut sum, mut until_bad) = (PacketSums::default(), PacketSums::default());
    let slots = witnesses.recent.last(RECENT_SLOTS);
    for slot in slots.filter(|slot| slot.end_ns > cause.since_ns) {
        let mut gain = 0.0;
        for cell in &explanation.cells {
            if let Some(one) = slot.cells.get(cell) {
                sum.add(one.packets);
                gain += explanation.gain_of(&one.packets, &witnesses.cells.border(*cell));
            }
        }
        if gain > 0.0 {
            until_bad = sum;
        }
    }
    if until_bad.sent > 0.0 {
        sum = until_bad;
    }
    let latency = witnesses.recent.latency(&explanation.cells);
    TrafficFigures {
        packets: sum.sent as u64,
        lost: sum.lost as u64,
        loss: sum.lost / sum.sent.max(1.0),
        slow: sum.slow / sum.judged.max(1.0),
        p50_ns: latency.quantile(0.5),
        p99_ns: latency.quantile(0.99),
    }
}

/// What is usual for these cells together: latencies are those of the cell with most packets.
fn usual_of(explanation: &Explanation, witnesses: &Witnesses<'_>) -> UsualFigures {
    let (mut sent, mut lost) = (0, 0.0);
    let mut most = UsualFigures::default();
    for cell in &explanation.cells {
        let usual = witnesses.cells.get(*cell).usual.figures();
        sent += usual.packets;
        lost += usual.loss * usual.packets as f64;
        if usual.packets >= most.packets {
            most = usual;
        }
    }
    UsualFigures {
        packets: sent,
        loss: lost / sent.max(1) as f64,
        ..most
    }
}

/// How many of those that could show it do.
fn shared_by(explanation: &Explanation, kind: CauseKind, witnesses: &Witnesses<'_>) -> SharedBy {
    let end = |cell: &usize| {
        let id = witnesses.cells.id(*cell);
        match kind {
            CauseKind::HostOut | CauseKind::LabelOut | CauseKind::ClassOut => id.sink,
            _ => id.source,
        }
    };
    let count = |cells: &[usize]| cells.iter().map(end).collect::<BTreeSet<_>>().len() as u64;
    let mut shared = SharedBy {
        bad: count(&explanation.own),
        all: count(&explanation.cells),
        bad_cells: explanation.own.len() as u64,
        cells: explanation.cells.len() as u64,
        ..SharedBy::default()
    };
    if explanation.some_flows {
        let lost = witnesses.recent.lost_parts(witnesses.slots);
        for cell in &explanation.cells {
            let Some(shares) = witnesses.recent.shares(*cell) else {
                continue;
            };
            let bad = lost
                .get(cell)
                .map_or(0, |parts| parts.iter().filter(|lost| **lost > 0.0).count());
            shared.parts += shares.iter().filter(|share| **share > 0.0).count() as u64;
            shared.bad_parts += bad as u64;
        }
    }
    shared
}
