//! Reads the state of connections once in each period. The kernel walks over the sockets of the whole machine for that,
//! hundreds of thousands of places even where there are none: an idle host does it more seldom.

use std::time::Instant;

use anyhow::Result;

use super::lines::TcpOutput;
use super::state::TcpDaemon;
use crate::daemon::duty::Duty;
use crate::os::wait::Wait;

/// While no connection is known and none begins, all periods but each of these are left out.
const IDLE_PERIODS: u32 = 5;

/// The duty to do so.
pub struct SampleConnections {
    next: Option<Instant>,
    /// The connections that had begun at the last reading, if the kernel says so.
    begun: Option<u64>,
    /// The periods that were left out since then.
    left_out: u32,
    /// The most connections on the screen.
    top: usize,
}

impl SampleConnections {
    pub fn new(top: usize) -> Self {
        Self {
            next: None,
            begun: None,
            left_out: 0,
            top,
        }
    }

    /// True if there is something to read, or it is time to see whether there is.
    fn is_due(&mut self, daemon: &TcpDaemon) -> Result<bool> {
        let begun = daemon.programs.begun()?;
        let is_idle = daemon.connections.is_empty() && begun.is_some() && begun == self.begun;
        self.begun = begun;
        self.left_out += 1;
        if is_idle && self.left_out < IDLE_PERIODS {
            return Ok(false);
        }
        self.left_out = 0;
        Ok(true)
    }
}

impl Duty<TcpDaemon> for SampleConnections {
    fn task(&self) -> &'static str {
        "read the state of connections"
    }

    fn wakes<'a>(&'a self, _daemon: &'a TcpDaemon, wait: &mut Wait<'a>) {
        self.next.into_iter().for_each(|next| wait.until(next));
    }

    fn turn(&mut self, daemon: &mut TcpDaemon, now: Instant) -> Result<()> {
        if self.next.is_some_and(|next| now < next) {
            return Ok(());
        }
        let period = daemon.plan.config.sample_period.0;
        // The period is kept on average, unless a turn comes a whole period late.
        let next = self.next.map_or(now, |next| next + period);
        self.next = Some(next.max(now + period / 2));
        if self.is_due(daemon)? {
            daemon.sample()?;
        }
        match daemon.lines.output {
            TcpOutput::Screen => daemon.show(self.top),
            TcpOutput::Lines | TcpOutput::Once => Ok(()),
        }
    }

    fn finish(&mut self, daemon: &mut TcpDaemon) -> Result<()> {
        daemon.sample()
    }
}
