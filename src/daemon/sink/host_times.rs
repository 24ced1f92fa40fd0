//! Tells collectors how long packets wait in this host, before they leave and after they came.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::state::SinkDaemon;
use crate::config::SinkConfig;
use crate::daemon::duty::Duty;
use crate::daemon::tells_collectors::TellsCollectors;
use crate::datapath::host_times::HostTimes;
use crate::datapath::pins::Pins;
use crate::host::advice::advise_for;
use crate::model::PathTotalsReport;
use crate::os::{clock, log, privileges};

const PERIOD: Duration = Duration::from_secs(10);

/// The duty to do so.
pub struct TellHostTimes(HostTimes);

impl TellHostTimes {
    /// Begins to measure beside the sink, which is attached; `None` if that is not asked for.
    pub fn begin(pins: &Pins, config: &SinkConfig) -> Result<Option<Self>> {
        if !config.host_times {
            return Ok(None);
        }
        let begin = || {
            let mut times = HostTimes::attach(pins, config)?;
            times.follow(&config.devs)?;
            Ok(times)
        };
        let times = begin()
            .map_err(|err| advise_for(err, &privileges::STEADY))
            .context("cannot measure how long packets wait in this host")?;
        log::info(match times.followed().writes {
            true => "waits in this host are told",
            false => {
                "waits in this host are told, but for those in send buffers (they need kernel 6.16)"
            }
        });
        Ok(Some(Self(times)))
    }
}

impl Duty<SinkDaemon> for TellHostTimes {
    fn task(&self) -> &'static str {
        "tell collectors how long packets wait in this host"
    }

    fn period(&self) -> Duration {
        PERIOD
    }

    fn turn(&mut self, daemon: &mut SinkDaemon, _now: Instant) -> Result<()> {
        let now_ns = clock::realtime_ns();
        // Idle sources are forgotten even if no collector is told.
        let news = self.0.news(daemon.node()?, now_ns)?;
        let news = news.into_iter().filter(|_| daemon.tells_extended());
        for totals in Vec::from_iter(news) {
            daemon.emitter().tell_path(&PathTotalsReport {
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
