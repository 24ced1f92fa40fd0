//! Reopens the report log after a SIGUSR1, as a program that rotates logs asks for.

use std::time::Instant;

use anyhow::Result;

use super::state::SinkDaemon;
use crate::daemon::duty::Duty;
use crate::os::{log, signals};

/// The duty to do so.
pub struct ReopenReportLog;

impl Duty<SinkDaemon> for ReopenReportLog {
    fn task(&self) -> &'static str {
        "reopen the report log"
    }

    fn turn(&mut self, daemon: &mut SinkDaemon, _now: Instant) -> Result<()> {
        if signals::usr1_received()
            && let Err(err) = daemon.reports.emitter.reopen_log()
        {
            log::error(err);
        }
        Ok(())
    }
}
