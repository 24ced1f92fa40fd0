//! Metrics in base units and with bounded labels.

pub mod agent;
pub mod collect;
mod coverage;
mod drops;
mod engines;
mod host_drops;
mod host_passages;
mod host_queues;
mod host_tcp;
mod interface_info;
pub mod joined;
mod mx_pairs;
mod node_info;
mod page;
mod pairs;
mod passages;
mod pods;
pub mod postcards;
mod power_buckets;
mod queues;
mod segments;
pub mod sink;
pub mod tcp;
mod text;
mod traffic;
pub mod transit;
mod verdict;

pub use page::{OTHER, Rising};
pub use text::text;

use page::{MetricKind, MetricsPage};

fn build_info(page: &mut MetricsPage) {
    page.family(
        "hostint_build_info",
        MetricKind::Gauge,
        "1; the version of hostint that runs",
    )
    .value(&[("version", env!("CARGO_PKG_VERSION"))], 1);
}

/// Nanoseconds as seconds.
fn seconds(ns: impl Into<i128>) -> f64 {
    ns.into() as f64 / 1e9
}
