//! Reports what flows dropped since they were reported last.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::state::PostcardsDaemon;
use crate::daemon::duty::Duty;

/// The time after which a flow without drops is forgotten, in periods of reports and at least.
const IDLE_PERIODS: u32 = 4;
const SHORTEST_IDLE: Duration = Duration::from_secs(60);

/// The duty to do so once in each period.
pub struct SendFlows;

impl Duty<PostcardsDaemon> for SendFlows {
    fn task(&self) -> &'static str {
        "read the flows of dropped packets"
    }

    fn period(&self, daemon: &PostcardsDaemon) -> Duration {
        daemon.plan.config.report_period.0
    }

    fn turn(&mut self, daemon: &mut PostcardsDaemon, _now: Instant) -> Result<()> {
        report_all(daemon)?;
        // Places that no flow has are asked for before their sums are reported.
        daemon.knows_places().map(|_| ())
    }

    fn finish(&mut self, daemon: &mut PostcardsDaemon) -> Result<()> {
        report_all(daemon)?;
        daemon.report_held()
    }
}

fn report_all(daemon: &mut PostcardsDaemon) -> Result<()> {
    let idle = idle_after(daemon.plan.config.report_period.0);
    let Some(drops) = &mut daemon.drops else {
        return Ok(());
    };
    let due = drops.sweep(idle)?;
    // The beginning of a flow is reported before what its record has in the meantime.
    daemon.report_new_drops()?;
    daemon.report_drops(due.news, Some(due.read))?;
    daemon.repeat(due.again)
}

/// The time after which a flow without packets is forgotten.
pub fn idle_after(period: Duration) -> Duration {
    SHORTEST_IDLE.max(period.saturating_mul(IDLE_PERIODS))
}
