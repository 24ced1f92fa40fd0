//! The selection of flows to summarise: once a period, and only if the flow's traffic pays for the report.

use std::time::{Duration, Instant};

use super::abi::{flow_key, sink_flow};
use super::events::low16;
use crate::model::{FlowTotals, NodeId, SummaryEvent};

/// The period of summaries, and their price.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SummaryPlan {
    /// 0 turns summaries off.
    pub period: Duration,
    /// The price of one report of a flow, at all collectors together.
    pub report_bytes: u64,
    /// The price of one summary of a flow, at all collectors together.
    pub summary_bytes: u64,
}

/// The state of summaries. Each period begins with a pass over the flow table.
#[derive(Debug)]
pub(super) struct Summaries {
    plan: SummaryPlan,
    due: Instant,
    begun_ns: u64,
    /// In this pass, flows with packets after this time are summarised; `None` means no flow.
    since_ns: Option<u64>,
}

impl Summaries {
    pub(super) fn new(now_ns: u64) -> Self {
        Self {
            plan: SummaryPlan::default(),
            due: Instant::now(),
            begun_ns: now_ns,
            since_ns: None,
        }
    }

    pub(super) fn set(&mut self, plan: SummaryPlan) {
        let latest = Instant::now() + plan.period;
        self.due = if self.plan.period.is_zero() {
            latest
        } else {
            latest.min(self.due)
        };
        self.plan = plan;
    }

    /// Begins a pass. A packet shortly before the last period counts for this one, because its loss was not known then.
    pub(super) fn begin_pass(&mut self, now_ns: u64, loss_timeout: Duration) {
        let now = Instant::now();
        self.since_ns = None;
        if self.plan.period.is_zero() || now < self.due {
            return;
        }
        let margin_ns = 2 * loss_timeout.as_nanos() as u64;
        self.since_ns = Some(self.begun_ns.saturating_sub(margin_ns));
        self.begun_ns = now_ns;
        self.due = now + self.plan.period;
    }

    /// Returns the time after which a flow must have packets to be summarised, or 0 for no flow.
    pub(super) fn since_ns(&self) -> u64 {
        self.since_ns.unwrap_or(0)
    }

    /// Returns the flow's totals, unless its traffic does not pay for all reports that it may have caused so far.
    /// `more` is the number of its summaries beyond one for each period.
    pub(super) fn of(&self, key: &flow_key, flow: &sink_flow, more: u64) -> Option<SummaryEvent> {
        let period_ns = self.plan.period.as_nanos() as u64;
        let lived_ns = flow.last_ns.saturating_sub(flow.first_ns);
        // Its first and its last packet need not be in the same period.
        let summaries = lived_ns.checked_div(period_ns)? + 2 + more;
        let reports = u64::from(flow.reports).saturating_mul(self.plan.report_bytes);
        let price = summaries.saturating_mul(self.plan.summary_bytes);
        let paid = price.saturating_add(reports) <= flow.all_earned_bytes();
        (paid && flow.first_ns != 0).then(|| SummaryEvent {
            flow: key.into(),
            source_node: NodeId(flow.source_node),
            source_port: flow.source_port,
            sink_port: low16(flow.ifindex),
            totals: FlowTotals {
                first_ns: flow.first_ns,
                last_ns: flow.last_ns,
                packets: flow.all_packets(),
                bytes: flow.all_bytes(),
                lost: flow.lost.saturating_sub(flow.recovered),
                reordered: flow.reordered,
                duplicates: flow.duplicates,
                late: flow.late,
                restarts: flow.restarts,
                latency_min_ns: flow.latency_min_ns,
                latency_max_ns: flow.latency_max_ns,
                latency_sum_ns: flow.all_latency_sum_ns(),
                histogram: flow.histogram,
            },
        })
    }
}
