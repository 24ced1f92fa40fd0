//! Does what the daemon of a sink or source does for its host, where none runs: all roles share one clock, and two daemons
//! that change its value at once could undo each other's changes.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::state::TransitDaemon;
use crate::daemon::duty::Duty;
use crate::os::wait::Wait;

/// The time after which it is looked again whether such a daemon still runs.
const LOOK: Duration = Duration::from_secs(1);

/// A duty that rests while such a daemon runs.
pub struct WhileAlone<T> {
    duty: T,
    rests_until: Option<Instant>,
}

impl<T> WhileAlone<T> {
    pub fn new(duty: T) -> Self {
        Self {
            duty,
            rests_until: None,
        }
    }
}

impl<T: Duty<TransitDaemon>> Duty<TransitDaemon> for WhileAlone<T> {
    fn task(&self) -> &'static str {
        self.duty.task()
    }

    fn wakes<'a>(&'a self, daemon: &'a TransitDaemon, wait: &mut Wait<'a>) {
        match self.rests_until {
            Some(until) => wait.until(until),
            None => self.duty.wakes(daemon, wait),
        }
    }

    fn turn(&mut self, daemon: &mut TransitDaemon, now: Instant) -> Result<()> {
        self.rests_until = daemon.is_served().then(|| now + LOOK);
        match self.rests_until {
            Some(_) => Ok(()),
            None => self.duty.turn(daemon, now),
        }
    }
}
