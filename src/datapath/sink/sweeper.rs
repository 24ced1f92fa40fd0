//! The sweeper of silent flows: it ends their loss periods, and removes them when they stay idle.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, TryLockError};
use std::time::{Duration, Instant};

use super::fine_returns::FineReturns;
use super::fine_slots::FineSlots;
use super::flow_counts::counts_of;
use super::kernel_half::Sink;
use super::summaries::Summaries;
pub use super::summaries::SummaryPlan;
use super::walker::{SinkFindings, SinkTimes, Walker, is_idle};
use crate::datapath::abi::{Abi, SWEEP_KEYS, flow_key, sink_flow, source_flow};
use crate::datapath::kernel::map_names::SOURCE_FLOWS;
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::kernel::run::run_on;
use crate::model::{FlowKey, SummaryBudget, SummaryEvent, Tally};
use crate::os::clock;

/// The sink's flow table, and the flows in it that have to be looked at soon.
pub struct Sweeper {
    program: OwnedFd,
    /// False on a kernel that runs no program at once: the next packet of a flow ends its loss period, and a flow is forgotten
    /// with it.
    ends_loss_periods: bool,
    flows: Map<flow_key, sink_flow>,
    slots: FineSlots,
    returns: FineReturns,
    loss_timeout: Duration,
    idle_ns: u64,
    due: VecDeque<(Instant, flow_key)>,
    walker: Walker<sink_flow>,
    begins: bool,
    summaries: Summaries,
    /// The number of flows that had begun when the pass began.
    begun_flows: Option<u64>,
    seen: u64,
    tally: Option<Arc<Mutex<Tally>>>,
    /// The number of flows that the last complete pass saw.
    pub seen_in_pass: u64,
}

/// The most flows that are walked over when the process ends.
const LAST_PASS_FLOWS: u64 = 65_536;

impl Sweeper {
    pub fn new(sink: &Sink, loss_timeout: Duration, idle: Duration) -> io::Result<Self> {
        Ok(Self {
            program: sink.sweep.try_clone()?,
            ends_loss_periods: true,
            flows: sink.flows.share(),
            slots: sink.fine.share()?,
            returns: FineReturns::look_for_lost(&sink.fine, &sink.flows, Instant::now())?,
            loss_timeout,
            idle_ns: u64::try_from(idle.as_nanos()).unwrap_or(u64::MAX),
            due: VecDeque::new(),
            walker: Walker::over(&sink.flows),
            begins: true,
            summaries: Summaries::new(clock::realtime_ns()),
            begun_flows: None,
            seen: 0,
            tally: None,
            seen_in_pass: 0,
        })
    }

    /// Changes the timeouts. No flow waits longer than the new loss timeout from now.
    pub fn set_timeouts(&mut self, loss_timeout: Duration, idle: Duration) {
        let latest = Instant::now() + loss_timeout;
        for (when, _) in &mut self.due {
            *when = latest.min(*when);
        }
        self.loss_timeout = loss_timeout;
        self.idle_ns = u64::try_from(idle.as_nanos()).unwrap_or(u64::MAX);
    }

    /// Changes how often flows are summarised.
    pub fn set_summaries(&mut self, plan: SummaryPlan) {
        self.summaries.set(plan);
    }

    /// Sets the tally that counts flows which are removed. While another thread reads the tally, no flow is removed:
    /// the next pass does it.
    pub fn set_tally(&mut self, tally: Arc<Mutex<Tally>>) {
        self.tally = Some(tally);
    }

    /// Remembers that sequence numbers began to be missing in this flow just now.
    pub fn expect_loss(&mut self, flow: &FlowKey, now: Instant) {
        self.due.push_back((now + self.loss_timeout, flow.into()));
    }

    /// The end of the next loss period, if one goes on.
    pub fn loss_period_ends(&self) -> Option<Instant> {
        self.due.front().map(|(when, _)| *when)
    }

    /// Ends the loss periods that are over. The kernel half reports their losses as events.
    pub fn end_loss_periods(&mut self, now: Instant) -> io::Result<()> {
        let over = self.due.partition_point(|(when, _)| *when <= now);
        let keys: Vec<flow_key> = self.due.drain(..over).map(|(_, key)| key).collect();
        self.sweep(&keys)
    }

    /// Lets the kernel half end the loss periods of these flows.
    fn sweep(&mut self, keys: &[flow_key]) -> io::Result<()> {
        for chunk in keys.chunks(SWEEP_KEYS) {
            if !self.ends_loss_periods {
                break;
            }
            match run_on(&self.program, chunk) {
                Err(err) if err.kind() == io::ErrorKind::PermissionDenied => {
                    self.ends_loss_periods = false;
                }
                run => drop(run?),
            }
        }
        for key in keys {
            self.summaries.note_judged(key.into());
        }
        Ok(())
    }

    /// True instead of a pass over a table that is as empty as the last one found it: no flow began since, of the number that
    /// began until now. Then the walk over its buckets would be all that an idle host does. A pass that summarises is made: what
    /// fell silent is told some times.
    pub fn is_still_empty(
        &mut self,
        begun_flows: impl FnOnce() -> io::Result<u64>,
    ) -> io::Result<bool> {
        if !self.begins {
            return Ok(false);
        }
        let begun_flows = begun_flows()?;
        let began = self.begun_flows.replace(begun_flows) != Some(begun_flows);
        Ok(!began && self.seen_in_pass == 0 && !self.summaries.is_due() && !self.is_tally_new())
    }

    /// When a pass that summarises is to begin, if none goes on.
    pub fn summaries_due(&self) -> Option<Instant> {
        self.begins.then(|| self.summaries.due()).flatten()
    }

    /// The flows in the next slice of the table that need attention.
    fn next_slice(&mut self, now_ns: u64) -> io::Result<SinkFindings> {
        if std::mem::take(&mut self.begins) {
            let all = self.is_tally_new();
            self.summaries.begin_pass(now_ns, self.loss_timeout, all);
        }
        let found = self.walker.slice(&SinkTimes {
            now_ns,
            idle_ns: self.idle_ns,
            loss_timeout_ns: match self.ends_loss_periods {
                true => self.loss_timeout.as_nanos() as u64,
                false => u64::MAX / 2,
            },
            summary_ns: self.summaries.since_ns(),
        })?;
        self.seen += u64::from(found.seen);
        self.begins = found.end;
        if found.end {
            self.seen_in_pass = std::mem::take(&mut self.seen);
        }
        Ok(found)
    }

    /// Walks the next slice of the table: removes idle flows, ends loss periods whose begin was lost because the ring
    /// was full, and collects the summaries that are due.
    pub fn step(&mut self, now_ns: u64) -> io::Result<SweepStep> {
        let found = self.next_slice(now_ns)?;
        self.sweep(&found.loss)?;
        let mut step = SweepStep {
            end: found.end,
            ..SweepStep::default()
        };
        let idle_ns = self.idle_ns;
        let is_idle = |flow: &sink_flow| is_idle(flow.last_ns, now_ns, idle_ns);
        let mut tally = match self.tally.as_deref().map(Mutex::try_lock) {
            None => None,
            Some(Ok(tally)) => Some(tally),
            Some(Err(TryLockError::Poisoned(tally))) => Some(tally.into_inner()),
            // The reader looks at all flows; those that are due are looked at in the next period.
            Some(Err(TryLockError::WouldBlock)) => {
                self.summaries.miss();
                return Ok(step);
            }
        };
        let summaries = &mut self.summaries;
        let mut look_at = |key: &flow_key, flow: &sink_flow, summaries: &mut Summaries| {
            let (flow, slots) = self.slots.of_whole_flow(&self.flows, key, flow)?;
            let tally = tally.as_mut();
            let news =
                tally.map(|tally| tally.look_between(key.into(), counts_of(&flow, slots.clone())));
            summaries.offer(key, &flow, &slots, news.unwrap_or_default());
            io::Result::Ok(())
        };
        for (key, flow) in &found.summary {
            look_at(key, flow, summaries)?;
        }
        if found.end {
            for judged in summaries.take_judged() {
                let key = (&judged).into();
                if let Some(flow) = self.flows.get(&key)? {
                    look_at(&key, &flow, summaries)?;
                }
            }
        }
        let removed = |key: &flow_key, flow: &sink_flow| {
            let slots = self.slots.of_flow(flow)?;
            self.returns.take(flow, Instant::now());
            let ended = self.summaries.end(key, flow, &slots);
            step.summaries.extend(ended);
            // A record without a packet is not a flow yet.
            if let Some(tally) = tally.as_mut().filter(|_| flow.first_ns != 0) {
                tally.end(key.into(), counts_of(flow, slots));
            }
            Ok(())
        };
        step.removed = remove_if(&self.flows, &found.idle, is_idle, removed)?;
        self.returns
            .give_back(&self.slots, &self.flows, Instant::now())?;
        if found.end {
            let due = self.summaries.finish_pass(tally.as_deref_mut());
            step.summaries.extend(due);
        }
        Ok(step)
    }

    /// Walks all slices once more, and returns what is to be summarised at the end of this process.
    ///
    /// In a table of many flows that would take too long: the next process tells their totals.
    pub fn last_pass(&mut self, now_ns: u64) -> io::Result<Vec<SummaryEvent>> {
        let mut summaries = Vec::new();
        if self.summaries.are_off() || self.seen_in_pass > LAST_PASS_FLOWS {
            return Ok(summaries);
        }
        self.summaries.be_due();
        // The pass that goes on began before.
        for _ in 0..if self.begins { 1 } else { 2 } {
            loop {
                let step = self.step(now_ns)?;
                summaries.extend(step.summaries);
                if step.end {
                    break;
                }
            }
        }
        Ok(summaries)
    }

    /// True until the tally knows all flows. That is so after a pass over all of them, or when metrics were read.
    fn is_tally_new(&self) -> bool {
        let tally = self.tally.as_deref().map(Mutex::try_lock);
        matches!(tally, Some(Ok(tally)) if !tally.has_begun())
    }

    /// The number of summaries that were due, and were not sent because the budget was used up.
    pub fn summaries_left_out(&self) -> u64 {
        self.summaries.left_out
    }

    /// What may be spent on summaries, and how long the last period was.
    pub fn summary_budget(&self) -> SummaryBudget {
        self.summaries.shown_budget()
    }
}

/// After each slice the walk rests for this many times the slice's CPU time.
const REST: u32 = 64;

/// Returns how long to rest after a slice that took `took_ns` of CPU time.
pub fn rest_after(took_ns: u64) -> Duration {
    Duration::from_nanos(took_ns) * REST
}

/// The outcome of one slice.
#[derive(Clone, Debug, Default)]
pub struct SweepStep {
    pub removed: u64,
    /// The summaries that are due, including those of removed flows.
    pub summaries: Vec<SummaryEvent>,
    /// The table's end was reached.
    pub end: bool,
}

/// Removes flows that are still idle: some may have had packets since the walk found them.
fn remove_if<V: Abi>(
    flows: &Map<flow_key, V>,
    keys: &[flow_key],
    is_idle: impl Fn(&V) -> bool,
    mut removing: impl FnMut(&flow_key, &V) -> io::Result<()>,
) -> io::Result<u64> {
    let mut removed = 0;
    for key in keys {
        if let Some(flow) = flows.get(key)?
            && is_idle(&flow)
            && flows.remove(key)?
        {
            removing(key, &flow)?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// The sweeper of the source's flow table, while there is one.
#[derive(Default)]
pub struct SourceSweeper {
    table: Option<(u32, Map<flow_key, source_flow>, Walker<source_flow>)>,
    seen: u32,
    /// The number of flows that the last complete pass saw.
    seen_in_pass: u32,
}

/// How long an open TCP connection may be silent: longer than until Linux sends the last keep-alive of a dead one. If
/// it were forgotten, its next packet would count as one of a connection that began before the lease.
const OPEN_IDLE_NS: u64 = 8_100_000_000_000;

/// Returns the idle timeout of open TCP connections. A table that is three quarters full needs the room.
fn open_idle_ns(idle_ns: u64, flows: u32, capacity: u32) -> u64 {
    match flows > capacity / 4 * 3 {
        true => idle_ns,
        false => idle_ns.max(OPEN_IDLE_NS),
    }
}

impl SourceSweeper {
    /// True if the last complete pass found no flow.
    pub fn found_none(&self) -> bool {
        self.seen_in_pass == 0
    }

    /// Walks the next slice and removes flows that are idle for `idle_ns`. TCP connections in an encapsulation of their
    /// own are kept longer, until a FIN or RST is sent.
    pub fn step(&mut self, pins: &Pins, now_ns: u64, idle_ns: u64) -> io::Result<SweepStep> {
        if let Some(flows) = Map::open(&pins.map(SOURCE_FLOWS))? {
            return self.step_over(flows, now_ns, idle_ns);
        }
        self.table = None;
        Ok(SweepStep {
            end: true,
            ..SweepStep::default()
        })
    }

    /// Does the same in this table.
    pub fn step_over(
        &mut self,
        flows: Map<flow_key, source_flow>,
        now_ns: u64,
        idle_ns: u64,
    ) -> io::Result<SweepStep> {
        // A source that was detached and attached again has a new table.
        let id = flows.id()?;
        let (_, flows, walker) = match &mut self.table {
            Some(table) if table.0 == id => table,
            table => {
                let walker = Walker::over(&flows);
                table.insert((id, flows, walker))
            }
        };
        let open_idle_ns = open_idle_ns(idle_ns, self.seen_in_pass, flows.capacity());
        let is_idle = |flow: &source_flow| match flow.open {
            0 => is_idle(flow.last_ns, now_ns, idle_ns),
            _ => is_idle(flow.last_ns, now_ns, open_idle_ns),
        };
        let found = walker.slice(is_idle)?;
        self.seen += found.seen;
        if found.end {
            self.seen_in_pass = std::mem::take(&mut self.seen);
        }
        Ok(SweepStep {
            removed: remove_if(flows, &found.idle, is_idle, |_, _| Ok(()))?,
            end: found.end,
            ..SweepStep::default()
        })
    }
}
