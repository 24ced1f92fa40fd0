//! The duties of a daemon: all that it does besides moving packets' news, each in its own time.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::troubles::Troubles;
use crate::os::tick::{self, TICK};
use crate::os::wait::Wait;

/// The period of a duty that looks itself whether anything is due, and says for what it waits: each turn of the loop.
pub const EACH_TURN: Duration = Duration::ZERO;

/// A duty without a period that failed is tried again after this time. What it waits for may still be there, unread.
pub const RETRY: Duration = Duration::from_millis(50);

/// One thing that a daemon of kind `D` does again and again. What it needs for itself it owns; what others need too
/// is in `D`.
pub trait Duty<D> {
    /// Completes the sentence "cannot …" in the log: `keep leases`.
    fn task(&self) -> &'static str;

    /// The time from one turn to the next.
    fn period(&self, _daemon: &D) -> Duration {
        EACH_TURN
    }

    /// Says what the daemon is to wake for. Without a period the duty has a turn whatever it wakes for.
    fn wakes<'a>(&'a self, _daemon: &'a D, _wait: &mut Wait<'a>) {}

    /// Does what is due. An error is logged once, and the duty has its next turn all the same.
    fn turn(&mut self, daemon: &mut D, now: Instant) -> Result<()>;

    /// Does what is left to do before the daemon ends.
    fn finish(&mut self, _daemon: &mut D) -> Result<()> {
        Ok(())
    }
}

struct ListedDuty<D> {
    duty: Box<dyn Duty<D>>,
    /// When it had its last turn, or the tick before.
    last: Option<Instant>,
    /// When its last turn failed, if it did.
    failed: Option<Instant>,
}

/// A daemon's duties in the order in which they have their turns.
pub struct Duties<D> {
    list: Vec<ListedDuty<D>>,
    troubles: Troubles,
}

impl<D> Default for Duties<D> {
    fn default() -> Self {
        Self {
            list: Vec::new(),
            troubles: Troubles::default(),
        }
    }
}

impl<D> Duties<D> {
    /// Adds a duty behind those that are there.
    pub fn with(mut self, duty: impl Duty<D> + 'static) -> Self {
        self.list.push(ListedDuty {
            duty: Box::new(duty),
            last: None,
            failed: None,
        });
        self
    }

    /// Gives a turn to each duty that is due.
    pub fn turn(&mut self, daemon: &mut D, now: Instant) {
        for ListedDuty { duty, last, failed } in &mut self.list {
            let period = duty.period(daemon);
            if last.is_some_and(|last| now < last + period) {
                continue;
            }
            *last = Some(match period >= TICK {
                true => tick::before(now),
                false => now,
            });
            let result = duty.turn(daemon, now);
            *failed = result.is_err().then_some(now);
            self.troubles.note(duty.task(), result);
        }
    }

    /// Waits until a duty is due, a signal or another thread wakes the daemon, or what else is in `wait` happens. This is
    /// the only place in which a daemon waits.
    pub fn wait<'a>(&'a self, daemon: &'a D, mut wait: Wait<'a>) {
        for ListedDuty { duty, last, failed } in &self.list {
            let period = duty.period(daemon);
            if period > EACH_TURN {
                last.iter().for_each(|last| wait.until(*last + period));
            }
            match failed {
                Some(failed) if period == EACH_TURN => wait.until(*failed + RETRY),
                Some(_) => {}
                None => duty.wakes(daemon, &mut wait),
            }
        }
        wait.sleep();
    }

    /// Gives each duty its last turn.
    pub fn finish(&mut self, daemon: &mut D) {
        for ListedDuty { duty, .. } in &mut self.list {
            let result = duty.finish(daemon);
            self.troubles.note(duty.task(), result);
        }
    }
}
