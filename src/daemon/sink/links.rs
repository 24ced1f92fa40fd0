//! Looks whether the sink is still attached: the daemon ends with its last interface.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::state::SinkDaemon;
use crate::daemon::duty::Duty;
use crate::datapath::sink::sink_links;

/// The duty to do so.
pub struct LookForLinks;

impl Duty<SinkDaemon> for LookForLinks {
    fn task(&self) -> &'static str {
        "keep the sink's links where commands find them"
    }

    fn period(&self, _daemon: &SinkDaemon) -> Duration {
        Duration::from_secs(1)
    }

    fn turn(&mut self, daemon: &mut SinkDaemon, _now: Instant) -> Result<()> {
        let pins = &daemon.side.pins;
        daemon.is_detached = sink_links::links(pins)?.is_empty();
        Ok(pins.check_visible()?)
    }
}
