//! Reports the episodes of queues that go on once in a period, and repeats the ends of others.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::state::PostcardsDaemon;
use crate::daemon::duty::Duty;

/// The duty to do so.
#[derive(Default)]
pub struct SendQueues {
    last: Option<Instant>,
}

impl Duty<PostcardsDaemon> for SendQueues {
    fn task(&self) -> &'static str {
        "read the queues of interfaces"
    }

    fn turn(&mut self, daemon: &mut PostcardsDaemon, now: Instant) -> Result<()> {
        let period = daemon.plan.config.report_period.0;
        if self.last.is_some_and(|last| now < last + period) {
            return Ok(());
        }
        self.last = Some(now);
        daemon.send_queues(Duration::ZERO, period, true)
    }

    fn finish(&mut self, daemon: &mut PostcardsDaemon) -> Result<()> {
        daemon.send_queues(Duration::ZERO, Duration::ZERO, true)
    }
}
