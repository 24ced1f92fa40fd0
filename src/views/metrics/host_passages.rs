//! Metrics of packets through hosts, at a collector.

use super::page::MetricsPage;
use super::passages;
use crate::model::{InterfacePassage, NodeId};

pub(super) fn write(page: &mut MetricsPage, rows: &[(NodeId, InterfacePassage)]) {
    passages::latencies(page, rows.iter().map(|(node, one)| (Some(*node), one)));
}
