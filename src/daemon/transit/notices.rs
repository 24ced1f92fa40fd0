//! Tells collectors of packets in INT-MX that passed, as Telemetry Reports v2.0: the sink's report tells of the same ones.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::state::TransitDaemon;
use crate::daemon::duty::Duty;
use crate::daemon::reports_to_collectors::ReportsToCollectors;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::transit::transit_notices::NoticeRing;
use crate::model::{Body, Observation};
use crate::os::wait::Wait;
use crate::wire::report_postcards;

const LOOK: Duration = Duration::from_secs(1);

/// The duty to do so.
pub struct SendNotices {
    ring: NoticeRing,
    /// When it was looked at last whether the hop has another ring now.
    looked: Instant,
}

impl SendNotices {
    /// A hop that was detached and attached again has another ring.
    fn follow(&mut self, pins: &Pins) -> Result<()> {
        if !self.ring.is_of(pins)? {
            *self = Self::begin(pins)?;
        }
        Ok(())
    }

    pub fn begin(pins: &Pins) -> Result<Self> {
        let ring = NoticeRing::open(pins).context("cannot read which packets in INT-MX passed")?;
        let looked = Instant::now();
        Ok(Self { ring, looked })
    }
}

impl Duty<TransitDaemon> for SendNotices {
    fn task(&self) -> &'static str {
        "report packets in INT-MX to collectors"
    }

    fn wakes<'a>(&'a self, _daemon: &'a TransitDaemon, wait: &mut Wait<'a>) {
        wait.until(self.looked + LOOK);
        self.ring.wakes(wait);
    }

    fn turn(&mut self, daemon: &mut TransitDaemon, now: Instant) -> Result<()> {
        if now.saturating_duration_since(self.looked) >= LOOK {
            self.looked = now;
            self.follow(&daemon.side.pins)?;
        }
        let mut cards = Vec::new();
        self.ring.drain(|card| cards.push(card))?;
        if cards.is_empty() || !daemon.sends_extended() {
            return Ok(());
        }
        let node = daemon.node()?;
        let emitter = &mut daemon.emitter;
        for card in cards {
            let (hw_id, flags, report) = report_postcards::mx(node, &card);
            emitter.emit(Observation {
                hw_id,
                flags,
                clock: None,
                body: Body::Packet(Box::new(report)),
            });
        }
        emitter.flush();
        Ok(())
    }

    /// Tells what happened since the last turn, too.
    fn finish(&mut self, daemon: &mut TransitDaemon) -> Result<()> {
        self.turn(daemon, Instant::now())
    }
}
