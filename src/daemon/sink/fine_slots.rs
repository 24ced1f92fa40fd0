//! Makes fine latency slots before flows need them.

use std::time::Instant;

use anyhow::Result;

use super::state::SinkDaemon;
use crate::daemon::duty::Duty;

/// The duty to do so. Each new flow is an event, for which the daemon wakes.
#[derive(Default)]
pub struct MakeFineSlots {
    /// The number of begun flows for which there are slots.
    enough_until: u64,
}

impl Duty<SinkDaemon> for MakeFineSlots {
    fn task(&self) -> &'static str {
        "make fine latency slots"
    }

    fn turn(&mut self, daemon: &mut SinkDaemon, _now: Instant) -> Result<()> {
        if self.enough_until == u64::MAX {
            return Ok(());
        }
        let begun = daemon.sink.begun_flows()?;
        if begun >= self.enough_until {
            self.enough_until = begun.saturating_add(daemon.sink.fine.make_room()?);
        }
        Ok(())
    }
}
