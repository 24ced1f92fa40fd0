//! Why a pair is as it is, in a few lines.

use std::fmt::Write;

use super::digits::{Grouped, Nanoseconds};
use super::history_drops::split_text;
use super::hosts::KnownHosts;
use super::moment::moment;
use super::verdict_subjects::percent;
use crate::model::{OthersToo, PairAnswer, PairFigures, Span};

/// The column of the text.
const LABEL: usize = 14;

/// `4.3 % lost, p50 6.5 us, p99 37.0 us`.
fn figures(pair: Option<&PairFigures>) -> String {
    let Some(pair) = pair else {
        return "nothing measured".to_owned();
    };
    let shown = pair.figures.shown();
    let lost = match shown.lost {
        0 => "none lost".to_owned(),
        lost => format!(
            "{} lost",
            percent(lost as f64 / shown.packets.max(1) as f64)
        ),
    };
    let latency = shown.latency.and_then(|one| one.p50_ns.zip(one.p99_ns));
    let latency = latency.map_or(String::new(), |(p50, p99)| {
        format!(", p50 {}, p99 {}", Nanoseconds(p50), Nanoseconds(p99))
    });
    let unknown = match shown.latency.is_some() && !shown.is_corrected() {
        true => " with the difference of the clocks",
        false => "",
    };
    format!("{lost}{latency}{unknown}")
}

fn others(others: OthersToo, what: &str) -> String {
    match others.all {
        0 => format!("there are no other {what}"),
        all => format!("{} of {all} other {what}", others.lossy),
    }
}

pub fn write(pair: &PairAnswer, span: Span, hosts: &KnownHosts, out: &mut String) {
    let [from, to] = [pair.source, pair.sink].map(|node| hosts.named(Some(node)));
    let (since, until) = (moment(span.since_ns), moment(span.until_ns));
    let _ = writeln!(out, "{from} -> {to} from {since} to {until} UTC");
    let mut line = |label: &str, text: &str| {
        let _ = writeln!(out, "{label:<LABEL$}{text}");
    };
    line("there", &figures(pair.there.as_ref()));
    line("back", &figures(pair.back.as_ref()));
    line(
        "the day before",
        &format!(" {}", figures(pair.before.as_ref())),
    );
    if let Some(there) = &pair.there {
        let shown = there.figures.shown();
        let (packets, flows) = (Grouped(shown.packets), Grouped(there.flows));
        line("sent", &format!("{packets} packets of {flows} flows"));
        if shown.lost > 0 {
            let where_lost = match &pair.loss {
                Some(loss) => split_text(&loss.split),
                None => format!(
                    "the place is unknown: run hostint postcards --drops on {from} and {to}"
                ),
            };
            line("where", &where_lost);
            line(
                "shared by",
                &format!(
                    "{} of {to}; {} of {from}",
                    others(pair.other_sources, "sources"),
                    others(pair.other_sinks, "sinks")
                ),
            );
        }
    }
    let path = match &pair.hops {
        Some(hops) if !hops.is_empty() => {
            let hops = hops.iter().map(|hop| hosts.named(Some(*hop)));
            let ways = match pair.ways {
                1 => String::new(),
                ways => format!(", the most used of {ways} ways"),
            };
            format!("over {}{ways}", Vec::from_iter(hops).join(", "))
        }
        _ => "no transit hop reports itself".to_owned(),
    };
    line("path", &path);
    match &pair.verdict {
        Some(verdict) => line("verdict", &verdict.text),
        None => line("verdict", "none in this time"),
    }
}
