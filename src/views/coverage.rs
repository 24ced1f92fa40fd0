//! Coverage as text: of the packets that watchlists ask for, those that were measured.

use serde::Serialize;

use super::digits::Grouped;
use super::hosts::KnownHosts;
use super::table::{TextTable, TextWidth};
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
    /// `None`: not known.
    bytes: Option<u64>,
}

/// The rows of CSV: those that were measured come first.
pub(super) fn csv_rows(rows: &[CoverageRow]) -> Vec<CoverageCsvRow<'_>> {
    let each = rows.iter().flat_map(|row| {
        let measured = (row.measured).map(|packets| (None, packets, row.measured_bytes));
        let missed = row.missed.iter().map(|(reason, packets)| {
            let bytes = row.missed_bytes.get(reason).copied().flatten();
            (Some(reason.as_str()), *packets, bytes)
        });
        let sums = measured.into_iter().chain(missed);
        sums.map(|(reason, packets, bytes)| CoverageCsvRow {
            source: row.source,
            sink: row.sink,
            class: row.class.as_deref(),
            reason,
            packets,
            bytes,
        })
    });
    each.collect()
}

/// The share of the packets, or of their bytes, that were measured.
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

/// True if nothing can have been measured: no packet was tagged where no sink ever answered.
fn is_without_sink(row: &CoverageRow) -> bool {
    row.sink.is_none() && row.tagged.is_none()
}

/// The packets that were measured, as far as the share is concerned: none if no sink told of any.
fn known_measured(row: &CoverageRow) -> Option<u64> {
    let is_none = is_without_sink(row) || row.missed.contains_key(NO_SINK_TOLD);
    row.measured.or(is_none.then_some(0))
}

/// The bytes of the packets that were not measured. `None`: not all of them are known.
fn missed_bytes(row: &CoverageRow) -> Option<u64> {
    let reasons = row.missed.keys();
    let bytes = reasons.map(|reason| row.missed_bytes.get(reason).copied().flatten());
    bytes.sum()
}

fn count(known: Option<u64>) -> String {
    known.map_or("-".to_owned(), |count| Grouped(count).to_string())
}

/// Writes a table, the reasons of each row by packets.
pub(super) fn write(rows: &[CoverageRow], hosts: &KnownHosts, width: TextWidth, out: &mut String) {
    if rows.is_empty() {
        return;
    }
    let figures = [
        "tagged",
        "measured",
        "missed",
        "coverage",
        "measured B",
        "missed B",
        "of bytes",
        "why",
    ];
    let mut table = TextTable::new(&["nodes", "class"], &figures);
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
        let bytes = missed_bytes(row);
        let measured_bytes = row.measured_bytes.or(is_without_sink(row).then_some(0));
        let of_bytes = measured_bytes.zip(bytes);
        table.row(
            [nodes, row.class.clone().unwrap_or_default()],
            [
                count(row.tagged),
                count(row.measured),
                Grouped(missed).to_string(),
                known_measured(row).map_or("-".to_owned(), |measured| share(measured, missed)),
                count(row.measured_bytes),
                count(bytes),
                of_bytes.map_or("-".to_owned(), |(measured, missed)| share(measured, missed)),
                reasons.join(", "),
            ],
        );
    }
    out.push_str(&table.within(width));
}
