//! A matrix of figures from each node to each other node, as wide as the terminal.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

use super::hosts::{KnownHosts, short_name};
use crate::model::{MatrixFigure, NodeId, PairFigures};

fn name(figure: MatrixFigure) -> &'static str {
    match figure {
        MatrixFigure::P50 => "p50 latency",
        MatrixFigure::P99 => "p99 latency",
        MatrixFigure::Jitter => "p99 - p50 latency",
        MatrixFigure::Loss => "lost packets in %",
    }
}

/// At most seven characters; `~` marks figures of reports, `!` lost packets.
fn cell(figure: MatrixFigure, pair: &PairFigures) -> String {
    let figures = pair.figures.shown();
    let ns = figures.quantiles().and_then(|latency| match figure {
        MatrixFigure::P50 => latency.p50_ns,
        MatrixFigure::P99 => latency.p99_ns,
        _ => latency.jitter_ns,
    });
    let lost = if figures.lost > 0 { "!" } else { "" };
    match (figure, ns) {
        (MatrixFigure::Loss, _) if figures.lost == 0 => "0".to_owned(),
        (MatrixFigure::Loss, _) => {
            let sent = figures.packets.max(figures.lost) as f64;
            match 100.0 * figures.lost as f64 / sent {
                percent @ 10.0.. => format!("{percent:.0}"),
                percent @ 0.01.. => format!("{percent:.2}"),
                _ => "<.01".to_owned(),
            }
        }
        (_, Some(ns)) => {
            let of_reports = match figures.of_reports {
                Some(_) => "~",
                None => "",
            };
            format!("{of_reports}{}{lost}", short(ns))
        }
        (_, None) => format!("-{lost}"),
    }
}

/// `23.4u`, `120u`, `1.2m`: two or three digits.
fn short(ns: i64) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    let (value, unit) = match ns.unsigned_abs() {
        ns @ 0..=999 => return format!("{sign}{ns}n"),
        ns @ 1_000..=999_499 => (ns as f64 / 1e3, 'u'),
        ns @ 999_500..=999_499_999 => (ns as f64 / 1e6, 'm'),
        ns => (ns as f64 / 1e9, 's'),
    };
    match value {
        0.0..9.95 => format!("{sign}{value:.1}{unit}"),
        _ => format!("{sign}{value:.0}{unit}"),
    }
}

/// The corner above the names of rows.
const CORNER: &str = "from \\ to";

/// The widest name of a row and of a column.
const LONGEST_ROW: usize = 24;
const LONGEST_COLUMN: usize = 16;

/// The narrowest column that names stand above.
const NAMED_COLUMN: usize = 8;

/// The longest of these texts, in characters.
fn longest(texts: impl Iterator<Item = impl AsRef<str>>) -> usize {
    let lengths = texts.map(|text| text.as_ref().chars().count());
    lengths.max().unwrap_or(0)
}

/// Rows are sources, columns are sinks; columns that do not fit follow below. Names stand beside the IDs of rows and above
/// those of columns, as long as the width lets them be.
pub fn write(
    out: &mut String,
    pairs: &[PairFigures],
    figure: MatrixFigure,
    (hosts, width): (&KnownHosts, usize),
) {
    let sources: BTreeSet<NodeId> = pairs.iter().map(|pair| pair.source).collect();
    let sinks: BTreeSet<NodeId> = pairs.iter().map(|pair| pair.sink).collect();
    let cells: HashMap<(NodeId, NodeId), String> = pairs
        .iter()
        .map(|pair| ((pair.source, pair.sink), cell(figure, pair)))
        .collect();
    let rows = sources.iter().map(|node| hosts.named(Some(*node)));
    let row = longest(rows)
        .min(LONGEST_ROW.min(width / 3))
        .max(CORNER.len());
    let names: Vec<&str> = sinks.iter().filter_map(|node| hosts.name(*node)).collect();
    let ids = longest(sinks.iter().map(NodeId::to_string));
    let least = longest(cells.values()).max(ids);
    let least = longest(names.iter()).min(NAMED_COLUMN).max(least);
    let each = (width.saturating_sub(row) / sinks.len().max(1)).saturating_sub(1);
    let column = longest(names.iter())
        .min(LONGEST_COLUMN)
        .min(each)
        .max(least);
    let beside = (width.saturating_sub(row) / (column + 1)).max(1);
    let sinks: Vec<NodeId> = sinks.into_iter().collect();
    let _ = writeln!(
        out,
        "{}{}",
        name(figure),
        match figure {
            MatrixFigure::Loss => "",
            _ => "; n, u, m: ns, us, ms; !: packets were lost; ~: of reports",
        }
    );
    let mut line = |first: &str, texts: &mut dyn Iterator<Item = String>| {
        let mut line = format!("{first:<row$}");
        for text in texts {
            let _ = write!(line, " {text:>column$}");
        }
        let _ = writeln!(out, "{}", line.trim_end());
    };
    for (part, sinks) in sinks.chunks(beside).enumerate() {
        if part > 0 {
            line("", &mut std::iter::empty());
        }
        if !names.is_empty() {
            let name = |node: &NodeId| hosts.name(*node).unwrap_or_default();
            let names = sinks.iter().map(name);
            line("", &mut names.map(|name| short_name(name, column)));
        }
        line(CORNER, &mut sinks.iter().map(NodeId::to_string));
        for source in &sources {
            let of = |sink: &NodeId| cells.get(&(*source, *sink)).map_or(".", String::as_str);
            let name = hosts.named_within(*source, row);
            line(&name, &mut sinks.iter().map(|sink| of(sink).to_owned()));
        }
    }
}
