//! Follows the host's clock: leap seconds, and whether it is synchronised.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::daemon::duty::Duty;
use crate::daemon::on_host::OnHost;

/// The duty to follow the clock.
pub struct FollowClock;

impl<D: OnHost> Duty<D> for FollowClock {
    fn task(&self) -> &'static str {
        "follow the clock"
    }

    fn period(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn turn(&mut self, daemon: &mut D, _now: Instant) -> Result<()> {
        let state = daemon.host().refresh_clock()?;
        daemon.side().clock = Some(state);
        Ok(())
    }
}
