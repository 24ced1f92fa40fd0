//! Reports the episodes of queues that go on once in a period, and repeats the ends of others.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::state::PostcardsDaemon;
use crate::daemon::duty::Duty;

/// The duty to do so.
pub struct SendQueues;

impl Duty<PostcardsDaemon> for SendQueues {
    fn task(&self) -> &'static str {
        "read the queues of interfaces"
    }

    fn period(&self, daemon: &PostcardsDaemon) -> Duration {
        daemon.plan.config.report_period.0
    }

    fn turn(&mut self, daemon: &mut PostcardsDaemon, _now: Instant) -> Result<()> {
        let period = daemon.plan.config.report_period.0;
        daemon.send_queues(period, true)
    }

    fn finish(&mut self, daemon: &mut PostcardsDaemon) -> Result<()> {
        daemon.send_queues(Duration::ZERO, true)
    }
}
