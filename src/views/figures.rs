//! Figures of packets as columns of a table, and what they are of.

use super::digits::{Grouped, Nanoseconds};
use super::known_digits::{certain, with_error};
use super::table::{TextTable, TextWidth};
use super::verdict_subjects::percent;
use crate::model::{Figures, HOLDS_PERCENT, LatencyResolution, LossOfAll, ShownFigures};

/// The share of packets that were lost.
fn loss(figures: &ShownFigures) -> String {
    match (figures.lost, figures.packets) {
        (0, _) => "0".to_owned(),
        (lost, packets) => {
            let percent = 100.0 * lost as f64 / packets.max(lost) as f64;
            match percent {
                0.001.. => format!("{percent:.3}%"),
                _ => "<0.001%".to_owned(),
            }
        }
    }
}

const FIGURES: [&str; 8] = [
    "packets", "lost", "loss", "mean", "p50", "p99", "max", "from",
];

/// The last line if not all figures are of packets.
pub(super) const OF_REPORTS: &str = "from reports: preliminary, for no totals came, and reports favour slow packets; fewer than 20 \
                          have no p50 and p99";

/// The last line if there are quantiles of packets, of which these are the coarsest.
pub(super) fn precision(coarsest: LatencyResolution) -> &'static str {
    match coarsest {
        LatencyResolution::Fine => "p50 and p99 are up to 3 % high",
        LatencyResolution::Middle => "p50 and p99 are up to 13 % high",
        LatencyResolution::Coarse => "p50 and p99 of some rows are up to twice the true ones",
    }
}

/// The last line if some latencies have the difference of clocks in them.
pub(super) const UNKNOWN_CLOCKS: &str =
    "?: with the difference of the two hosts' clocks, which is not known";

fn figures(figures: &Figures) -> [String; 8] {
    let shown = figures.shown();
    let doubt = if shown.is_corrected() { "" } else { "?" };
    let error_ns = shown.corrected.filter(|_| shown.is_corrected());
    let error_ns = error_ns.map_or(0, |of| of.error_ns);
    let latency = |ns: Option<i64>| {
        ns.map_or("-".to_owned(), |ns| {
            format!("{}{doubt}", certain(ns, error_ns))
        })
    };
    let (all, quantiles) = (shown.latency, shown.quantiles());
    let mean = shown
        .corrected
        .map(|corrected| with_error(corrected.mean_ns, corrected.error_ns));
    [
        Grouped(shown.packets).to_string(),
        Grouped(shown.lost).to_string(),
        loss(&shown),
        mean.unwrap_or_else(|| latency(all.map(|all| all.mean_ns))),
        latency(quantiles.and_then(|all| all.p50_ns)),
        latency(quantiles.and_then(|all| all.p99_ns)),
        latency(all.map(|all| all.max_ns)),
        match shown.of_reports {
            None => String::new(),
            Some(1) => "1 report".to_owned(),
            Some(reports) => format!("{} reports", Grouped(reports)),
        },
    ]
}

/// Writes a table of figures.
pub(super) fn figures_table<'a, const N: usize>(
    names: &[&str; N],
    rows: impl IntoIterator<Item = ([String; N], &'a Figures)>,
    width: TextWidth,
    out: &mut String,
) {
    let mut table = TextTable::new(names, &FIGURES);
    for (name, row) in rows {
        table.row(name, figures(row));
    }
    out.push_str(&table.within(width));
}

/// Says what the flows that a budget or a sample left to be measured tell of all.
pub(super) fn of_all_text(loss: &LossOfAll) -> String {
    let measured = percent(f64::from(loss.measured_ppm) / 1e6);
    let of_ppb = |ppb: u32| percent(f64::from(ppb) / 1e9);
    let of_all = match loss.least_ppb.zip(loss.most_ppb) {
        Some((least, most)) => format!(
            "with a probability of {HOLDS_PERCENT} %, all flows together lost between {} and {}",
            of_ppb(least),
            of_ppb(most)
        ),
        None => "from them the loss of all flows cannot be told".to_owned(),
    };
    format!("{measured} of the packets were measured, by a budget or a sample; {of_all}")
}

/// Says between which bounds the mean lies, if the two clocks were known for some packets.
pub(super) fn bounds_text(figures: &Figures) -> Option<String> {
    let measured = figures.measured?;
    let (samples, corrected) = (measured.latency?.samples, measured.corrected?);
    let [least, most] = corrected
        .bound_ns
        .map(|ns| Nanoseconds(ns.max(0)).to_string());
    if least == most {
        return None;
    }
    let of = match samples.saturating_sub(corrected.packets) {
        0 => String::new(),
        others => format!(
            " (for {} packets more the clocks were unknown)",
            Grouped(others)
        ),
    };
    Some(format!("the true mean is between {least} and {most}{of}"))
}
