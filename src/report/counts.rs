//! Counts of sent and lost reports, by destination and cause.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use nix::errno::Errno;
use serde::Serialize;

use crate::model::CollectorState;

/// Reports that could not be sent, by cause.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct LostCounts {
    /// The socket's send buffer or the device's queue was full.
    pub buffer_full: u64,
    /// There was no route, the network was down, an ICMP message refused the report, or the host has no IPv6.
    pub unreachable: u64,
    /// A firewall rule or a missing permission kept it back.
    pub denied: u64,
    /// The report was larger than the path MTU.
    pub too_big: u64,
    /// The table of packet senders was full.
    pub table_full: u64,
    /// The packet's source address was no unicast address, or link-local.
    pub not_unicast: u64,
    pub other: u64,
}

/// Counts of datagrams, which hold one report, or several in v2.0.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct DatagramCounts {
    pub sent: u64,
    pub lost: u64,
}

/// Counts of the reports to one destination.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct DestinationCounts {
    pub destination: SocketAddr,
    pub sent: u64,
    pub lost: u64,
    pub lost_by_cause: LostCounts,
    pub datagrams: DatagramCounts,
}

/// The state and the counts of a collector.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CollectorStanding {
    pub collector: SocketAddr,
    pub state: CollectorState,
    /// How long ago the state began.
    pub since: Duration,
    pub sent: u64,
    pub lost: u64,
    /// Reports that were sent and that the collector may not have received: see [`super::CollectorNews`].
    pub doubtful: u64,
    /// How full its queue was at its last answer.
    pub queue_percent: Option<u8>,
    /// The answer to the last probe is still missing.
    pub awaited: bool,
}

/// Counts of reports back to the senders of the reported packets.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct SenderCounts {
    /// Senders that have a numbering of their own at present.
    pub senders: usize,
    /// Senders forgotten to make room; their numbering starts again at 1.
    pub forgotten: u64,
    pub sent: u64,
    pub lost: u64,
    pub lost_by_cause: LostCounts,
}

/// Counts of the report log's lines.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct LogCounts {
    pub lines: u64,
    pub lost: u64,
}

/// Counts of all reports that the emitter was given.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct EmitterCounts {
    /// Reports sent, over all destinations.
    pub sent: u64,
    /// Reports not sent, over all destinations.
    pub lost: u64,
    /// The datagrams that held them.
    pub datagrams: DatagramCounts,
    pub collectors: Vec<DestinationCounts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet_senders: Option<SenderCounts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<LogCounts>,
}

impl EmitterCounts {
    pub(super) fn add(&mut self, sent: u64, lost: u64, datagrams: DatagramCounts) {
        self.sent += sent;
        self.lost += lost;
        self.datagrams.add(datagrams);
    }
}

impl DatagramCounts {
    pub(super) fn add(&mut self, more: Self) {
        self.sent += more.sent;
        self.lost += more.lost;
    }
}

impl SenderCounts {
    /// Returns the datagrams: each report to a sender has one of its own.
    pub(super) fn datagrams(&self) -> DatagramCounts {
        DatagramCounts {
            sent: self.sent,
            lost: self.lost,
        }
    }
}

impl LogCounts {
    pub(super) fn add(&mut self, more: Self) {
        self.lines += more.lines;
        self.lost += more.lost;
    }
}

impl LostCounts {
    pub fn total(&self) -> u64 {
        self.buffer_full
            + self.unreachable
            + self.denied
            + self.too_big
            + self.table_full
            + self.not_unicast
            + self.other
    }

    /// Counts reports that were lost with one datagram.
    pub(super) fn count(&mut self, error: &io::Error, reports: u64) {
        let counter = match error.raw_os_error().map(Errno::from_raw) {
            Some(Errno::EAGAIN | Errno::ENOBUFS | Errno::ENOMEM) => &mut self.buffer_full,
            Some(
                Errno::EHOSTUNREACH
                | Errno::ENETUNREACH
                | Errno::ENETDOWN
                | Errno::EHOSTDOWN
                | Errno::ENONET
                | Errno::ECONNREFUSED
                | Errno::EADDRNOTAVAIL
                | Errno::EAFNOSUPPORT,
            ) => &mut self.unreachable,
            Some(Errno::EPERM | Errno::EACCES) => &mut self.denied,
            Some(Errno::EMSGSIZE) => &mut self.too_big,
            _ => &mut self.other,
        };
        *counter += reports;
    }
}
