//! Tells collectors how long packets wait in the queues behind the hop.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::state::TransitDaemon;
use crate::config::TransitConfig;
use crate::daemon::duty::Duty;
use crate::daemon::reports_to_collectors::ReportsToCollectors;
use crate::datapath::host::shared_settings::SharedSettings;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::transit::waits::Waits;
use crate::host::advice::unless_refused;
use crate::model::{KernelPart, PathTotalsReport};
use crate::os::{clock, log, privileges};

const PERIOD: Duration = Duration::from_secs(10);

/// The duty to do so.
pub struct ReportWaits {
    waits: Waits,
    /// The configuration that the program was attached with.
    config: TransitConfig,
}

impl ReportWaits {
    /// Begins to measure waits behind a hop with this configuration; `None` if it asks for none, or the kernel refuses it.
    pub fn begin(
        pins: &Pins,
        config: &TransitConfig,
        host: &SharedSettings,
    ) -> Result<Option<Self>> {
        if !config.waits {
            return Ok(None);
        }
        let attached = Waits::attach(pins, config);
        let (waits, found) = unless_refused(KernelPart::QueueWaits, &privileges::STEADY, attached)
            .context("cannot measure how long packets wait in queues")?;
        host.note_parts(found)?;
        let config = config.clone();
        Ok(waits.map(|waits| {
            log::info("waits in queues are reported");
            Self { waits, config }
        }))
    }

    /// Recognises INT by other marks from now on, if the hop does.
    fn follow(&mut self, daemon: &TransitDaemon) -> Result<()> {
        let now = &daemon.plan.setup.transit;
        let marks = |config: &TransitConfig| {
            let fills = config.carriers.tcp_int.is_some();
            (
                config.mark,
                config.extension_port,
                fills,
                config.carriers.int_md,
            )
        };
        if marks(now) != marks(&self.config)
            && let Some(begun) = Self::begin(&daemon.side.pins, now, &daemon.transit.host)?
        {
            *self = begun;
        }
        Ok(())
    }
}

impl Duty<TransitDaemon> for ReportWaits {
    fn task(&self) -> &'static str {
        "report to collectors how long packets wait in queues"
    }

    fn period(&self, _daemon: &TransitDaemon) -> Duration {
        PERIOD
    }

    fn turn(&mut self, daemon: &mut TransitDaemon, _now: Instant) -> Result<()> {
        let now_ns = clock::realtime_ns();
        // Idle queues are forgotten even if no collector is told.
        let news = self.waits.news(daemon.node()?, now_ns)?;
        let news = news.into_iter().filter(|_| daemon.sends_extended());
        for totals in Vec::from_iter(news) {
            daemon.emitter.send_path(&PathTotalsReport {
                time_s: (now_ns / 1_000_000_000) as u32,
                period_ns: PERIOD.as_nanos() as u64,
                totals,
            });
        }
        self.follow(daemon)
    }

    /// Tells what happened since the last period too.
    fn finish(&mut self, daemon: &mut TransitDaemon) -> Result<()> {
        self.turn(daemon, Instant::now())
    }
}
