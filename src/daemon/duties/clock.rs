//! Follows the host's clock: leap seconds, whether it is synchronised, how it is steered, and when it is set.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::daemon::duty::Duty;
use crate::daemon::on_host::OnHost;
use crate::model::ClockSteering;

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
        let pair = daemon.host().read_clock()?;
        let side = daemon.side();
        let discipline = side.note_clock(pair)?;
        let steering = ClockSteering::of_ppb(side.own_clock.most_steered_ppb());
        let state = daemon.host().follow_clock(discipline, steering)?;
        daemon.side().clock = Some(state);
        Ok(())
    }
}
