//! The verdict in words.
//!
//! A sentence says the state first, then where, since when, how much against usual, which others share it, and whose side it
//! is on.

use super::digits::{Grouped, Nanoseconds};
use super::moment::moment;
use super::verdict_commands::commands;
use super::verdict_places::{place, so};
use super::verdict_subjects::{Called, percent, subject_text};
use crate::model::{
    CauseKind, CauseMetric, CauseSide, CauseSubject, NetworkCause, NetworkVerdict, UnknownReason,
    UsualOrigin, VerdictState,
};

/// How a verdict begins that has something to say although all is well.
pub const BESIDE: &str = "healthy, not the network: ";

/// Sets the sentences of a verdict and of its causes.
pub fn put_words(verdict: &mut NetworkVerdict, called: Called<'_>) {
    for cause in verdict.causes.iter_mut().chain(&mut verdict.notes) {
        cause.text = cause_text(cause, called);
        cause.commands = commands(cause, called);
    }
    verdict.text = text(verdict);
}

fn text(verdict: &NetworkVerdict) -> String {
    let judged = &verdict.judged;
    let first = verdict.causes.first().map(|cause| cause.text.as_str());
    let silenced = verdict
        .causes
        .first()
        .and_then(|cause| cause.silenced_until_ns);
    let silenced = silenced.map_or(String::new(), |until_ns| {
        format!(" (silenced until {} UTC)", moment(until_ns))
    });
    match (verdict.state, first) {
        (VerdictState::Degraded, Some(cause)) => format!("degraded{silenced}: {cause}"),
        (VerdictState::Measurement, Some(cause)) => format!("measurement{silenced}: {cause}"),
        (VerdictState::CannotTell, _) => format!("cannot tell: {}", unknown(verdict)),
        _ => {
            let pairs = counted(judged.pairs, "pair", "pairs");
            let hosts = counted(judged.hosts, "host", "hosts");
            let note = verdict.notes.first();
            match note {
                Some(note) if note.side == CauseSide::Application => {
                    format!("{BESIDE}{}", note.text)
                }
                Some(note) if note.limit.is_some() => {
                    format!("healthy, unusual but within limits: {}", note.text)
                }
                Some(note) => format!("healthy: {}", note.text),
                None => format!(
                    "healthy: {pairs} of {hosts}, {} lost in the last ten seconds{}",
                    lost_share(judged.lost, judged.packets),
                    usual_age(judged.usual_ns, judged.usual_days)
                ),
            }
        }
    }
}

fn usual_age(usual_ns: u64, days: u32) -> String {
    if days > 0 {
        return format!("; compared with this hour of {days} earlier days");
    }
    match usual_ns / 60_000_000_000 {
        0 => "; what is usual is not known yet".to_owned(),
        minutes @ 1..60 => format!("; compared with the last {minutes} min"),
        minutes => format!("; compared with the last {} h", minutes / 60),
    }
}

fn unknown(verdict: &NetworkVerdict) -> String {
    let share = |cause: &NetworkCause| cause.evidence.first().and_then(|one| one.value);
    let share = verdict.causes.first().and_then(share);
    let share = share.map_or(String::new(), percent);
    match verdict.cannot_tell.first() {
        Some(UnknownReason::CollectorBehind) => format!(
            "{share} of the reports to this collector are lost (see hostint-collect(8), and reports_lost in its metrics)"
        ),
        Some(UnknownReason::ExportersSilent) => {
            format!("{share} of the hosts report nothing")
        }
        Some(UnknownReason::FewPackets) => "too few packets".to_owned(),
        Some(UnknownReason::NoTraffic) | None => {
            "no sink reports packets (hostint status on a source says why none are tagged)"
                .to_owned()
        }
    }
}

fn cause_text(cause: &NetworkCause, called: Called<'_>) -> String {
    let since = format!("since {} UTC{}", moment(cause.since_ns), after_event(cause));
    let node = cause.node().map(called).unwrap_or_default();
    let value = |what: &str| {
        let found = cause.evidence.iter().find(|one| one.what == what);
        found.and_then(|one| one.value)
    };
    let (now, usual) = (value("now").unwrap_or(0.0), value("usual").unwrap_or(0.0));
    let ns = |ns: f64| Nanoseconds(ns as i64).to_string();
    match cause.kind {
        CauseKind::Gone => format!(
            "{node} sends nothing that is measured and reports nothing {since}: it is down or cut off, or hostint was \
             stopped there"
        ),
        CauseKind::Unreached => format!(
            "{} {since}: {}",
            unreached(cause, called),
            why_unreached(cause)
        ),
        CauseKind::Silent => {
            format!("{node} reports nothing {since}, but sends: what goes to it is not judged")
        }
        CauseKind::Coverage => format!(
            "only {} of what {node} sends is measured {since} (usual {}); the rest is as usual",
            percent(now),
            percent(usual)
        ),
        CauseKind::Collector => "this collector misses reports".to_owned(),
        CauseKind::ReadsLate => format!(
            "{node} reads late {since}: packets wait {} there until the application reads them (usual {})",
            ns(now),
            ns(usual)
        ),
        CauseKind::AnswersLate => format!(
            "{node} answers late {since}: its applications take {} from a request to the answer (usual {})",
            ns(now),
            ns(usual)
        ),
        CauseKind::Receiver => format!(
            "receivers of {node}'s connections hold their senders for {} of the time {since} (usual {})",
            percent(now),
            percent(usual)
        ),
        CauseKind::Restarted => format!("{node} began again {since}; {}", how_much(cause)),
        CauseKind::Clock => clock(&node, value("clock_shift_ns").unwrap_or(0.0), &since),
        CauseKind::BeyondLimit => beyond_limit(cause, called, &since),
        _ => format!(
            "{} {since}: {}{}; {}",
            place(cause, called),
            how_much(cause),
            shared(cause),
            so(cause, called)
        ),
    }
}

fn clock(node: &str, shift_ns: f64, since: &str) -> String {
    format!(
        "{node}'s clock is {} {} {since}, which was not reported: latencies of its pairs are wrong by that; packets are as usual",
        Nanoseconds(shift_ns.abs() as i64),
        if shift_ns > 0.0 { "ahead" } else { "behind" }
    )
}

/// `db-7 and the other hosts do not reach each other`.
fn unreached(cause: &NetworkCause, called: Called<'_>) -> String {
    let text = |subject: &CauseSubject| subject_text(subject, called);
    let is_measured = cause.side != CauseSide::Measurement;
    match (&cause.subjects[..], is_measured) {
        ([one, other], true) => {
            format!("{} and {} do not reach each other", text(one), text(other))
        }
        ([one], true) => format!("{} and the other hosts do not reach each other", text(one)),
        ([one, other], false) => {
            format!(
                "packets between {} and {} are no longer measured",
                text(one),
                text(other)
            )
        }
        ([one], false) => format!(
            "packets between {} and others are no longer measured",
            text(one)
        ),
        (_, true) => "no two hosts reach each other".to_owned(),
        (_, false) => "nothing is measured between hosts any more".to_owned(),
    }
}

fn why_unreached(cause: &NetworkCause) -> String {
    let pairs = counted(cause.shared.bad, "pair", "pairs");
    let why = match cause.side {
        CauseSide::Measurement => "the path is cut, or the sink was stopped",
        _ => "the path is cut, or a firewall or a new lease key stops hostint's own packets",
    };
    format!("hostint's questions get no answer in {pairs}, though the hosts report; {why}")
}

fn beyond_limit(cause: &NetworkCause, called: Called<'_>, since: &str) -> String {
    let others = match cause.shared.bad_cells.saturating_sub(1) {
        0 => String::new(),
        others => format!(
            "; so are those of {}",
            counted(others, "other pair", "other pairs")
        ),
    };
    format!(
        "{} are beyond their limit {since}, as usual for them: {}{others}",
        place(cause, called),
        how_much(cause)
    )
}

/// `2.1 % lost (usual 0.001 %)`, or how slow.
fn how_much(cause: &NetworkCause) -> String {
    let (now, usual) = (&cause.now, &cause.usual);
    let mut parts = Vec::new();
    let is_known = usual.of != UsualOrigin::None;
    if cause.metric.contains(&CauseMetric::Loss) || cause.metric.is_empty() {
        let usual = match is_known {
            true => format!("usual {}", percent(usual.loss)),
            false => "what is usual is not known yet".to_owned(),
        };
        let most = cause.limit.and_then(|limit| limit.loss);
        let most = most.map_or(String::new(), |most| format!(", limit {}", percent(most)));
        let usual = format!(" ({usual}{most})");
        parts.push(format!("{} lost{usual}", percent(now.loss)));
    }
    if cause.metric.contains(&CauseMetric::Latency)
        && let Some(p99_ns) = now.p99_ns
    {
        let slow = percent(now.slow);
        let most = cause.limit.and_then(|limit| limit.latency_ns);
        let most = most.map_or(String::new(), |most_ns| {
            format!(", limit {}", Nanoseconds(most_ns.cast_signed()))
        });
        let than = match cause.kind {
            CauseKind::BeyondLimit => "the limit",
            _ => "usual",
        };
        parts.push(format!(
            "p99 {} (usual {}{most}), {slow} slower than {than}",
            Nanoseconds(p99_ns),
            Nanoseconds(usual.p99_ns)
        ));
    }
    parts.join(", ")
}

/// `, from 14 of 14 sources`.
fn shared(cause: &NetworkCause) -> String {
    let shared = &cause.shared;
    if cause.some_flows {
        return format!(
            ", in {} of {} groups of flows and none in the others",
            shared.bad_parts, shared.parts
        );
    }
    let (bad, all) = (shared.bad, shared.all);
    match cause.kind {
        CauseKind::HostOut | CauseKind::HostDropsOut | CauseKind::HostQueue => {
            format!(", to {bad} of {}", counted(all, "sink", "sinks"))
        }
        CauseKind::Pair => String::new(),
        CauseKind::HostIn | CauseKind::HostDropsIn => {
            format!(", from {bad} of {}", counted(all, "source", "sources"))
        }
        _ => {
            let (bad, all) = (shared.bad_cells, shared.cells);
            format!(", in {bad} of {}", counted(all, "pair", "pairs"))
        }
    }
}

/// `, 2 minutes after deploy web 1.2.3`
fn after_event(cause: &NetworkCause) -> String {
    let found = cause.evidence.iter().find(|one| one.what == "event");
    let Some(event) = found else {
        return String::new();
    };
    let after_s = event.value.unwrap_or(0.0) as u64;
    let after = match after_s {
        0..60 => counted(after_s, "second", "seconds"),
        _ => counted(after_s / 60, "minute", "minutes"),
    };
    format!(" ({after} after {})", event.says)
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", Grouped(count), if count == 1 { one } else { many })
}

fn lost_share(lost: u64, packets: u64) -> String {
    match lost {
        0 => "no packet".to_owned(),
        _ => percent(lost as f64 / packets.max(1) as f64),
    }
}
