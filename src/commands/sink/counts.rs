//! What the daemon counts, over all its lives.

use anyhow::Result;

use crate::commands::leases::Counts;
use crate::datapath::abi::daemon_counter;
use crate::datapath::sink::Sink;
use crate::report::{DatagramCounts, EmitterCounts};

/// What this life counted so far.
pub struct Now {
    pub events_read: u64,
    pub events_malformed: u64,
    pub reports: EmitterCounts,
    pub leases: Counts,
    pub repaired: u64,
}

/// The daemon's counters of an earlier life, to which it adds.
pub struct Before {
    read: u64,
    malformed: u64,
    sent: u64,
    lost: u64,
    datagrams: DatagramCounts,
    log_written: u64,
    log_lost: u64,
    pub expired: u64,
    pub source_expired: u64,
    pub sweeps: u64,
    pub sweep_cpu_ns: u64,
    leases: Counts,
    repaired: u64,
}

impl Before {
    pub fn of(sink: &Sink) -> Result<Self> {
        let get = |which: daemon_counter| -> Result<u64> {
            Ok(sink.daemon.get(&which.0)?.unwrap_or_default())
        };
        Ok(Self {
            read: get(daemon_counter::DAEMON_EVENTS_READ)?,
            malformed: get(daemon_counter::DAEMON_EVENTS_MALFORMED)?,
            sent: get(daemon_counter::DAEMON_REPORTS_SENT)?,
            lost: get(daemon_counter::DAEMON_REPORTS_LOST)?,
            datagrams: DatagramCounts {
                sent: get(daemon_counter::DAEMON_DATAGRAMS_SENT)?,
                lost: get(daemon_counter::DAEMON_DATAGRAMS_LOST)?,
            },
            log_written: get(daemon_counter::DAEMON_LOG_WRITTEN)?,
            log_lost: get(daemon_counter::DAEMON_LOG_LOST)?,
            expired: get(daemon_counter::DAEMON_FLOWS_EXPIRED)?,
            source_expired: get(daemon_counter::DAEMON_SOURCE_FLOWS_EXPIRED)?,
            sweeps: get(daemon_counter::DAEMON_SWEEPS)?,
            sweep_cpu_ns: get(daemon_counter::DAEMON_SWEEP_CPU_NS)?,
            repaired: get(daemon_counter::DAEMON_REPAIRED)?,
            leases: Counts {
                asked: get(daemon_counter::DAEMON_LEASES_ASKED)?,
                answered: get(daemon_counter::DAEMON_LEASES_ANSWERED)?,
                refused: get(daemon_counter::DAEMON_LEASES_REFUSED)?,
                cpu_ns: get(daemon_counter::DAEMON_LEASE_CPU_NS)?,
            },
        })
    }

    /// Adds what this life counted so far, and writes the sums where hostint status reads them.
    pub fn write(&self, sink: &Sink, now: &Now) -> Result<()> {
        let log = now.reports.log.unwrap_or_default();
        for (which, value) in [
            (
                daemon_counter::DAEMON_EVENTS_READ,
                self.read + now.events_read,
            ),
            (
                daemon_counter::DAEMON_EVENTS_MALFORMED,
                self.malformed + now.events_malformed,
            ),
            (
                daemon_counter::DAEMON_REPORTS_SENT,
                self.sent + now.reports.sent,
            ),
            (
                daemon_counter::DAEMON_REPORTS_LOST,
                self.lost + now.reports.lost,
            ),
            (
                daemon_counter::DAEMON_DATAGRAMS_SENT,
                self.datagrams.sent + now.reports.datagrams.sent,
            ),
            (
                daemon_counter::DAEMON_DATAGRAMS_LOST,
                self.datagrams.lost + now.reports.datagrams.lost,
            ),
            (
                daemon_counter::DAEMON_LOG_WRITTEN,
                self.log_written + log.lines,
            ),
            (daemon_counter::DAEMON_LOG_LOST, self.log_lost + log.lost),
            (daemon_counter::DAEMON_FLOWS_EXPIRED, self.expired),
            (
                daemon_counter::DAEMON_SOURCE_FLOWS_EXPIRED,
                self.source_expired,
            ),
            (daemon_counter::DAEMON_SWEEPS, self.sweeps),
            (daemon_counter::DAEMON_SWEEP_CPU_NS, self.sweep_cpu_ns),
            (
                daemon_counter::DAEMON_REPAIRED,
                self.repaired + now.repaired,
            ),
            (
                daemon_counter::DAEMON_LEASES_ASKED,
                self.leases.asked + now.leases.asked,
            ),
            (
                daemon_counter::DAEMON_LEASES_ANSWERED,
                self.leases.answered + now.leases.answered,
            ),
            (
                daemon_counter::DAEMON_LEASES_REFUSED,
                self.leases.refused + now.leases.refused,
            ),
            (
                daemon_counter::DAEMON_LEASE_CPU_NS,
                self.leases.cpu_ns + now.leases.cpu_ns,
            ),
        ] {
            sink.note(which, value)?;
        }
        Ok(())
    }
}
