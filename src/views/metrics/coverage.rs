//! Metrics of coverage: packets that the watchlists ask for, and their bytes, measured and not.

use super::page::{MetricKind, MetricsPage};
use crate::model::coverage::{CoverageRow, NO_SINK_TOLD};

pub(super) fn write(page: &mut MetricsPage, rows: &[CoverageRow]) {
    let name = "hostint_coverage_measured_packets_total";
    let help = "packets that a sink measured, those that were lost on the way included, since the collector started";
    let mut family = page.family(name, MetricKind::Counter, help);
    for row in rows {
        let [source, sink, class] = labels(row);
        let labels = [("source", &*source), ("sink", &*sink), ("class", &*class)];
        if let Some(measured) = row.measured {
            family.value(&labels, measured);
        }
    }
    let name = "hostint_coverage_tagged_packets_total";
    let help = "packets that a source tagged, as far as it reported, since the collector started";
    let mut family = page.family(name, MetricKind::Counter, help);
    for row in rows {
        let [source, sink, class] = labels(row);
        let labels = [("source", &*source), ("sink", &*sink), ("class", &*class)];
        if let Some(tagged) = row.tagged {
            family.value(&labels, tagged);
        }
    }
    let name = "hostint_coverage_no_sink_told_packets";
    let help = "tagged packets that no sink reported although it had the time to, since the collector started; those that one reports later leave this number";
    let mut family = page.family(name, MetricKind::Gauge, help);
    for row in rows {
        let [source, sink, class] = labels(row);
        let labels = [("source", &*source), ("sink", &*sink), ("class", &*class)];
        if row.tagged.is_some() {
            let untold = row.missed.get(NO_SINK_TOLD).copied().unwrap_or(0);
            family.value(&labels, untold);
        }
    }
    let name = "hostint_coverage_missed_packets_total";
    let help = "packets that the watchlist of a source asks for and that were not measured, since the collector started: not tagged by the source, or not tracked by the sink";
    let mut family = page.family(name, MetricKind::Counter, help);
    for row in rows {
        let [source, sink, class] = labels(row);
        let counted = row.missed.iter().filter(|(why, _)| *why != NO_SINK_TOLD);
        for (reason, packets) in counted {
            let pair = [("source", &*source), ("sink", &*sink)];
            let why = [("class", &*class), ("reason", reason.as_str())];
            family.value(&[pair, why].concat(), *packets);
        }
    }
    write_bytes(page, rows);
}

/// Bytes are of IP packets without INT. Those that are not known have no value.
fn write_bytes(page: &mut MetricsPage, rows: &[CoverageRow]) {
    let of = |row: &CoverageRow| [row.measured_bytes, row.tagged_bytes];
    let families = [
        (
            "hostint_coverage_measured_bytes_total",
            "bytes of packets that a sink measured, but not of those that were lost on the way, since the collector started",
        ),
        (
            "hostint_coverage_tagged_bytes_total",
            "bytes of packets that a source tagged, as far as it reported, since the collector started",
        ),
    ];
    for (place, (name, help)) in families.into_iter().enumerate() {
        let mut family = page.family(name, MetricKind::Counter, help);
        for row in rows {
            let [source, sink, class] = labels(row);
            let labels = [("source", &*source), ("sink", &*sink), ("class", &*class)];
            if let Some(bytes) = of(row)[place] {
                family.value(&labels, bytes);
            }
        }
    }
    let name = "hostint_coverage_missed_bytes_total";
    let help = "bytes of the packets of hostint_coverage_missed_packets_total, as far as hosts report bytes";
    let mut family = page.family(name, MetricKind::Counter, help);
    for row in rows {
        let [source, sink, class] = labels(row);
        for (reason, bytes) in &row.missed_bytes {
            let pair = [("source", &*source), ("sink", &*sink)];
            let why = [("class", &*class), ("reason", reason.as_str())];
            if let Some(bytes) = bytes {
                family.value(&[pair, why].concat(), *bytes);
            }
        }
    }
}

/// Source, sink and class, empty where none is known.
fn labels(row: &CoverageRow) -> [String; 3] {
    [
        row.source.to_string(),
        row.sink.map(|sink| sink.to_string()).unwrap_or_default(),
        row.class.clone().unwrap_or_default(),
    ]
}
