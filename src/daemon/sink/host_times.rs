//! Tells collectors how long packets wait in this host, before they leave and after they came.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::state::SinkDaemon;
use crate::config::SinkConfig;
use crate::daemon::duty::Duty;
use crate::daemon::reports_to_collectors::ReportsToCollectors;
use crate::datapath::host::host_times::HostTimes;
use crate::datapath::host::shared_settings::SharedSettings;
use crate::datapath::kernel::pins::Pins;
use crate::host::advice::unless_refused;
use crate::model::{KernelPart, PathTotalsReport};
use crate::os::{clock, log, privileges};

const PERIOD: Duration = Duration::from_secs(10);

/// The duty to do so.
pub struct SendHostTimes(HostTimes);

impl SendHostTimes {
    /// Begins to measure beside the sink, which is loaded; `None` if that is not asked for, or the kernel refuses it.
    pub fn begin(pins: &Pins, config: &SinkConfig, host: &SharedSettings) -> Result<Option<Self>> {
        if !config.host_times {
            return Ok(None);
        }
        let begin = || {
            let mut times = HostTimes::attach(pins, config)?;
            times.follow(&config.devs)?;
            Ok(times)
        };
        let part = KernelPart::HostWaits;
        let (times, found) = unless_refused(part, &privileges::STEADY, begin())
            .context("cannot measure how long packets wait in this host")?;
        host.note_parts(times.as_ref().map_or(found, HostTimes::found))?;
        Ok(times.map(|times| {
            log::info("waits in this host are reported");
            Self(times)
        }))
    }
}

impl Duty<SinkDaemon> for SendHostTimes {
    fn task(&self) -> &'static str {
        "report to collectors how long packets wait in this host"
    }

    fn period(&self, _daemon: &SinkDaemon) -> Duration {
        PERIOD
    }

    fn turn(&mut self, daemon: &mut SinkDaemon, _now: Instant) -> Result<()> {
        let now_ns = clock::realtime_ns();
        // Idle sources are forgotten even if no collector is told.
        let news = self.0.news(daemon.node()?, now_ns)?;
        let news = news.into_iter().filter(|_| daemon.sends_extended());
        for totals in Vec::from_iter(news) {
            daemon.emitter().send_path(&PathTotalsReport {
                time_s: (now_ns / 1_000_000_000) as u32,
                period_ns: PERIOD.as_nanos() as u64,
                totals,
            });
        }
        Ok(self.0.follow(&daemon.plan.config.devs)?)
    }

    /// Tells what happened since the last period too.
    fn finish(&mut self, daemon: &mut SinkDaemon) -> Result<()> {
        self.turn(daemon, Instant::now())
    }
}
