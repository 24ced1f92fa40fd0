//! Reports flows that are timed once in a period, and keeps the stamping of packets alive.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::state::PostcardsDaemon;
use super::sweep::idle_after;
use crate::daemon::duty::Duty;

/// The programs stamp packets for five times this long.
const RENEWED_AFTER: Duration = Duration::from_secs(2);

/// The duty to say that the daemon lives, for which alone packets are stamped.
pub struct RenewStamps;

impl Duty<PostcardsDaemon> for RenewStamps {
    fn task(&self) -> &'static str {
        "let packets that arrive be stamped"
    }

    fn period(&self, _daemon: &PostcardsDaemon) -> Duration {
        RENEWED_AFTER
    }

    fn turn(&mut self, daemon: &mut PostcardsDaemon, _now: Instant) -> Result<()> {
        match &mut daemon.hops {
            Some(hops) => Ok(hops.programs.live()?),
            None => Ok(()),
        }
    }
}

/// The duty to tell each flow once in a period.
pub struct SendFlowPassages;

impl Duty<PostcardsDaemon> for SendFlowPassages {
    fn task(&self) -> &'static str {
        "read the flows of packets that are timed"
    }

    fn period(&self, daemon: &PostcardsDaemon) -> Duration {
        // A flow that was reported at once is due between two periods.
        daemon.plan.config.report_period.0 / 2
    }

    fn turn(&mut self, daemon: &mut PostcardsDaemon, _now: Instant) -> Result<()> {
        report_due(daemon, false)
    }

    fn finish(&mut self, daemon: &mut PostcardsDaemon) -> Result<()> {
        report_due(daemon, true)
    }
}

fn report_due(daemon: &mut PostcardsDaemon, all: bool) -> Result<()> {
    let period = daemon.plan.config.report_period.0;
    let Some(hops) = &mut daemon.hops else {
        return Ok(());
    };
    let (due, read) = hops.due((!all).then_some(period), idle_after(period))?;
    // The beginning of a flow is reported before what its record has in the meantime.
    daemon.report_new_hops()?;
    daemon.send_hops(due, Some(read))
}
