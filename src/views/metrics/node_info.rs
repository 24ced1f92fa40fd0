//! The name, version and labels of each node, beside its id.

use std::collections::BTreeMap;

use super::page::{MetricKind, MetricsPage};
use crate::model::{ExporterHealth, MOST_NODES};

/// Begins the name of each label that a node reports, so that none stands for one of the metric's own labels.
const LABEL: &str = "label_";

pub(super) fn write(page: &mut MetricsPage, exporters: &[ExporterHealth]) {
    let mut nodes = BTreeMap::new();
    for one in exporters {
        if let (Some(node), Some(name)) = (one.node, &one.name)
            && nodes.len() < MOST_NODES
        {
            nodes.entry(node).or_insert((name, one));
        }
    }
    let help = "1; the name that a node sends, or that the collector was given, and the version of hostint there";
    let mut family = page.family("hostint_node_info", MetricKind::Gauge, help);
    for (node, (name, one)) in nodes {
        let node = node.to_string();
        let version = one.version.as_deref().unwrap_or_default();
        let contested = if one.name_contested { "true" } else { "false" };
        let named = labels_of(&one.labels);
        let mut labels = vec![
            ("node", node.as_str()),
            ("name", name),
            ("version", version),
            ("contested", contested),
        ];
        labels.extend(named.iter().map(|(key, value)| (key.as_str(), *value)));
        family.value(&labels, 1);
    }
}

/// The labels under names that Prometheus allows. Keys that become equal by that get a number.
fn labels_of(labels: &BTreeMap<String, String>) -> BTreeMap<String, &str> {
    let mut named = BTreeMap::new();
    for (key, value) in labels {
        let allowed = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let name: String = LABEL.chars().chain(key.chars().map(allowed)).collect();
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let mut names = std::iter::once(name.clone()).chain(numbered);
        if let Some(free) = names.find(|name| !named.contains_key(name)) {
            named.insert(free, value.as_str());
        }
    }
    named
}
