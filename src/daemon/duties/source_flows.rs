//! Forgets flows of the source that are idle: its table is walked a slice at a time, so that nothing else waits.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::daemon::duty::Duty;
use crate::daemon::on_host::OnHost;
use crate::datapath::host::daemon_counters::DaemonCount;
use crate::datapath::sink::sweeper::{SourceSweeper, rest_after};
use crate::datapath::source::source_links;
use crate::os::{clock, tick, wait::Wait};

/// The time from the end of one pass over a flow table to the next: a small part of that after which flows are idle, because a
/// pass reads all of them.
pub fn rest_of_passes(idle_ns: u64) -> Duration {
    Duration::from_nanos(idle_ns / 32).clamp(PASS, LONG_PASS)
}

const PASS: Duration = Duration::from_secs(1);
const LONG_PASS: Duration = Duration::from_secs(4);
/// The most after a pass that found no flow.
const EMPTY_PASS: Duration = Duration::from_secs(10);

/// The duty to walk over the source's flow table.
pub struct WalkSourceFlows {
    sweeper: SourceSweeper,
    due: Instant,
    /// After which time flows are idle, in the pass that goes on.
    idle_ns: Option<u64>,
}

impl WalkSourceFlows {
    pub fn new() -> Self {
        Self {
            sweeper: SourceSweeper::default(),
            due: Instant::now(),
            idle_ns: None,
        }
    }
}

impl<D: OnHost> Duty<D> for WalkSourceFlows {
    fn task(&self) -> &'static str {
        "pass over the source's flow table"
    }

    fn wakes<'a>(&'a self, daemon: &'a D, wait: &mut Wait<'a>) {
        wait.until(self.due.max(daemon.side().walks_rest_until));
    }

    fn turn(&mut self, daemon: &mut D, now: Instant) -> Result<()> {
        if now < self.due.max(daemon.side().walks_rest_until) {
            return Ok(());
        }
        let cpu_ns = clock::thread_cpu_ns();
        let idle_ns = match self.idle_ns {
            Some(idle_ns) => idle_ns,
            None => source_links::idle_timeout_ns(daemon.pins())?
                .unwrap_or(daemon.idle_flow_timeout().as_ns()),
        };
        self.idle_ns = Some(idle_ns);
        let step = self
            .sweeper
            .step(daemon.pins(), clock::realtime_ns(), idle_ns)?;
        if step.end {
            self.idle_ns = None;
            // What comes now is not idle before.
            let rest = match self.sweeper.found_none() {
                true => Duration::from_nanos(idle_ns).clamp(PASS, EMPTY_PASS),
                false => rest_of_passes(idle_ns),
            };
            self.due = tick::before(now) + rest;
        }
        let took_ns = clock::thread_cpu_ns() - cpu_ns;
        let side = daemon.side_mut();
        side.counts
            .add(DaemonCount::SourceFlowsExpired, step.removed);
        side.counts.add(DaemonCount::SweepCpuNs, took_ns);
        side.walks_rest_until = Instant::now() + rest_after(took_ns);
        Ok(())
    }
}
