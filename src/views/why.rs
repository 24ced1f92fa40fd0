//! Why a pair is as it is, in a few lines.

use std::fmt::Write;

use super::digits::{Grouped, Nanoseconds};
use super::history_drops::split_text;
use super::hosts::KnownHosts;
use super::moment::moment;
use super::verdict_subjects::percent;
use crate::model::{Figures, OthersToo, PairAnswer, PairFigures, Span};

/// The column of the text.
const LABEL: usize = 14;

/// `4.3 % lost, p50 6.5 us, p99 37.0 us`.
fn pair_figures(pair: Option<&PairFigures>) -> String {
    match pair {
        Some(pair) => figures(&pair.figures),
        None => "nothing measured".to_owned(),
    }
}

fn figures(figures: &Figures) -> String {
    let shown = figures.shown();
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

/// The flow that was asked for.
fn flow_lines(pair: &PairAnswer) -> Vec<(&'static str, String)> {
    let Some(flow) = &pair.flow else {
        return Vec::new();
    };
    let mut lines = vec![
        ("flow", flow.flow.to_string()),
        ("", figures(&flow.figures)),
    ];
    lines.extend(flow.loss_split.iter().map(|split| ("", split_text(split))));
    match pair.others_alike.unwrap_or(0) {
        0 => {}
        1 => lines.push(("", "one more flow has these words".to_owned())),
        others => {
            let others = Grouped(others as u64);
            lines.push(("", format!("{others} more flows have these words")));
        }
    }
    lines
}

fn path_text(pair: &PairAnswer, hosts: &KnownHosts) -> String {
    match &pair.hops {
        Some(hops) if !hops.is_empty() => {
            let hops = hops.iter().map(|hop| hosts.named(Some(*hop)));
            let ways = match pair.ways {
                1 => String::new(),
                ways => format!(", the most used of {ways} ways"),
            };
            format!("over {}{ways}", Vec::from_iter(hops).join(", "))
        }
        _ => "no transit hop reports itself".to_owned(),
    }
}

pub fn write(pair: &PairAnswer, span: Span, hosts: &KnownHosts, out: &mut String) {
    let [from, to] = [pair.source, pair.sink].map(|node| hosts.named(Some(node)));
    let (since, until) = (moment(span.since_ns), moment(span.until_ns));
    let _ = writeln!(out, "{from} -> {to} from {since} to {until} UTC");
    let mut line = |label: &str, text: &str| {
        let _ = writeln!(out, "{label:<LABEL$}{text}");
    };
    for (label, text) in flow_lines(pair) {
        line(label, &text);
    }
    line("there", &pair_figures(pair.there.as_ref()));
    line("back", &pair_figures(pair.back.as_ref()));
    line(
        "the day before",
        &format!(" {}", pair_figures(pair.before.as_ref())),
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
    line("path", &path_text(pair, hosts));
    if let Some(answers) = pair.answers {
        let (mean, count) = (Nanoseconds(answers.mean_ns), Grouped(answers.answers));
        line(
            "answers",
            &format!("applications of {to} take {mean} (mean of {count})"),
        );
    }
    match &pair.verdict {
        Some(verdict) => line("verdict", &verdict.text),
        None => line("verdict", "none in this time"),
    }
}
