//! The verdict of a history: the sentence, what it rests on, and what was said before.

use std::fmt::Write;

use super::digits::Grouped;
use super::moment::moment;
use super::shortened::wrap;
use super::table::TextWidth;
use super::verdict::BESIDE;
use super::verdict_subjects::percent;
use crate::model::{
    Answer, CauseEvidence, Confidence, NetworkCause, NetworkEvent, PastVerdict, Span, VerdictState,
};

/// The schema of the JSON object of `history verdict`.
pub const VERDICT_SCHEMA: &str = "hostint.verdict/1";

/// The columns of the verdicts of the past as CSV.
pub const CSV: &str = "begin_ns until_ns state text";

/// A verdict that is older than this is not about now.
const OLD_NS: u64 = 60_000_000_000;

/// The width of the first column.
const LABEL: usize = 12;

/// The most verdicts of the past that are listed.
const MOST_PAST: usize = 10;

pub fn write(answer: &Answer, span: Span, width: TextWidth, out: &mut String) {
    let Answer::Verdict {
        verdict,
        past,
        events,
    } = answer
    else {
        return;
    };
    let Some(verdict) = verdict.as_deref() else {
        out.push_str("no verdict in this time: hostint collect judges while it runs\n");
        return;
    };
    if span.until_ns.saturating_sub(verdict.as_of_ns) > OLD_NS {
        let as_of = moment(verdict.as_of_ns);
        let _ = writeln!(
            out,
            "the last verdict, of {as_of} UTC; nothing was judged since"
        );
    }
    let columns = width.columns.clamp(40, 110);
    for line in wrap(&verdict.text, columns) {
        let _ = writeln!(out, "{line}");
    }
    for cause in verdict.causes.iter().skip(1) {
        let silenced = cause.silenced_until_ns.map_or(String::new(), |until_ns| {
            format!(" (silenced until {} UTC)", moment(until_ns))
        });
        let _ = writeln!(out, "  and{silenced} {}", cause.text);
    }
    if let Some(cause) = verdict.causes.first().or(verdict.notes.first()) {
        cause_lines(cause, columns, out);
    }
    event_lines(events, out);
    let before = past
        .iter()
        .rev()
        .filter(|one| one.until_ns < verdict.as_of_ns);
    let before: Vec<&PastVerdict> = before.take(MOST_PAST).collect();
    if !before.is_empty() {
        let _ = writeln!(out, "before that (UTC)");
    }
    for one in before {
        let (begin, until) = (moment(one.begin_ns), moment(one.until_ns));
        let until = until.split(' ').next_back().unwrap_or_default();
        // What was lost in its last ten seconds was not judged yet.
        let text = match one.state {
            VerdictState::Healthy if !one.text.starts_with(BESIDE) => one.state.name(),
            _ => &one.text,
        };
        let _ = writeln!(out, "  {begin} to {until}  {text}");
    }
}

/// The last events, and the silences that last.
fn event_lines(events: &[NetworkEvent], out: &mut String) {
    if !events.is_empty() {
        let _ = writeln!(out, "events (UTC)");
    }
    for event in events.iter().rev().take(MOST_PAST) {
        let until = event.until_ns.map_or(String::new(), |until_ns| {
            format!(" until {}", moment(until_ns))
        });
        let _ = writeln!(out, "  {}  {}{until}", moment(event.time_ns), event.what());
    }
}

fn cause_lines(cause: &NetworkCause, columns: usize, out: &mut String) {
    let mut line = |label: &str, text: &str| {
        let mut label = label;
        for part in wrap(text, columns - LABEL) {
            let _ = writeln!(out, "{label:<LABEL$}{part}");
            label = "";
        }
    };
    let now = &cause.now;
    if now.packets > 0 {
        let expected = (cause.usual.loss * now.packets as f64).round() as u64;
        line(
            "lost",
            &format!(
                "{} of {} packets; usual would be {}",
                Grouped(now.lost),
                Grouped(now.packets),
                Grouped(expected)
            ),
        );
        let shared = &cause.shared;
        line(
            "shared by",
            &format!(
                "{} of {} pairs and classes there",
                shared.bad_cells, shared.cells
            ),
        );
    }
    for evidence in cause.evidence.iter().filter(|one| one.what != "event") {
        line("evidence", &evidence_text(evidence));
    }
    if now.packets > 0 {
        line("confidence", &confidence_text(cause));
    }
    for (at, command) in cause.commands.iter().enumerate() {
        line(if at == 0 { "next" } else { "" }, command);
    }
}

fn evidence_text(evidence: &CauseEvidence) -> String {
    let Some(value) = evidence.value else {
        return evidence.says.clone();
    };
    let value = match value.fract() == 0.0 {
        true => Grouped(value.abs() as u64).to_string(),
        false if value <= 1.0 => percent(value),
        false => format!("{value:.0}"),
    };
    format!("{}: {value}", evidence.says)
}

fn confidence_text(cause: &NetworkCause) -> String {
    let word = match cause.confidence {
        Confidence::Sure => "sure",
        Confidence::Likely => "likely",
        Confidence::OneOf => "not sure",
    };
    let Some(next) = cause.instead_of.first() else {
        return word.to_owned();
    };
    let name = next.kind.name();
    match next.same_packets {
        true => format!("{word}: {name} would look the same"),
        false if cause.confidence == Confidence::OneOf => {
            format!("{word}: {name} explains it nearly as well")
        }
        false => format!("{word}: {name}, the next explanation, is far less likely"),
    }
}
