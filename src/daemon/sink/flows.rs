//! Ends loss periods in the sink's flow table, summarises flows, and forgets those that are idle.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::state::SinkDaemon;
use crate::daemon::duties::rest_of_passes;
use crate::daemon::duty::Duty;
use crate::datapath::host::daemon_counters::DaemonCount;
use crate::datapath::lease::grants;
use crate::datapath::sink::sweeper::{SweepStep, rest_after};
use crate::os::{clock, tick, wait::Wait};

/// The duty to end loss periods in time.
pub struct EndLossPeriods;

impl Duty<SinkDaemon> for EndLossPeriods {
    fn task(&self) -> &'static str {
        "end loss periods"
    }

    fn wakes<'a>(&'a self, daemon: &'a SinkDaemon, wait: &mut Wait<'a>) {
        let due = daemon.flows.loss_period_ends();
        due.into_iter().for_each(|due| wait.until(due));
    }

    fn turn(&mut self, daemon: &mut SinkDaemon, now: Instant) -> Result<()> {
        Ok(daemon.flows.end_loss_periods(now)?)
    }
}

/// The duty to walk over the flow table, a slice at a time so that nothing else waits, and not more often than is of
/// use.
pub struct WalkSinkFlows {
    due: Instant,
}

impl WalkSinkFlows {
    pub fn new() -> Self {
        Self {
            due: Instant::now(),
        }
    }

    /// When the next slice is to be walked. A pass begins early if it has to summarise.
    fn next(&self, daemon: &SinkDaemon) -> Instant {
        let summaries = daemon.flows.summaries_due();
        let due = summaries.map_or(self.due, |due| due.min(self.due));
        due.max(daemon.side.walks_rest_until)
    }
}

impl Duty<SinkDaemon> for WalkSinkFlows {
    fn task(&self) -> &'static str {
        "pass over the sink's flow table"
    }

    fn wakes<'a>(&'a self, daemon: &'a SinkDaemon, wait: &mut Wait<'a>) {
        wait.until(self.next(daemon));
    }

    fn turn(&mut self, daemon: &mut SinkDaemon, now: Instant) -> Result<()> {
        if now < self.next(daemon) {
            return Ok(());
        }
        let cpu_ns = clock::thread_cpu_ns();
        let now_ns = clock::realtime_ns();
        let begun_flows = || daemon.sink.begun_flows();
        let step = match daemon.flows.is_still_empty(begun_flows)? {
            true => SweepStep {
                end: true,
                ..SweepStep::default()
            },
            false => daemon.flows.step(now_ns)?,
        };
        daemon.reports.summarize(step.summaries);
        let counts = &mut daemon.side.counts;
        counts.add(DaemonCount::FlowsExpired, step.removed);
        if step.end {
            grants::expire(&daemon.sink.grants, &daemon.sink.grants_serial)?;
            counts.add(DaemonCount::Sweeps, 1);
            let idle = daemon.plan.config.idle_flow_timeout;
            self.due = tick::before(now) + rest_of_passes(idle.as_ns());
        }
        let took_ns = clock::thread_cpu_ns() - cpu_ns;
        counts.add(DaemonCount::SweepCpuNs, took_ns);
        daemon.side.walks_rest_until = Instant::now() + rest_after(took_ns);
        Ok(())
    }
}

/// The time between two turns in which summaries are sent.
const APART: Duration = Duration::from_millis(10);

/// The duty to send summaries, a few in each turn.
#[derive(Default)]
pub struct SendSummaries {
    last: Option<Instant>,
}

impl Duty<SinkDaemon> for SendSummaries {
    fn task(&self) -> &'static str {
        "send summaries"
    }

    fn wakes<'a>(&'a self, daemon: &'a SinkDaemon, wait: &mut Wait<'a>) {
        if let Some(last) = self.last.filter(|_| daemon.reports.has_waiting()) {
            wait.until(last + APART);
        }
    }

    fn turn(&mut self, daemon: &mut SinkDaemon, now: Instant) -> Result<()> {
        if self.last.is_none_or(|last| now >= last + APART) {
            self.last = Some(now);
            daemon.reports.report_some(clock::realtime_ns());
        }
        Ok(())
    }

    /// Sends what happened since the last period too.
    fn finish(&mut self, daemon: &mut SinkDaemon) -> Result<()> {
        let now_ns = clock::realtime_ns();
        let summaries = daemon.flows.last_pass(now_ns)?;
        daemon.reports.summarize(summaries);
        daemon.reports.report_all(now_ns);
        daemon.reports.emitter.flush();
        Ok(())
    }
}
