//! Follows the host's clock: leap seconds, whether it is synchronised, how it is steered, and when it is set.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::daemon::duty::Duty;
use crate::daemon::on_host::OnHost;
use crate::datapath::host::shared_settings::ReportedByDaemon;
use crate::model::ClockSteering;
use crate::os::{tick, wait::Wait};

const PERIOD: Duration = Duration::from_secs(1);

/// The duty to follow the clock: each second, and as soon as it was set.
#[derive(Default)]
pub struct FollowClock {
    due: Option<Instant>,
}

impl<D: OnHost> Duty<D> for FollowClock {
    fn task(&self) -> &'static str {
        "follow the clock"
    }

    fn wakes<'a>(&'a self, daemon: &'a D, wait: &mut Wait<'a>) {
        self.due.into_iter().for_each(|due| wait.until(due));
        daemon.side().wakes_for_clock(wait);
    }

    fn turn(&mut self, daemon: &mut D, now: Instant) -> Result<()> {
        if self.due.is_some_and(|due| now < due) && !daemon.side_mut().clock_is_set() {
            return Ok(());
        }
        self.due = Some(tick::before(now) + PERIOD);
        let discipline = daemon.note_clock()?;
        let reported = ReportedByDaemon {
            steering: ClockSteering::of_ppb(daemon.side().own_clock.most_steered_ppb()),
            sends_strays: daemon.side().leases.is_some(),
        };
        let stated_ns = daemon.side().stated_errors.greatest_ns();
        let state = daemon
            .host()
            .follow_clock(discipline, Some(reported), stated_ns)?;
        daemon.side_mut().clock = Some(state);
        Ok(())
    }
}
