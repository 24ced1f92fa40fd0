//! Looks each second for what measures on this host: sinks and sources come and go.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::daemon::duty::Duty;
use crate::daemon::own_host::SeesOwnHost;

/// The duty to do so.
pub struct FollowHost;

impl<D: SeesOwnHost> Duty<D> for FollowHost {
    fn task(&self) -> &'static str {
        "see what is measured on this host"
    }

    fn period(&self, _daemon: &D) -> Duration {
        Duration::from_secs(1)
    }

    fn turn(&mut self, daemon: &mut D, _now: Instant) -> Result<()> {
        Ok(daemon.own_host().look()?)
    }
}
