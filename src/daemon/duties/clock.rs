//! Follows the host's clock: leap seconds, whether it is synchronised, how it is steered, and when it is set.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::clocks::Reading;
use crate::daemon::duty::Duty;
use crate::daemon::on_host::OnHost;
use crate::model::ClockSteering;
use crate::os::{clock, log};

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
        let discipline = clock::discipline()?;
        let pair = clock::pair()?;
        let side = daemon.side();
        let steps = side.own_clock.steps;
        side.own_clock.note(Reading {
            raw_ns: pair.raw_ns.into(),
            took_ns: pair.took_ns.into(),
            clock_ns: pair.realtime_ns.into(),
            steered_ppb: discipline.steered_ppb,
        });
        if side.own_clock.steps > steps {
            log::info("this host's clock was set: latencies before and after cannot be compared");
        }
        let steering = ClockSteering::of_ppb(side.own_clock.most_steered_ppb());
        let state = daemon.host().follow_clock(discipline, steering)?;
        daemon.side().clock = Some(state);
        Ok(())
    }
}
