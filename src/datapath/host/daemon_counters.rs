//! The counters of a sink's daemon, kept over all of its lives where `hostint status` reads them.

use std::io;
use std::sync::Mutex;

use crate::datapath::abi::{daemon_counter, daemon_shown};
use crate::datapath::kernel::map_names::DAEMON_COUNTERS;
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::sink::kernel_half::Sink;
use crate::model::SummaryBudget;
use crate::os::clock;

/// What the daemon's loop counts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u32)]
pub enum DaemonCount {
    EventsRead = daemon_counter::DAEMON_EVENTS_READ.0,
    EventsMalformed = daemon_counter::DAEMON_EVENTS_MALFORMED.0,
    ReportsSent = daemon_counter::DAEMON_REPORTS_SENT.0,
    ReportsLost = daemon_counter::DAEMON_REPORTS_LOST.0,
    DatagramsSent = daemon_counter::DAEMON_DATAGRAMS_SENT.0,
    DatagramsLost = daemon_counter::DAEMON_DATAGRAMS_LOST.0,
    SummariesSent = daemon_counter::DAEMON_SUMMARIES_SENT.0,
    SummariesLeftOut = daemon_counter::DAEMON_SUMMARIES_LEFT_OUT.0,
    LogWritten = daemon_counter::DAEMON_LOG_WRITTEN.0,
    LogLost = daemon_counter::DAEMON_LOG_LOST.0,
    FlowsExpired = daemon_counter::DAEMON_FLOWS_EXPIRED.0,
    SourceFlowsExpired = daemon_counter::DAEMON_SOURCE_FLOWS_EXPIRED.0,
    Sweeps = daemon_counter::DAEMON_SWEEPS.0,
    SweepCpuNs = daemon_counter::DAEMON_SWEEP_CPU_NS.0,
    Repaired = daemon_counter::DAEMON_REPAIRED.0,
    LeasesAsked = daemon_counter::DAEMON_LEASES_ASKED.0,
    LeasesAnswered = daemon_counter::DAEMON_LEASES_ANSWERED.0,
    LeasesRefused = daemon_counter::DAEMON_LEASES_REFUSED.0,
    LeaseCpuNs = daemon_counter::DAEMON_LEASE_CPU_NS.0,
}

const SLOTS: usize = daemon_counter::DAEMON_MAX.0 as usize;

/// The counts of this life of the daemon.
#[derive(Clone, Debug, Default)]
pub struct LifeCounts([u64; SLOTS]);

impl LifeCounts {
    pub fn add(&mut self, which: DaemonCount, more: u64) {
        if let Some(count) = self.0.get_mut(which as usize) {
            *count += more;
        }
    }

    /// Sets a count that something else keeps for this life.
    pub fn set(&mut self, which: DaemonCount, count: u64) {
        if let Some(place) = self.0.get_mut(which as usize) {
            *place = count;
        }
    }
}

/// The daemon's map: counts of all lives, its process, and its last sign of life.
pub struct DaemonCounters {
    map: Map<u32, u64>,
    before: [u64; SLOTS],
}

impl DaemonCounters {
    /// Reads the counts of earlier lives.
    pub fn of(sink: &Sink) -> io::Result<Self> {
        let map = sink.daemon.share();
        let mut before = [0; SLOTS];
        for (index, count) in (0..).zip(&mut before) {
            *count = map.get(&index)?.unwrap_or_default();
        }
        Ok(Self { map, before })
    }

    /// Says that a daemon is there now.
    pub fn begin_life(&self) -> io::Result<()> {
        self.note(daemon_counter::DAEMON_PID, std::process::id().into())?;
        self.note(daemon_counter::DAEMON_STARTED_NS, clock::realtime_ns())?;
        self.show_alive()
    }

    /// To be called every second.
    pub fn show_alive(&self) -> io::Result<()> {
        self.note(daemon_counter::DAEMON_ALIVE_NS, clock::realtime_ns())
    }

    /// Says that no daemon is there any more.
    pub fn end_life(&self) -> io::Result<()> {
        self.map.set(&daemon_shown::SHOWN_SUMMARIES_PER_S.0, &0)?;
        self.note(daemon_counter::DAEMON_PID, 0)
    }

    /// Shows what the daemon may spend on summaries.
    pub fn show_budget(&self, budget: &SummaryBudget) -> io::Result<()> {
        for (place, value) in [
            (daemon_shown::SHOWN_SUMMARY_NS, budget.period_ns),
            (daemon_shown::SHOWN_SUMMARY_LAST_NS, budget.last_period_ns),
            (
                daemon_shown::SHOWN_SUMMARIES_PER_S,
                1 + u64::from(budget.most_per_s),
            ),
        ] {
            self.map.set(&place.0, &value)?;
        }
        Ok(())
    }

    /// Adds the counts of this life to those of earlier ones.
    pub fn write(&self, life: &LifeCounts) -> io::Result<()> {
        for (index, (before, now)) in (0..).zip(self.before.iter().zip(life.0)) {
            // Places of the map that this life counts nothing in belong to others, too.
            if now > 0 {
                self.map.set(&index, &(before + now))?;
            }
        }
        Ok(())
    }

    fn note(&self, which: daemon_counter, value: u64) -> io::Result<()> {
        self.map.set(&which.0, &value)
    }
}

/// Returns what the daemon shows of its budget for summaries. Daemons of older versions show nothing.
pub fn budget(map: &Map<u32, u64>) -> io::Result<Option<SummaryBudget>> {
    let get =
        |place: daemon_shown| -> io::Result<u64> { Ok(map.get(&place.0)?.unwrap_or_default()) };
    let Some(most_per_s) = get(daemon_shown::SHOWN_SUMMARIES_PER_S)?.checked_sub(1) else {
        return Ok(None);
    };
    Ok(Some(SummaryBudget {
        period_ns: get(daemon_shown::SHOWN_SUMMARY_NS)?,
        last_period_ns: get(daemon_shown::SHOWN_SUMMARY_LAST_NS)?,
        most_per_s: u32::try_from(most_per_s).unwrap_or(u32::MAX),
    }))
}

/// The counters of the control socket, whose threads count by themselves.
pub struct ControlCounters(Mutex<Map<u32, u64>>);

impl ControlCounters {
    /// Opens the counters of this host's sink, if there is one.
    pub fn open(pins: &Pins) -> io::Result<Option<Self>> {
        let map = Map::<u32, u64>::open(&pins.map(DAEMON_COUNTERS))?;
        Ok(map.map(|map| Self(Mutex::new(map))))
    }

    pub fn answered(&self) {
        self.count(daemon_counter::DAEMON_CONTROL_ANSWERED);
    }

    pub fn refused(&self) {
        self.count(daemon_counter::DAEMON_CONTROL_REFUSED);
    }

    fn count(&self, which: daemon_counter) {
        if let Ok(map) = self.0.lock() {
            let before = map.get(&which.0).ok().flatten().unwrap_or_default();
            let _ = map.set(&which.0, &(before + 1));
        }
    }
}
