//! Tells collectors the packets that source, hop and sink of this host counted as they came by.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::daemon::duty::Duty;
use crate::daemon::on_host::OnHost;
use crate::daemon::reports_to_collectors::ReportsToCollectors;
use crate::datapath::host::crossings::Crossings;
use crate::model::crossing_tally::BLOCKS_TOLD;
use crate::model::crossings::CrossingReport;
use crate::os::clock;

/// Each block is reported in several turns, so that a lost datagram costs no packet.
const PERIOD: Duration = Duration::from_secs(2);

/// The duty to do so. If several daemons of a host have it, collectors get the same from each.
#[derive(Default)]
pub struct SendCrossings {
    crossings: Crossings,
    /// The daemon has the program that counts packets behind queues.
    tells_sent: bool,
}

impl SendCrossings {
    pub fn new(tells_sent: bool) -> Self {
        Self {
            tells_sent,
            ..Self::default()
        }
    }
}

impl<D: ReportsToCollectors + OnHost> Duty<D> for SendCrossings {
    fn task(&self) -> &'static str {
        "report to collectors the packets that came by"
    }

    fn period(&self, _daemon: &D) -> Duration {
        PERIOD
    }

    fn turn(&mut self, daemon: &mut D, _now: Instant) -> Result<()> {
        if !daemon.sends_extended() {
            return Ok(());
        }
        let told_ns = clock::realtime_ns();
        let reported = self
            .crossings
            .news(daemon.pins(), told_ns, self.tells_sent)?;
        if reported.counts.is_empty() {
            return Ok(());
        }
        let report = CrossingReport {
            node: daemon.node()?,
            told_ns,
            first_block: reported.first_block,
            blocks: BLOCKS_TOLD,
            counts: reported.counts,
            covered: reported.covered,
        };
        daemon.emitter().send_crossings(&report);
        Ok(())
    }
}
