//! Keeps the leases of this host's source.

use std::time::Instant;

use anyhow::Result;

use crate::daemon::duty::Duty;
use crate::daemon::on_host::OnHost;
use crate::os::wait::Wait;

/// The duty to keep the leases.
pub struct KeepLeases;

impl<D: OnHost> Duty<D> for KeepLeases {
    fn task(&self) -> &'static str {
        "keep leases"
    }

    fn wakes<'a>(&'a self, daemon: &'a D, wait: &mut Wait<'a>) {
        let leases = daemon.side().leases.iter();
        leases.for_each(|leases| leases.wakes(wait));
    }

    fn turn(&mut self, daemon: &mut D, _now: Instant) -> Result<()> {
        let side = daemon.side_mut();
        match &mut side.leases {
            Some(leases) => leases.tick(&side.pins),
            None => Ok(()),
        }
    }
}
