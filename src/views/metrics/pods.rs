//! Metrics of the pods that a collector names.

use super::page::{MetricKind, MetricsPage};
use super::seconds;
use crate::model::PodsStatus;

pub(super) fn write(page: &mut MetricsPage, pods: Option<&PodsStatus>) {
    let Some(pods) = pods else { return };
    let name = "hostint_pods_named";
    let help = "pods of the cluster that are there, and have names";
    page.family(name, MetricKind::Gauge, help)
        .value(&[], pods.named);
    let name = "hostint_pods_told_time_seconds";
    let help = "when the API server of the cluster said something last, which it does each minute; 0: never";
    page.family(name, MetricKind::Gauge, help)
        .value(&[], seconds(pods.told_ns));
}
