//! Looks each second for what measures on this host: sinks and sources come and go.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::state::PostcardsDaemon;
use crate::daemon::duty::Duty;

/// The duty to do so.
pub struct FollowHost;

impl Duty<PostcardsDaemon> for FollowHost {
    fn task(&self) -> &'static str {
        "see what is measured on this host"
    }

    fn period(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn turn(&mut self, daemon: &mut PostcardsDaemon, _now: Instant) -> Result<()> {
        Ok(daemon.host.look()?)
    }
}
