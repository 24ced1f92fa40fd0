//! The duties of a daemon: all that it does besides moving packets' news, each in its own time.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::troubles::Troubles;

/// The period of a duty that looks itself whether anything is due: each turn of the loop, a few ms.
pub const EACH_TURN: Duration = Duration::ZERO;

/// One thing that a daemon of kind `D` does again and again. What it needs for itself it owns; what others need too
/// is in `D`.
pub trait Duty<D> {
    /// Completes the sentence "cannot …" in the log: `keep leases`.
    fn task(&self) -> &'static str;

    /// The time from one turn to the next.
    fn period(&self) -> Duration {
        EACH_TURN
    }

    /// Does what is due. An error is logged once, and the duty has its next turn all the same.
    fn turn(&mut self, daemon: &mut D, now: Instant) -> Result<()>;

    /// Does what is left to do before the daemon ends.
    fn finish(&mut self, _daemon: &mut D) -> Result<()> {
        Ok(())
    }
}

struct ListedDuty<D> {
    duty: Box<dyn Duty<D>>,
    due: Option<Instant>,
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
            due: None,
        });
        self
    }

    /// Gives a turn to each duty that is due.
    pub fn turn(&mut self, daemon: &mut D, now: Instant) {
        for ListedDuty { duty, due } in &mut self.list {
            if due.is_some_and(|due| now < due) {
                continue;
            }
            *due = Some(now + duty.period());
            let result = duty.turn(daemon, now);
            self.troubles.note(duty.task(), result);
        }
    }

    /// Gives each duty its last turn.
    pub fn finish(&mut self, daemon: &mut D) {
        for ListedDuty { duty, .. } in &mut self.list {
            let result = duty.finish(daemon);
            self.troubles.note(duty.task(), result);
        }
    }
}
