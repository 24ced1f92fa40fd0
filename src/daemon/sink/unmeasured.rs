//! Tells collectors which packets this host's sink stripped without measuring them, by source node, class and reason.

use std::io;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::state::SinkDaemon;
use crate::daemon::duty::Duty;
use crate::daemon::reports_to_collectors::ReportsToCollectors;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::sink::unmeasured::{UnmeasuredKey, UnmeasuredTables};
use crate::model::Classes;
use crate::model::coverage::{CoverageReport, MissedPackets, MissedReason, PairEnd};
use crate::model::missed_tally::MissedTally;
use crate::os::clock;

const PERIOD_S: u16 = 10;

/// The duty to do so.
pub struct SendUnmeasured {
    tally: MissedTally<UnmeasuredKey>,
    epoch_ns: u64,
    /// The tables that were read last.
    tables: Option<u32>,
}

impl SendUnmeasured {
    pub fn new() -> Self {
        Self {
            tally: MissedTally::default(),
            epoch_ns: clock::realtime_ns(),
            tables: None,
        }
    }

    /// Returns the counts that are to be reported.
    fn read(&mut self, pins: &Pins, classes: &Classes) -> io::Result<Vec<MissedPackets>> {
        let Some(tables) = UnmeasuredTables::open(pins)? else {
            return Ok(self.tally.end_turn());
        };
        let id = tables.id()?;
        if self.tables.replace(id) != Some(id) {
            self.tally.change_table();
        }
        let tally = &mut self.tally;
        tables.for_each(|key, count| {
            let reason = |_| MissedReason::Sink(key.reason());
            tally.add(
                key,
                &[count],
                || 1,
                reason,
                || {
                    let flow = key.flow();
                    let class = flow.and_then(|flow| classes.class_of(&flow).map(str::to_owned));
                    (PairEnd::FromSource(key.source()), class)
                },
            );
        })?;
        let reported = tally.end_turn();
        // A packet that is counted at the moment of a removal is lost to these counts.
        if tables.is_nearly_full(tally.entries()) {
            for key in tally.idle() {
                tables.remove(&key)?;
            }
        }
        Ok(reported)
    }
}

impl Duty<SinkDaemon> for SendUnmeasured {
    fn task(&self) -> &'static str {
        "report to collectors which packets were not measured"
    }

    fn period(&self, _daemon: &SinkDaemon) -> Duration {
        Duration::from_secs(PERIOD_S.into())
    }

    fn turn(&mut self, daemon: &mut SinkDaemon, _now: Instant) -> Result<()> {
        if !daemon.sends_extended() {
            return Ok(());
        }
        let classes = &daemon.plan.destinations.classes;
        let missed = self.read(&daemon.side.pins, classes)?;
        if missed.is_empty() {
            return Ok(());
        }
        let report = CoverageReport {
            node: daemon.plan.node.id,
            period_s: PERIOD_S,
            epoch_ns: self.epoch_ns,
            missed,
        };
        let time_s = (clock::realtime_ns() / 1_000_000_000) as u32;
        daemon.reports.emitter.send_coverage(&report, time_s);
        Ok(())
    }

    fn finish(&mut self, daemon: &mut SinkDaemon) -> Result<()> {
        self.turn(daemon, Instant::now())
    }
}
