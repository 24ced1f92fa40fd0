//! Tells collectors what this host knows about clocks: its own readings, quick packets, and answers to lease questions.

use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::clocks::Reading;
use crate::daemon::duty::Duty;
use crate::daemon::on_host::OnHost;
use crate::daemon::reports_to_collectors::ReportsToCollectors;
use crate::datapath::sink::minima::MinimaNews;
use crate::model::{ClockEvidence, ClockReading, QuickPacket};
use crate::os::{clock, netns, tick, wait::Wait};
use crate::report::ClockNews;

/// Readings that are reported: a datagram may be lost, and readings of two that follow each other have to meet.
const READINGS: usize = 6;

const PERIOD: Duration = Duration::from_secs(1);
/// When the clock was set, collectors get to know it at once, but no more often than this.
const LEAST_PERIOD: Duration = Duration::from_millis(100);

/// The duty to do so.
#[derive(Default)]
pub struct SendClocks {
    news: ClockNews,
    sent: Option<Instant>,
    minima: MinimaNews,
}

impl SendClocks {
    fn due<D: OnHost>(&self, daemon: &D) -> Option<Instant> {
        self.sent.map(|sent| match daemon.side().is_set_unreported {
            true => sent + LEAST_PERIOD,
            false => tick::before(sent) + PERIOD,
        })
    }
}

impl<D: ReportsToCollectors + OnHost> Duty<D> for SendClocks {
    fn task(&self) -> &'static str {
        "report to collectors what this host knows about clocks"
    }

    fn wakes<'a>(&'a self, daemon: &'a D, wait: &mut Wait<'a>) {
        self.due(daemon).into_iter().for_each(|due| wait.until(due));
    }

    fn turn(&mut self, daemon: &mut D, now: Instant) -> Result<()> {
        if self.due(daemon).is_some_and(|due| now < due) {
            return Ok(());
        }
        self.sent = Some(now);
        let exchanges = match &mut daemon.side_mut().leases {
            Some(leases) => leases.exchanges.take(),
            None => Vec::new(),
        };
        if !daemon.sends_extended() {
            return Ok(());
        }
        for (node, exchange) in exchanges {
            self.news.note_exchange(node, exchange);
        }
        let now_ns = clock::realtime_ns();
        let arrivals_by_card = daemon
            .sink()
            .is_some_and(|(_, config)| config.nic_timestamps);
        if let Some((sink, _)) = daemon.sink()
            && self.minima.may_have(sink.received()?, now)
        {
            let mut found = Vec::new();
            sink.minima.for_each(now_ns, |minimum| {
                let packet = QuickPacket {
                    arrived_ns: minimum.arrived_ns,
                    latency_ns: minimum.latency_ns,
                };
                found.push((minimum.source_node, packet));
            })?;
            self.news.note_packets(found, now_ns);
        }
        // If the clock was set while those packets arrived, this reading shows it.
        daemon.note_clock()?;
        daemon.side_mut().is_set_unreported = false;
        let clock = daemon.side().clock.unwrap_or_default();
        let stated_error_ns = daemon.side().stated_errors.greatest_ns();
        let readings = daemon.side().own_clock.newest(READINGS);
        let evidence = ClockEvidence {
            readings: readings.map(sent_reading).collect(),
            node: daemon.node()?,
            instance: netns::instance()?,
            kernel: netns::kernel()?,
            clock,
            arrivals_by_card,
            stated_error_ns: stated_error_ns.and_then(NonZeroU32::new),
            peers: self.news.take(),
        };
        let time_s = (now_ns / 1_000_000_000) as u32;
        daemon.emitter().report_clocks(&evidence, time_s);
        Ok(())
    }
}

fn sent_reading(reading: &Reading) -> ClockReading {
    let unsigned = |ns: i128| u64::try_from(ns).unwrap_or(0);
    let rate = |ppb: i64| ppb.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
    let (least, most) = reading.steered_ppb;
    ClockReading {
        raw_ns: unsigned(reading.raw_ns),
        took_ns: u32::try_from(reading.took_ns).unwrap_or(u32::MAX),
        clock_ns: unsigned(reading.clock_ns),
        steered_ppb: (rate(least), rate(most)),
        is_after_set: reading.is_after_set,
    }
}
