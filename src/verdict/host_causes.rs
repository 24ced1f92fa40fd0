//! What hosts' own figures show, whatever happened to their packets.

use super::trust::{Against, MOST_LOST, Trust};
use crate::model::{
    CauseEvidence, CauseKind, CauseSubject, Confidence, NetworkCause, NetworkVerdict, SharedBy,
    TrafficFigures, UnknownReason, UsualFigures, VERDICT_SLOT_NS, VerdictState,
};

/// The collector misses too much to say anything.
pub fn behind(trust: &Trust) -> NetworkVerdict {
    let (lost, silent) = (trust.reports_lost(), trust.silent_share());
    let (why, what, value, says) = match lost > MOST_LOST || lost > silent {
        true => (
            UnknownReason::CollectorBehind,
            "reports_lost",
            lost,
            "this share of reports was lost",
        ),
        false => (
            UnknownReason::ExportersSilent,
            "hosts_silent",
            silent,
            "this share of hosts reports nothing",
        ),
    };
    let mut cause = empty_cause(CauseKind::Collector, Vec::new());
    cause.evidence = vec![CauseEvidence::new(what, Some(value), says)];
    NetworkVerdict {
        state: VerdictState::CannotTell,
        causes: vec![cause],
        cannot_tell: vec![why],
        ..NetworkVerdict::default()
    }
}

/// Hosts that are gone.
pub fn gone(trust: &Trust) -> Vec<NetworkCause> {
    (trust.gone())
        .map(|one| simple(CauseKind::Gone, one, "it neither sends nor reports"))
        .collect()
}

/// Nothing is wrong with packets: what else there is to say.
pub fn without_cause(trust: &Trust, has_traffic: bool) -> NetworkVerdict {
    let mut verdict = NetworkVerdict {
        state: VerdictState::Healthy,
        ..NetworkVerdict::default()
    };
    let silent = trust.silent();
    let silent = silent.map(|one| simple(CauseKind::Silent, one, "it sends, and reports nothing"));
    let thin = trust.thin();
    let thin = thin.map(|one| simple(CauseKind::Coverage, one, "less of its traffic is measured"));
    verdict.causes = silent.chain(thin).collect();
    let late = trust.late();
    let late = late.map(|one| {
        simple(
            CauseKind::ReadsLate,
            one,
            "nanoseconds that packets wait until it reads them",
        )
    });
    let slow = trust.slow().map(|one| {
        simple(
            CauseKind::AnswersLate,
            one,
            "nanoseconds from a request that it read to its answer",
        )
    });
    let full = trust.full();
    let full = full.map(|one| {
        simple(
            CauseKind::Receiver,
            one,
            "its receivers limit their senders for this share of the time",
        )
    });
    let again = trust.restarted();
    let again = again.map(|one| simple(CauseKind::Restarted, one, "it began again"));
    verdict.notes = late.chain(slow).chain(full).chain(again).collect();
    if !verdict.causes.is_empty() {
        verdict.state = VerdictState::Measurement;
    } else if !has_traffic {
        verdict.state = VerdictState::CannotTell;
        verdict.cannot_tell = vec![UnknownReason::NoTraffic];
    }
    verdict
}

pub fn empty_cause(kind: CauseKind, subjects: Vec<CauseSubject>) -> NetworkCause {
    NetworkCause {
        id: String::new(),
        text: String::new(),
        commands: Vec::new(),
        kind,
        side: kind.side(),
        subjects,
        some_flows: false,
        metric: Vec::new(),
        since_ns: 0,
        since_error_ns: VERDICT_SLOT_NS,
        now: TrafficFigures::default(),
        usual: UsualFigures::default(),
        limit: None,
        silenced_until_ns: None,
        shared: SharedBy::default(),
        evidence: Vec::new(),
        instead_of: Vec::new(),
        confidence: Confidence::Sure,
    }
}

/// A cause that a host's own figure shows.
fn simple(kind: CauseKind, against: Against, says: &str) -> NetworkCause {
    let mut cause = empty_cause(kind, vec![CauseSubject::Node(against.node)]);
    cause.since_ns = against.since_ns;
    cause.evidence = vec![CauseEvidence::new("now", Some(against.now), says)];
    if against.usual > 0.0 {
        cause
            .evidence
            .push(CauseEvidence::new("usual", Some(against.usual), "usually"));
    }
    cause
}
