//! Makes fine latency slots before flows need them.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::state::SinkDaemon;
use crate::daemon::duty::Duty;

/// The ring of events may have been full.
const LOOK: Duration = Duration::from_secs(1);

/// The duty to do so. Each new flow is an event, for which the daemon wakes.
#[derive(Default)]
pub struct MakeFineSlots {
    /// The events that had been read at the last look.
    events: u64,
    next_look: Option<Instant>,
    /// The number of begun flows for which there are slots.
    enough_until: u64,
}

impl Duty<SinkDaemon> for MakeFineSlots {
    fn task(&self) -> &'static str {
        "make fine latency slots"
    }

    fn turn(&mut self, daemon: &mut SinkDaemon, now: Instant) -> Result<()> {
        let events = std::mem::replace(&mut self.events, daemon.reports.events_read);
        let is_new = events != self.events || self.next_look.is_none_or(|next| now >= next);
        if self.enough_until == u64::MAX || !is_new {
            return Ok(());
        }
        self.next_look = Some(now + LOOK);
        let begun = daemon.sink.begun_flows()?;
        if begun >= self.enough_until {
            self.enough_until = begun.saturating_add(daemon.sink.fine.make_room()?);
        }
        Ok(())
    }
}
