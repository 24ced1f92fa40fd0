//! Does what the daemon of a sink or source does for its host, where none runs: all roles share one clock, and two daemons
//! that change its value at once could undo each other's changes.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::state::TransitDaemon;
use crate::daemon::duty::Duty;

/// A duty that rests while such a daemon runs.
pub struct WhileAlone<T>(pub T);

impl<T: Duty<TransitDaemon>> Duty<TransitDaemon> for WhileAlone<T> {
    fn task(&self) -> &'static str {
        self.0.task()
    }

    fn period(&self) -> Duration {
        self.0.period()
    }

    fn turn(&mut self, daemon: &mut TransitDaemon, now: Instant) -> Result<()> {
        if daemon.is_served() {
            return Ok(());
        }
        self.0.turn(daemon, now)
    }
}
