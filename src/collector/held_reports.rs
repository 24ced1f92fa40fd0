//! Reports that wait until their clocks are known: a host reports a second later whether its clock was set.

use std::collections::VecDeque;

use super::decoded::{NodeNotice, ReportGroup};
use crate::model::{Arrival, Body, NodeId, Path, Report};

/// Reports wait no longer than this; if their clocks are not known by then, they are handed on as "unknown".
const LONGEST_NS: u64 = 3_000_000_000;
/// The most memory of reports that wait. The first ones are handed on early when there are more.
const MOST_BYTES: usize = 256 << 20;

/// The reports of a datagram, which arrived at this time.
#[derive(Debug)]
pub(super) struct HeldGroup {
    pub group: ReportGroup,
    pub arrival: Arrival,
    pub bytes: Vec<u8>,
    pub until_ns: u64,
}

/// In the order of their arrival.
#[derive(Debug, Default)]
pub(super) struct HeldReports {
    groups: VecDeque<HeldGroup>,
    bytes: usize,
}

impl HeldGroup {
    fn bytes(&self) -> usize {
        let reports = self.group.reports.len() * size_of::<Report>();
        size_of::<Self>() + reports + 2 * self.bytes.len()
    }
}

impl HeldReports {
    pub fn push(&mut self, group: HeldGroup) {
        self.bytes += group.bytes();
        self.groups.push_back(group);
    }

    pub fn pop(&mut self) -> Option<HeldGroup> {
        let first = self.groups.pop_front()?;
        self.bytes -= first.bytes();
        Some(first)
    }

    pub fn first(&self) -> Option<&HeldGroup> {
        self.groups.front()
    }

    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// True if the first one has to wait no longer.
    pub fn is_due(&self, now_ns: u64) -> bool {
        // Without a clock that is never set, arrivals may go back.
        let waits_long = |first: &HeldGroup| now_ns.abs_diff(first.until_ns) > LONGEST_NS;
        self.bytes > MOST_BYTES || self.first().is_some_and(waits_long)
    }
}

/// The nodes whose clocks stamped what a datagram tells.
pub(super) fn stamping_nodes(group: &ReportGroup) -> impl Iterator<Item = NodeId> {
    let path = match &group.notice {
        Some(NodeNotice::Path(path)) => Some(&path.totals.path),
        _ => None,
    };
    let path = path.into_iter().flat_map(Path::nodes);
    let hops = group
        .reports
        .iter()
        .filter_map(|report| match &report.observation.body {
            Body::Latency(latency) => Some(latency.hops.iter().map(|hop| hop.node)),
            _ => None,
        });
    let ends = group
        .reports
        .iter()
        .filter_map(|report| match &report.observation.body {
            Body::Summary(summary) => Some([summary.source_node, summary.sink_node]),
            _ => None,
        });
    path.chain(hops.flatten()).chain(ends.flatten())
}
