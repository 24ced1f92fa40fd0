//! Reports the episodes of queues that go on once in a period, and repeats the ends of others.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::state::PostcardsDaemon;
use crate::daemon::duty::Duty;
use crate::os::wait::Wait;

/// The duty to do so.
#[derive(Default)]
pub struct SendQueues {
    last: Option<Instant>,
}

impl Duty<PostcardsDaemon> for SendQueues {
    fn task(&self) -> &'static str {
        "read the queues of interfaces"
    }

    fn wakes<'a>(&'a self, daemon: &'a PostcardsDaemon, wait: &mut Wait<'a>) {
        if let Some(last) = self.last {
            wait.until(last + daemon.plan.config.report_period.0);
        }
    }

    fn turn(&mut self, daemon: &mut PostcardsDaemon, now: Instant) -> Result<()> {
        let period = daemon.plan.config.report_period.0;
        if self.last.is_some_and(|last| now < last + period) {
            return Ok(());
        }
        self.last = Some(now);
        daemon.send_queues(period, true)
    }

    fn finish(&mut self, daemon: &mut PostcardsDaemon) -> Result<()> {
        daemon.send_queues(Duration::ZERO, true)
    }
}
