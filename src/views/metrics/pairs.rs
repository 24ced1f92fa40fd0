//! Metrics of a collector about pairs of nodes and classes: all packets that sinks told of.

use super::page::{MetricKind, MetricsPage, OTHER};
use super::{seconds, traffic};
use crate::model::{CorrectedTraffic, MOST_METRIC_CLASSES, MOST_METRIC_PAIRS, PairTraffic};

/// Name and help of a sum over the packets of a pair for which the clocks were known, and its value: the rate of such a sum by
/// that of the packets is a mean.
type CorrectedSum = (&'static str, &'static str, fn(&CorrectedTraffic) -> u64);

const CORRECTED: [CorrectedSum; 4] = [
    (
        "latency",
        "their one-way latencies without the difference of the clocks, as the collector estimates it",
        |sums| sums.latency_ns,
    ),
    (
        "error",
        "the errors that most of those estimates do not exceed",
        |sums| sums.error_ns,
    ),
    (
        "low",
        "the least that their true latencies can be",
        |sums| sums.bound_ns[0],
    ),
    (
        "high",
        "the greatest that their true latencies can be",
        |sums| sums.bound_ns[1],
    ),
];

pub(super) fn write(page: &mut MetricsPage, sums: &PairTraffic) {
    let pair = |source: String, sink: String| [("source", source), ("sink", sink)];
    let pairs = (sums.pairs.iter())
        .map(|((source, sink), sums)| (pair(source.to_string(), sink.to_string()), sums));
    let others = sums.other_pairs.iter();
    let others = others.map(|sums| (pair(OTHER.to_owned(), OTHER.to_owned()), sums));
    let pairs: Vec<_> = pairs.chain(others).collect();
    traffic::write(page, "pair", "source and sink node", &pairs);
    corrected(page, sums);
    let classes = (sums.classes.iter()).map(|(class, sums)| ([("class", class.to_string())], sums));
    let others = sums.other_classes.iter();
    let others = others.map(|sums| ([("class", OTHER.to_owned())], sums));
    let classes: Vec<_> = classes.chain(others).collect();
    traffic::write(page, "collect_class", "class of traffic", &classes);
    for (what, count, most) in [
        ("pairs", sums.pairs.len(), MOST_METRIC_PAIRS),
        ("classes", sums.classes.len(), MOST_METRIC_CLASSES),
    ] {
        let name = format!("hostint_collect_{what}");
        let help = format!(
            "{what} with metrics of their own; those beyond the limit share the label value {OTHER}"
        );
        page.family(&name, MetricKind::Gauge, &help)
            .value(&[], count);
        let help = format!("the most {what} with metrics of their own");
        page.family(&format!("{name}_limit"), MetricKind::Gauge, &help)
            .value(&[], most);
    }
}

fn corrected(page: &mut MetricsPage, sums: &PairTraffic) {
    let pairs = (sums.corrected.iter())
        .map(|((source, sink), sums)| (source.to_string(), sink.to_string(), sums));
    let pairs: Vec<_> = pairs.collect();
    let mut family = page.family(
        "hostint_pair_corrected_packets_total",
        MetricKind::Counter,
        "packets measured while the difference of both clocks was known, by source and sink node",
    );
    for (source, sink, sums) in &pairs {
        family.value(&[("source", source), ("sink", sink)], sums.packets);
    }
    for (name, help, of) in CORRECTED {
        let name = format!("hostint_pair_corrected_{name}_seconds_total");
        let help = format!("sum over those packets: {help}");
        let mut family = page.family(&name, MetricKind::Counter, &help);
        for (source, sink, sums) in &pairs {
            let value = seconds(of(sums));
            family.value(&[("source", source), ("sink", sink)], value);
        }
    }
}
