//! Coverage as text: of the packets that watchlists ask for, those that were measured.

use serde::Serialize;

use super::hosts::KnownHosts;
use super::table::TextTable;
use super::text::Grouped;
use crate::model::NodeId;
use crate::model::coverage::{CoverageRow, NO_SINK_TOLD};

/// The sum of a pair and class by one reason, as a row of CSV.
#[derive(Serialize)]
pub(super) struct CoverageCsvRow<'a> {
    source: NodeId,
    sink: Option<NodeId>,
    class: Option<&'a str>,
    /// `None`: the packets were measured.
    reason: Option<&'a str>,
    packets: u64,
}

/// The rows of CSV: those that were measured come first.
pub(super) fn csv_rows(rows: &[CoverageRow]) -> Vec<CoverageCsvRow<'_>> {
    let each = rows.iter().flat_map(|row| {
        let measured = row.measured.map(|packets| (None, packets));
        let missed = row.missed.iter();
        let missed = missed.map(|(reason, packets)| (Some(reason.as_str()), *packets));
        let sums = measured.into_iter().chain(missed);
        sums.map(|(reason, packets)| CoverageCsvRow {
            source: row.source,
            sink: row.sink,
            class: row.class.as_deref(),
            reason,
            packets,
        })
    });
    each.collect()
}

/// The share of the packets that were measured.
fn share(measured: u64, missed: u64) -> String {
    match (measured, missed) {
        (0, 0) => "-".to_owned(),
        (_, 0) => "100%".to_owned(),
        (measured, missed) => {
            let percent = 100.0 * measured as f64 / measured.saturating_add(missed) as f64;
            // Rounding must not hide that some were missed.
            format!("{:.2}%", percent.min(99.99))
        }
    }
}

/// The packets that were measured, as far as the share is concerned: none if no sink told of any.
fn known_measured(row: &CoverageRow) -> Option<u64> {
    row.measured
        .or_else(|| row.missed.contains_key(NO_SINK_TOLD).then_some(0))
}

fn packets(known: Option<u64>) -> String {
    known.map_or("-".to_owned(), |packets| Grouped(packets).to_string())
}

/// Writes a table, the reasons of each row by packets.
pub(super) fn write(rows: &[CoverageRow], hosts: &KnownHosts, out: &mut String) {
    if rows.is_empty() {
        return;
    }
    let names = ["nodes", "class"];
    let mut table = TextTable::new(&names, &["tagged", "measured", "missed", "coverage", "why"]);
    for row in rows {
        let missed = row.missed.values().sum::<u64>();
        let mut reasons: Vec<_> = row.missed.iter().collect();
        reasons.sort_by_key(|(_, packets)| std::cmp::Reverse(**packets));
        let reasons: Vec<_> = (reasons.into_iter())
            .map(|(reason, packets)| format!("{reason} {}", Grouped(*packets)))
            .collect();
        let nodes = format!(
            "{} -> {}",
            hosts.named(Some(row.source)),
            hosts.named(row.sink)
        );
        table.row(
            [nodes, row.class.clone().unwrap_or_default()],
            [
                packets(row.tagged),
                packets(row.measured),
                Grouped(missed).to_string(),
                known_measured(row).map_or("-".to_owned(), |measured| share(measured, missed)),
                reasons.join(", "),
            ],
        );
    }
    out.push_str(&table.to_string());
}
