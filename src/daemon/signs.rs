//! A daemon's signs: to the service manager it says that it is ready, alive and what it does, to HTTP what it lacks.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::duty::Duty;
use super::health::Health;
use crate::os::notify::Notify;
use crate::os::{tick, wait::Wait};

/// The period of looking for what the daemon lacks.
const LOOK: Duration = Duration::from_secs(1);
/// The period of the line in words, for which all counters are read.
const LINE: Duration = Duration::from_secs(4);

/// The ways to say it.
pub struct Signs {
    pub notify: Notify,
    pub health: Arc<Health>,
}

impl Signs {
    pub fn from_env() -> Self {
        Self {
            notify: Notify::from_env(),
            health: Health::new(),
        }
    }
}

/// A daemon that says how it is.
pub trait ShowsSigns {
    fn signs(&mut self) -> &mut Signs;

    /// What it lacks to do its work.
    fn lacking(&mut self) -> Vec<String>;

    /// What it does, in one line.
    fn state_line(&mut self) -> Result<String>;
}

/// The duty to give these signs.
#[derive(Default)]
pub struct GiveSigns {
    next_look: Option<Instant>,
    next_line: Option<Instant>,
    /// When the service manager expects the next sign of life.
    next_sign: Option<Instant>,
}

impl<D: ShowsSigns> Duty<D> for GiveSigns {
    fn task(&self) -> &'static str {
        "notify the service manager"
    }

    fn wakes<'a>(&'a self, _daemon: &'a D, wait: &mut Wait<'a>) {
        let next = self.next_look.into_iter().chain(self.next_sign);
        next.for_each(|next| wait.until(next));
    }

    fn turn(&mut self, daemon: &mut D, now: Instant) -> Result<()> {
        let signs = daemon.signs();
        self.next_sign = signs.notify.alive();
        signs.health.is_alive();
        if self.next_look.is_some_and(|next| now < next) {
            return Ok(());
        }
        self.next_look = Some(tick::before(now) + LOOK);
        let lacking = daemon.lacking();
        daemon.signs().notify.lacks(&lacking);
        daemon.signs().health.lacks(lacking);
        if daemon.signs().notify.listens() && self.next_line.is_none_or(|next| now >= next) {
            self.next_line = Some(tick::before(now) + LINE);
            let line = daemon.state_line()?;
            daemon.signs().notify.status(line);
        }
        Ok(())
    }

    fn finish(&mut self, daemon: &mut D) -> Result<()> {
        daemon.signs().notify.stopping();
        Ok(())
    }
}
