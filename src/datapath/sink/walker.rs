//! Walks over a flow table, a slice at a time, and finds the flows that need attention.

use std::io;

use crate::datapath::abi::{Abi, flow_key, sink_flow, source_flow};
use crate::datapath::kernel::batches::Batches;
use crate::datapath::kernel::maps::Map;

/// Flows in one slice, which takes about a millisecond.
const SLICE: usize = 1024;

/// A walk over one table.
pub struct Walker<V> {
    flows: Map<flow_key, V>,
    batches: Batches<flow_key, V>,
}

/// The sink's flows that a slice found.
#[derive(Default)]
pub struct SinkFindings {
    /// Flows that are idle.
    pub idle: Vec<flow_key>,
    /// Flows with a loss period that no packet ended, or a loss that was not reported yet.
    pub loss: Vec<flow_key>,
    /// Flows that had a packet.
    pub summary: Vec<(flow_key, sink_flow)>,
    /// The number of flows that were looked at.
    pub seen: u32,
    /// The table's end was reached.
    pub end: bool,
}

/// The source's flows that a slice found.
#[derive(Default)]
pub struct SourceFindings {
    pub idle: Vec<flow_key>,
    pub seen: u32,
    pub end: bool,
}

/// The times by which the sink's flows are judged.
#[derive(Clone, Copy, Debug)]
pub struct SinkTimes {
    pub now_ns: u64,
    /// Flows without a packet for this time are idle.
    pub idle_ns: u64,
    /// A loss period is over that began before twice this time.
    pub loss_timeout_ns: u64,
    /// Flows with a packet after this time are to be summarised; 0 for none.
    pub summary_ns: u64,
}

/// What is to be done about a flow.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SinkFinding {
    Idle,
    Summary,
}

impl SinkTimes {
    /// True if the flow waits for a sequence number longer than it should, or has a loss that is in no report yet.
    pub fn has_loss(&self, flow: &sink_flow) -> bool {
        let withheld = flow.gap_ns == 0 && flow.lost_count != 0;
        withheld || self.waits(flow)
    }

    fn waits(&self, flow: &sink_flow) -> bool {
        let is_over =
            |since_ns| since_ns < self.now_ns && self.now_ns - since_ns >= 2 * self.loss_timeout_ns;
        let waits_far = flow.far_packets != 0 && flow.far_waits != 0;
        (flow.gap_ns != 0 && is_over(flow.gap_ns)) || (waits_far && is_over(flow.far_ns))
    }

    pub fn finding(&self, flow: &sink_flow) -> Option<SinkFinding> {
        // A record without a packet is not a flow yet.
        if flow.first_ns == 0 {
            return None;
        }
        // A flow whose loss period is to end is kept until it ended.
        if is_idle(flow.last_ns, self.now_ns, self.idle_ns) && !self.waits(flow) {
            return Some(SinkFinding::Idle);
        }
        let is_due = self.summary_ns != 0 && flow.last_ns >= self.summary_ns;
        is_due.then_some(SinkFinding::Summary)
    }
}

/// True if `last_ns` is `timeout_ns` or more ago. The kernel half may have written it after the walk's clock was read.
pub fn is_idle(last_ns: u64, now_ns: u64, timeout_ns: u64) -> bool {
    now_ns.saturating_sub(last_ns) >= timeout_ns
}

impl<V: Abi> Walker<V> {
    /// A walk that begins at the table's beginning.
    pub fn over(flows: &Map<flow_key, V>) -> Self {
        Self {
            flows: flows.share(),
            batches: Batches::of(SLICE),
        }
    }

    /// Goes on where the last slice ended, or begins at the table's beginning. Returns how many flows it visited, and
    /// whether the table's end was reached.
    fn visit(&mut self, mut visit: impl FnMut(&flow_key, &V)) -> io::Result<(u32, bool)> {
        let capacity = self.flows.capacity();
        let (entries, end) = self.batches.next(self.flows.fd(), capacity)?;
        let mut seen = 0;
        for (key, flow) in entries {
            seen += 1;
            visit(key, flow);
        }
        Ok((seen, end))
    }
}

impl Walker<sink_flow> {
    pub fn slice(&mut self, times: &SinkTimes) -> io::Result<SinkFindings> {
        let mut found = SinkFindings::default();
        let (seen, end) = self.visit(|key, flow| {
            if times.has_loss(flow) {
                found.loss.push(*key);
            }
            match times.finding(flow) {
                Some(SinkFinding::Idle) => found.idle.push(*key),
                Some(SinkFinding::Summary) => found.summary.push((*key, *flow)),
                None => {}
            }
        })?;
        Ok(SinkFindings { seen, end, ..found })
    }
}

impl Walker<source_flow> {
    /// Finds flows that `is_over` says are idle.
    pub fn slice(&mut self, is_over: impl Fn(&source_flow) -> bool) -> io::Result<SourceFindings> {
        let mut found = SourceFindings::default();
        let (seen, end) = self.visit(|key, flow| {
            if flow.last_ns != 0 && is_over(flow) {
                found.idle.push(*key);
            }
        })?;
        Ok(SourceFindings { seen, end, ..found })
    }
}
