//! Metrics of packets through hosts, at a collector.

use super::hops;
use super::page::MetricsPage;
use crate::model::{HopPassage, NodeId};

pub(super) fn write(page: &mut MetricsPage, rows: &[(NodeId, HopPassage)]) {
    hops::latencies(page, rows.iter().map(|(node, one)| (Some(*node), one)));
}
