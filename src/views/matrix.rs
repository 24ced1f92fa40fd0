//! A matrix of figures from each node to each other node, as wide as the terminal.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

use crate::model::{NodeId, PairFigures};

/// The figure in a cell.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Cell {
    P50,
    P99,
    Jitter,
    Loss,
}

impl Cell {
    fn name(self) -> &'static str {
        match self {
            Self::P50 => "p50 latency",
            Self::P99 => "p99 latency",
            Self::Jitter => "p99 - p50 latency",
            Self::Loss => "lost packets in %",
        }
    }

    /// At most seven characters; `~` marks figures of reports, `!` lost packets.
    fn of(self, pair: &PairFigures) -> String {
        let figures = pair.figures.shown();
        let ns = figures.quantiles().and_then(|latency| match self {
            Self::P50 => latency.p50_ns,
            Self::P99 => latency.p99_ns,
            _ => latency.jitter_ns,
        });
        let lost = if figures.lost > 0 { "!" } else { "" };
        match (self, ns) {
            (Self::Loss, _) if figures.lost == 0 => "0".to_owned(),
            (Self::Loss, _) => {
                let sent = figures.packets.max(figures.lost) as f64;
                match 100.0 * figures.lost as f64 / sent {
                    percent @ 10.0.. => format!("{percent:.0}"),
                    percent @ 0.01.. => format!("{percent:.2}"),
                    _ => "<.01".to_owned(),
                }
            }
            (_, Some(ns)) => {
                let of_reports = if figures.of_reports.is_some() {
                    "~"
                } else {
                    ""
                };
                format!("{of_reports}{}{lost}", short(ns))
            }
            (_, None) => format!("-{lost}"),
        }
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

/// Rows are sources, columns are sinks; columns that do not fit follow below.
pub fn write(out: &mut String, pairs: &[PairFigures], cell: Cell, width: usize) {
    let sources: BTreeSet<NodeId> = pairs.iter().map(|pair| pair.source).collect();
    let sinks: BTreeSet<NodeId> = pairs.iter().map(|pair| pair.sink).collect();
    let cells: HashMap<(NodeId, NodeId), String> = pairs
        .iter()
        .map(|pair| ((pair.source, pair.sink), cell.of(pair)))
        .collect();
    let longest = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
    let name =
        longest(&mut sources.iter().map(|node| node.to_string().len())).max("from \\ to".len());
    let column = longest(&mut cells.values().map(String::len)).max(longest(
        &mut sinks.iter().map(|node| node.to_string().len()),
    ));
    let beside = (width.saturating_sub(name) / (column + 1)).max(1);
    let sinks: Vec<NodeId> = sinks.into_iter().collect();
    let _ = writeln!(
        out,
        "{}{}",
        cell.name(),
        match cell {
            Cell::Loss => "",
            _ => "; n, u, m: ns, us, ms; !: packets were lost; ~: of reports",
        }
    );
    for (part, sinks) in sinks.chunks(beside).enumerate() {
        if part > 0 {
            out.push('\n');
        }
        let _ = write!(out, "{:<name$}", "from \\ to");
        for sink in sinks {
            let _ = write!(out, " {:>column$}", sink.to_string());
        }
        out.push('\n');
        for source in &sources {
            let mut line = format!("{:<name$}", source.to_string());
            for sink in sinks {
                let text = cells.get(&(*source, *sink)).map_or(".", String::as_str);
                let _ = write!(line, " {text:>column$}");
            }
            let _ = writeln!(out, "{}", line.trim_end());
        }
    }
}
