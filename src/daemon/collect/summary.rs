//! The summary of a collector: what each exporter sent, and what of it did not arrive or could not be read.

use crate::collector::Exporters;
use crate::os::log;

/// What is said of times that a wrong clock made.
pub const WRONG_TIME: &str = "with a time far from the others' (theirs is taken)";

/// Logs a line for each exporter.
pub fn say_exporters(exporters: &Exporters) {
    for exporter in exporters.each() {
        let node = exporter
            .node
            .map_or(String::new(), |node| format!("node {node}, "));
        log::info(format_args!(
            "exporter {} ({node}hw {}): {} reports, {} lost, {} duplicate{}",
            exporter.exporter,
            exporter.hw_id,
            exporter.reports,
            exporter.numbers.lost,
            exporter.numbers.duplicates,
            unnumbered(exporter.numbers.unnumbered)
        ));
    }
    let mut undecodable: Vec<_> = exporters.undecodable_by_address().collect();
    undecodable.sort_by_key(|(address, _)| *address);
    for (address, datagrams) in undecodable {
        log::info(format_args!("exporter {address}: {datagrams}"));
    }
}

/// Tells of an exporter that does not number its reports.
fn unnumbered(datagrams: u64) -> String {
    match datagrams {
        0 => String::new(),
        _ => format!(
            "; it does not number ({datagrams} with the number of the one before), so its losses are unknown"
        ),
    }
}

/// The sums, as a part of a sentence.
pub fn sums(exporters: &Exporters) -> String {
    let sums = exporters.counts();
    let mut text = format!(
        "{} reports from {} exporter{}, {} lost on the way, {} duplicate, {} undecodable",
        sums.reports,
        sums.exporters,
        if sums.exporters == 1 { "" } else { "s" },
        sums.numbers.lost,
        sums.numbers.duplicates,
        sums.undecodable.total()
    );
    for (count, what) in [
        (sums.quirks, "with a quirk"),
        (sums.int_unread, "with INT that cannot be read"),
    ] {
        if count > 0 {
            text += &format!(", {count} {what}");
        }
    }
    text
}
