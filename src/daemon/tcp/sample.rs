//! Reads the state of connections once in each period.

use std::time::Instant;

use anyhow::Result;

use super::lines::TcpOutput;
use super::state::TcpDaemon;
use crate::daemon::duty::Duty;
use crate::os::wait::Wait;

/// The duty to do so.
pub struct SampleConnections {
    next: Option<Instant>,
    /// The most connections on the screen.
    top: usize,
}

impl SampleConnections {
    pub fn new(top: usize) -> Self {
        Self { next: None, top }
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
        daemon.sample()?;
        match daemon.lines.output {
            TcpOutput::Screen => daemon.show(self.top),
            TcpOutput::Lines | TcpOutput::Once => Ok(()),
        }
    }

    fn finish(&mut self, daemon: &mut TcpDaemon) -> Result<()> {
        daemon.sample()
    }
}
