//! What is said of a host by its own figures, and since when.

use hostint::model::*;
use hostint::verdict::VerdictEngine;

use super::limits::{slot, well};

const SECOND: u64 = 1_000_000_000;

/// The kind of what is said of host 2, and since when, after ten minutes without and two minutes with `then`.
fn said(then: impl Fn(&mut HostInSlot)) -> Option<(CauseKind, u64)> {
    said_after(12, then)
}

/// The same after this number of slots.
fn said_after(slots: u64, then: impl Fn(&mut HostInSlot)) -> Option<(CauseKind, u64)> {
    let mut engine = VerdictEngine::default();
    let mut last = NetworkVerdict::default();
    for number in 0..60 + slots {
        let mut slot = slot(number, well, &[]);
        let host = slot.hosts.get_mut(&NodeId(2)).unwrap();
        host.answer_ns = Some(2_000_000);
        host.heard_ns = slot.end_ns - SECOND;
        if number >= 60 {
            then(host);
        }
        if host.is_gone {
            slot.cells
                .retain(|id, _| id.source != NodeId(2) && id.sink != NodeId(2));
        }
        last = engine.slot(&slot);
    }
    let all = last.causes.iter().chain(&last.notes);
    all.map(|cause| (cause.kind, cause.since_ns)).next()
}

#[test]
fn a_host_is_judged_by_its_own_figures() {
    use CauseKind::{AnswersLate, Gone, Silent};
    let change_ns = slot(59, well, &[]).end_ns;
    let heard_ns = change_ns - 23 * SECOND;
    type Then = Box<dyn Fn(&mut HostInSlot)>;
    type Said = Option<(CauseKind, u64)>;
    let answers = |ns| -> Then { Box::new(move |host| host.answer_ns = ns) };
    let cases: [(&str, Then, Said); 6] = [
        ("answers as usual", answers(Some(2_000_000)), None),
        ("a little later", answers(Some(5_900_000)), None),
        (
            "more than three times the usual",
            answers(Some(84_000_000)),
            Some((AnswersLate, change_ns)),
        ),
        ("no requests", answers(None), None),
        (
            "a host that is gone is so since its last report",
            Box::new(move |host| {
                (host.reports, host.is_gone, host.heard_ns) = (false, true, heard_ns);
            }),
            Some((Gone, heard_ns)),
        ),
        (
            "and one that only falls silent, too",
            Box::new(move |host| (host.reports, host.heard_ns) = (false, heard_ns)),
            Some((Silent, heard_ns)),
        ),
    ];
    for (sentence, then, expected) in cases {
        assert_eq!(said(then), expected, "{sentence}");
    }
}

#[test]
fn what_a_host_did_for_an_hour_is_usual() {
    let slow = |host: &mut HostInSlot| host.answer_ns = Some(84_000_000);
    let kinds = [12, 350, 375].map(|slots| said_after(slots, slow).map(|(kind, _)| kind));
    let late = Some(CauseKind::AnswersLate);
    assert_eq!(kinds, [late, late, None]);
}
