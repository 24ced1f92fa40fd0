//! Reports to collectors: each connection when it is seen first, once in each period, and at its end.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::state::TcpDaemon;
use crate::config::IdentitySettings;
use crate::daemon::duty::Duty;
use crate::daemon::own_host::{OwnHost, SeesOwnHost};
use crate::daemon::reports_to_collectors::ReportsToCollectors;
use crate::model::{Body, ConnectionReport, Flags, KernelParts, NodeId, Observation, Subsystem};
use crate::os::{clock, wait::Wait};
use crate::report::Emitter;

const NS_PER_S: u64 = 1_000_000_000;

impl TcpDaemon {
    /// Tells collectors what waits and may be reported now.
    pub fn report_collectors(&mut self, now: Instant) {
        let Some(node) = self.host.node().filter(|_| self.sends_extended()) else {
            return;
        };
        let time_s = (clock::realtime_ns() / NS_PER_S) as u32;
        for connection in self.queue.take(&mut self.connections, now) {
            self.emitter.emit(Observation {
                hw_id: Subsystem::Connections.into(),
                flags: Flags {
                    tracked_flow: true,
                    ..Flags::default()
                },
                clock: None,
                body: Body::Connection(Box::new(ConnectionReport {
                    time_s,
                    node,
                    connection,
                })),
            });
        }
    }
}

impl ReportsToCollectors for TcpDaemon {
    fn emitter(&mut self) -> &mut Emitter {
        &mut self.emitter
    }

    fn node(&self) -> Result<NodeId> {
        self.host.node().context("this host has no node id")
    }

    fn sends_extended(&self) -> bool {
        !self.plan.config.collectors.is_empty()
    }

    /// The daemon of a sink or source tells it, if there is one.
    fn identity(&self) -> Option<&IdentitySettings> {
        let settings = self.plan.config.identity.as_ref()?;
        (self.sends_extended() && !self.host.is_served()).then_some(settings)
    }

    fn lacks(&self) -> Result<KernelParts> {
        Ok(self.programs.found().refused)
    }
}

impl SeesOwnHost for TcpDaemon {
    fn own_host(&mut self) -> &mut OwnHost {
        &mut self.host
    }
}

/// The time between two turns in which connections are reported, if more wait than the limit allows at once.
const APART: Duration = Duration::from_millis(50);

/// The duty to report connections to collectors, a few at a time.
#[derive(Default)]
pub struct SendConnections {
    last: Option<Instant>,
}

impl Duty<TcpDaemon> for SendConnections {
    fn task(&self) -> &'static str {
        "report connections to collectors"
    }

    fn wakes<'a>(&'a self, daemon: &'a TcpDaemon, wait: &mut Wait<'a>) {
        let next = |last| Some(daemon.queue.next_due(last)?.max(last + APART));
        let next = self.last.and_then(next);
        next.into_iter().for_each(|next| wait.until(next));
    }

    fn turn(&mut self, daemon: &mut TcpDaemon, now: Instant) -> Result<()> {
        self.last = Some(now);
        daemon.report_collectors(now);
        Ok(())
    }
}
