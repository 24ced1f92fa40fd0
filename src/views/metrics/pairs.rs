//! Metrics of a collector about pairs of nodes and classes: all packets that sinks told of.

use super::page::{MetricKind, MetricsPage, OTHER};
use super::traffic;
use crate::model::{MOST_METRIC_CLASSES, MOST_METRIC_PAIRS, PairTraffic};

pub(super) fn write(page: &mut MetricsPage, sums: &PairTraffic) {
    let pair = |source: String, sink: String| [("source", source), ("sink", sink)];
    let pairs = (sums.pairs.iter())
        .map(|((source, sink), sums)| (pair(source.to_string(), sink.to_string()), sums));
    let others = sums.other_pairs.iter();
    let others = others.map(|sums| (pair(OTHER.to_owned(), OTHER.to_owned()), sums));
    let pairs: Vec<_> = pairs.chain(others).collect();
    traffic::write(page, "pair", "source and sink node", &pairs);
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
