//! Tells collectors the times of all packets over transit hops, once in each period of summaries.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::state::SinkDaemon;
use crate::daemon::duty::Duty;
use crate::daemon::reports_to_collectors::ReportsToCollectors;
use crate::datapath::sink::paths::PathTables;
use crate::model::PathTotalsReport;
use crate::os::clock;

/// The duty to do so.
pub struct SendPaths {
    tables: PathTables,
    due: Instant,
}

impl SendPaths {
    pub fn new(tables: PathTables) -> Self {
        Self {
            tables,
            due: Instant::now(),
        }
    }

    fn send(&mut self, daemon: &mut SinkDaemon) -> Result<()> {
        let now_ns = clock::realtime_ns();
        let period = daemon.plan.config.summary_period.0;
        // Idle paths are forgotten even if no collector is told.
        let news = self.tables.news(daemon.node()?, now_ns)?;
        if period.is_zero() || !daemon.sends_extended() {
            return Ok(());
        }
        for totals in news {
            daemon.emitter().send_path(&PathTotalsReport {
                time_s: (now_ns / 1_000_000_000) as u32,
                period_ns: period.as_nanos() as u64,
                totals,
            });
        }
        Ok(())
    }
}

impl Duty<SinkDaemon> for SendPaths {
    fn task(&self) -> &'static str {
        "report to collectors the times of packets over transit hops"
    }

    fn period(&self, _daemon: &SinkDaemon) -> Duration {
        Duration::from_secs(1)
    }

    fn turn(&mut self, daemon: &mut SinkDaemon, now: Instant) -> Result<()> {
        if now < self.due {
            return Ok(());
        }
        self.due = now + daemon.plan.config.summary_period.0;
        self.send(daemon)
    }

    /// Tells what happened since the last period too.
    fn finish(&mut self, daemon: &mut SinkDaemon) -> Result<()> {
        self.send(daemon)
    }
}
