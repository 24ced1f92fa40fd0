//! Follows the host's clock where no daemon of a sink or source does so already: all roles share one value, and two
//! daemons that change it at once could undo each other's changes.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::state::TransitDaemon;
use crate::daemon::duties::FollowClock;
use crate::daemon::duty::Duty;

/// The duty to do so.
pub struct FollowClockAlone;

impl Duty<TransitDaemon> for FollowClockAlone {
    fn task(&self) -> &'static str {
        Duty::<TransitDaemon>::task(&FollowClock)
    }

    fn period(&self) -> Duration {
        Duty::<TransitDaemon>::period(&FollowClock)
    }

    fn turn(&mut self, daemon: &mut TransitDaemon, now: Instant) -> Result<()> {
        if daemon.side.pins.is_served()? {
            return Ok(());
        }
        FollowClock.turn(daemon, now)
    }
}
