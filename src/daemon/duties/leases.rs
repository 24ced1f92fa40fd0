//! Keeps the leases of this host's source.

use std::time::Instant;

use anyhow::Result;

use crate::daemon::duty::Duty;
use crate::daemon::on_host::OnHost;

/// The duty to keep the leases.
pub struct KeepLeases;

impl<D: OnHost> Duty<D> for KeepLeases {
    fn task(&self) -> &'static str {
        "keep leases"
    }

    fn turn(&mut self, daemon: &mut D, _now: Instant) -> Result<()> {
        let side = daemon.side();
        match &mut side.leases {
            Some(leases) => leases.tick(&side.pins),
            None => Ok(()),
        }
    }
}
