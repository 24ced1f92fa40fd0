//! Keeps the daemon's counters where `hostint status` reads them, over all of its lives.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::state::SinkDaemon;
use crate::daemon::duty::Duty;

/// The duty to do so every second, and at the end.
pub struct KeepCounters;

impl Duty<SinkDaemon> for KeepCounters {
    fn task(&self) -> &'static str {
        "keep the daemon's counters"
    }

    fn period(&self, _daemon: &SinkDaemon) -> Duration {
        Duration::from_secs(1)
    }

    fn turn(&mut self, daemon: &mut SinkDaemon, _now: Instant) -> Result<()> {
        daemon.counters.show_alive()?;
        daemon
            .counters
            .show_budget(&daemon.flows.summary_budget())?;
        Ok(daemon.counters.write(&daemon.life_counts())?)
    }

    fn finish(&mut self, daemon: &mut SinkDaemon) -> Result<()> {
        daemon.counters.write(&daemon.life_counts())?;
        Ok(daemon.counters.end_life()?)
    }
}
