//! The selection of what to summarise: all groups, and flows whose traffic pays for it, within a budget of reports.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::time::{Duration, Instant};

use super::chosen_flow::ChosenFlow;
use super::events::low16;
use super::judged_flows::JudgedFlows;
use super::reported_losses::ReportedLosses;
use crate::datapath::abi::{flow_key, sink_flow};
use crate::model::{
    FlowKey, FlowSlots, LatencyHistogram, LatencyResolution, NodeId, SubjectTotals, SummaryBudget,
    SummaryEvent, SummarySubject, Tally, TallyNews, WideSlots,
};

/// The period of summaries, and their price.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SummaryPlan {
    /// 0 turns summaries off.
    pub period: Duration,
    /// The price of one report of a flow, at all collectors together.
    pub report_bytes: u64,
    /// The number of collectors that get each summary.
    pub copies: u64,
    /// The most summaries in a second.
    pub most_per_s: u32,
}

/// The counts of a flow with this many packets are widened.
const WIDE_PACKETS: u64 = 1 << 31;

/// Bytes of a summary without slots, as an IP packet, and of each slot.
const SUMMARY_BYTES: u64 = 280;
const SLOT_BYTES: u64 = 7;

/// The state of summaries. Each period begins with a pass over the flow table.
#[derive(Debug)]
pub(in crate::datapath) struct Summaries {
    plan: SummaryPlan,
    due: Instant,
    begun_ns: u64,
    /// In this pass, flows with packets after this time are summarised; `None` means no flow.
    since_ns: Option<u64>,
    /// The same of the last pass that summarised.
    last_since_ns: u64,
    /// Flows whose losses were judged since the last pass began, and before it: a judgement may come so late that a pass
    /// would not look at the flow any more.
    judged: JudgedFlows,
    judged_before: JudgedFlows,
    /// This pass is over all flows, so that the tally knows them, and tells nothing.
    only_tallies: bool,
    /// The last pass did not look at some flows.
    missed: bool,
    /// The flows to summarise at the end of the pass, the least important one on top.
    chosen: BinaryHeap<Reverse<ChosenFlow>>,
    /// The summaries that may be sent now; less than 0 after more groups than a period has room for.
    budget: f64,
    refilled: Instant,
    /// As its groups told it; 0 before the first.
    last_period_ns: u64,
    /// The counts of flows with enough packets to make those of the kernel wrap around.
    wide: HashMap<FlowKey, (u64, WideSlots)>,
    reported_losses: ReportedLosses,
    /// Summaries of flows that were due, and had no room in the budget.
    pub(in crate::datapath) left_out: u64,
}

impl Summaries {
    pub(in crate::datapath) fn new(now_ns: u64) -> Self {
        let now = Instant::now();
        Self {
            plan: SummaryPlan::default(),
            due: now,
            begun_ns: now_ns,
            since_ns: None,
            last_since_ns: now_ns,
            judged: JudgedFlows::default(),
            judged_before: JudgedFlows::default(),
            only_tallies: false,
            missed: false,
            chosen: BinaryHeap::new(),
            budget: 0.0,
            refilled: now,
            last_period_ns: 0,
            wide: HashMap::new(),
            reported_losses: ReportedLosses::default(),
            left_out: 0,
        }
    }

    pub(in crate::datapath) fn set(&mut self, plan: SummaryPlan) {
        let now = Instant::now();
        let latest = now + plan.period;
        if self.plan.period.is_zero() {
            (self.due, self.refilled) = (latest, now);
            // The first period may use what it would have saved.
            self.budget = plan.budget();
        }
        self.due = latest.min(self.due);
        self.plan = plan;
    }

    /// The next pass is to summarise.
    pub(in crate::datapath) fn be_due(&mut self) {
        self.due = Instant::now();
    }

    pub(in crate::datapath) fn shown_budget(&self) -> SummaryBudget {
        SummaryBudget {
            period_ns: self.plan.period.as_nanos() as u64,
            last_period_ns: self.last_period_ns,
            most_per_s: self.plan.most_per_s,
        }
    }

    /// When the next ones are due, unless they are off.
    pub(in crate::datapath) fn due(&self) -> Option<Instant> {
        (!self.are_off()).then_some(self.due)
    }

    pub(in crate::datapath) fn is_due(&self) -> bool {
        self.due().is_some_and(|due| Instant::now() >= due)
    }

    pub(in crate::datapath) fn are_off(&self) -> bool {
        self.plan.period.is_zero()
    }

    /// Begins a pass. A packet shortly before the last period counts for this one, because its loss was not known then;
    /// of flows whose losses were judged later than that, see [`Self::take_judged`].
    ///
    /// A pass over `all` flows is due until the tally has seen each of them once.
    pub(in crate::datapath) fn begin_pass(
        &mut self,
        now_ns: u64,
        loss_timeout: Duration,
        all: bool,
    ) {
        self.since_ns = None;
        if self.are_off() {
            return;
        }
        self.only_tallies = all;
        if all {
            self.since_ns = Some(1);
            return;
        }
        if !self.is_due() {
            return;
        }
        let now = Instant::now();
        self.refill(now);
        let margin_ns = 2 * loss_timeout.as_nanos() as u64;
        let mut since_ns = self.begun_ns.saturating_sub(margin_ns);
        let judged = std::mem::take(&mut self.judged);
        if std::mem::take(&mut self.missed) {
            since_ns = since_ns.min(self.last_since_ns);
            self.judged_before.add(judged);
            // They are looked at again.
            self.chosen.clear();
        } else {
            self.judged_before = judged;
        }
        if self.judged_before.are_too_many() {
            since_ns = 1;
        }
        self.since_ns = Some(since_ns);
        self.last_since_ns = since_ns;
        self.begun_ns = now_ns;
        self.due = now + self.plan.period;
    }

    /// Notes that the losses of this flow were judged just now.
    pub(in crate::datapath) fn note_judged(&mut self, flow: FlowKey) {
        if !self.are_off() {
            self.judged.note(flow);
        }
    }

    /// Returns the flows whose losses were judged before this pass began, and which it did not find: their last packets
    /// are too old for it.
    pub(in crate::datapath) fn take_judged(&mut self) -> Vec<FlowKey> {
        if self.since_ns.is_none() || self.only_tallies {
            return Vec::new();
        }
        std::mem::take(&mut self.judged_before).into_flows()
    }

    fn refill(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.refilled).as_secs_f64();
        let more = passed * f64::from(self.plan.most_per_s);
        self.budget = (self.budget + more).min(self.plan.budget());
        self.refilled = now;
    }

    /// Returns the time after which a flow must have packets to be looked at, or 0 for no flow.
    pub(in crate::datapath) fn since_ns(&self) -> u64 {
        self.since_ns.unwrap_or(0)
    }

    /// Notes that flows of this pass could not be added to the tally.
    pub(in crate::datapath) fn miss(&mut self) {
        self.missed = true;
    }

    /// Takes a flow that is due in this pass.
    pub(in crate::datapath) fn offer(
        &mut self,
        key: &flow_key,
        flow: &sink_flow,
        slots: &FlowSlots,
        news: TallyNews,
    ) {
        self.judged_before.remove(&key.into());
        if self.only_tallies {
            return;
        }
        let Some(summary) = self.of(key, flow, slots, 0) else {
            return;
        };
        let lost = news.lost.max(self.reported_losses.untold(key, flow));
        self.chosen.push(Reverse(ChosenFlow {
            rank: (lost, news.bytes),
            summary: Box::new(summary),
        }));
        if self.chosen.len() as f64 > self.budget.max(0.0) {
            self.chosen.pop();
            self.left_out += 1;
        }
    }

    /// Returns the last summary of a flow that is removed.
    pub(in crate::datapath) fn end(
        &mut self,
        key: &flow_key,
        flow: &sink_flow,
        slots: &FlowSlots,
    ) -> Option<SummaryEvent> {
        let summary = self.of(key, flow, slots, 1);
        self.wide.remove(&FlowKey::from(key));
        self.reported_losses.forget(&key.into());
        let summary = summary?;
        self.refill(Instant::now());
        if self.budget < 1.0 {
            self.left_out += 1;
            return None;
        }
        self.budget -= 1.0;
        Some(summary)
    }

    /// Ends a pass, and returns the summaries that are due: those of groups, then those of flows.
    ///
    /// All groups are reported. If they are more than a period has room for, the next one comes later, and they say so.
    pub(in crate::datapath) fn finish_pass(
        &mut self,
        tally: Option<&mut Tally>,
    ) -> Vec<SummaryEvent> {
        if self.since_ns.take().is_none() {
            return Vec::new();
        }
        if self.only_tallies {
            tally.into_iter().for_each(Tally::begin_counting);
            return Vec::new();
        }
        let groups = tally.map(Tally::groups_to_report).unwrap_or_default();
        self.budget -= groups.len() as f64;
        let mut period = self.plan.period;
        if self.budget < 0.0 && self.plan.most_per_s > 0 {
            let wait = Duration::from_secs_f64(-self.budget / f64::from(self.plan.most_per_s));
            self.due += wait;
            period += wait;
        }
        let period_ns = period.as_nanos() as u64;
        self.last_period_ns = period_ns;
        let mut reported: Vec<_> = groups
            .into_iter()
            .map(|(source_node, subject, totals)| SummaryEvent {
                source_node,
                subject,
                period_ns,
                totals,
            })
            .collect();
        while self.chosen.len() as f64 > self.budget.max(0.0) {
            self.chosen.pop();
            self.left_out += 1;
        }
        self.budget -= self.chosen.len() as f64;
        let flows = std::mem::take(&mut self.chosen).into_sorted_vec();
        let flows = flows.into_iter().map(|Reverse(chosen)| *chosen.summary);
        for summary in flows {
            self.reported_losses.note(&summary);
            reported.push(summary);
        }
        reported
    }

    /// Returns the flow's totals, unless its traffic does not pay for all reports that it may have caused so far and it
    /// has no losses that are still to be reported. `more` is the number of its summaries beyond one for each period.
    fn of(
        &mut self,
        key: &flow_key,
        flow: &sink_flow,
        slots: &FlowSlots,
        more: u64,
    ) -> Option<SummaryEvent> {
        let period_ns = self.plan.period.as_nanos() as u64;
        let lived_ns = flow.last_ns.saturating_sub(flow.epoch_ns());
        // Its first and its last packet need not be in the same period.
        let summaries = lived_ns.checked_div(period_ns)? + 2 + more;
        let latency = self.latency_of(key, flow, slots);
        let reports = u64::from(flow.reports).saturating_mul(self.plan.report_bytes);
        let slots = latency.numbered_slots().len() as u64;
        let each = (SUMMARY_BYTES + SLOT_BYTES * slots).saturating_mul(self.plan.copies);
        let price = summaries.saturating_mul(each);
        let paid = price.saturating_add(reports) <= flow.all_earned_bytes();
        let is_told = paid || self.reported_losses.untold(key, flow) > 0;
        (is_told && flow.first_ns != 0).then(|| SummaryEvent {
            subject: SummarySubject::Flow {
                flow: key.into(),
                source_port: flow.source_port,
                sink_port: low16(flow.ifindex),
            },
            source_node: NodeId(flow.source_node),
            period_ns,
            totals: totals_of(flow, latency),
        })
    }

    /// The flow's latencies as its summary tells them: in few slots, because the flow pays for each.
    fn latency_of(
        &mut self,
        key: &flow_key,
        flow: &sink_flow,
        slots: &FlowSlots,
    ) -> LatencyHistogram {
        let ends = (flow.latency_min_ns, flow.latency_max_ns);
        let sum_ns = flow.all_latency_sum_ns();
        let packets = flow.all_packets();
        let all = if packets < WIDE_PACKETS {
            slots.histogram(ends, sum_ns.into())
        } else {
            let mean_ns = sum_ns / i64::try_from(packets).unwrap_or(i64::MAX);
            let new = || {
                let slots = WideSlots::new(slots, packets, mean_ns);
                (flow.epoch_ns(), slots)
            };
            let known = self.wide.entry(key.into()).or_insert_with(new);
            if known.0 != flow.epoch_ns() {
                *known = new();
            }
            known.1.read(slots);
            known.1.histogram(ends, sum_ns.into())
        };
        all.coarsened(LatencyResolution::Middle)
    }
}

impl SummaryPlan {
    /// The number of summaries in a period.
    fn budget(&self) -> f64 {
        f64::from(self.most_per_s) * self.period.as_secs_f64()
    }
}

fn totals_of(flow: &sink_flow, latency: LatencyHistogram) -> SubjectTotals {
    SubjectTotals {
        epoch_ns: flow.epoch_ns(),
        last_ns: flow.last_ns,
        packets: flow.all_packets(),
        bytes: flow.all_bytes(),
        lost: flow.lost,
        recovered: flow.recovered,
        reordered: flow.reordered,
        duplicates: flow.duplicates,
        late: flow.late,
        restarts: flow.restarts.into(),
        latency,
        ..SubjectTotals::default()
    }
}
