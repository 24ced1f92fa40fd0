//! What became of the reports, by destination and cause.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use nix::errno::Errno;
use serde::Serialize;

use crate::model::CollectorState;

/// Reports that did not leave, by cause.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct LostCounts {
    /// The socket's send buffer or the device's queue was full.
    pub buffer_full: u64,
    /// No route, network down, refused by an ICMP answer, or IPv6 on a host that has none.
    pub unreachable: u64,
    /// A firewall rule or missing permission.
    pub denied: u64,
    /// Larger than the path allows.
    pub too_big: u64,
    /// The table of packet senders was full.
    pub table_full: u64,
    /// The packet's source address is no unicast address, or one that is only good on its link.
    pub not_unicast: u64,
    pub other: u64,
}

/// Datagrams, of one report or of several (v2.0).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct DatagramCounts {
    pub sent: u64,
    pub lost: u64,
}

/// What became of the reports to one destination.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct DestinationCounts {
    pub destination: SocketAddr,
    pub sent: u64,
    pub lost: u64,
    pub lost_by_cause: LostCounts,
    pub datagrams: DatagramCounts,
}

/// What is known of a collector.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CollectorStanding {
    pub collector: SocketAddr,
    pub state: CollectorState,
    /// For how long.
    pub since: Duration,
    pub sent: u64,
    pub lost: u64,
    /// Sent, but perhaps to nobody: see [`super::CollectorNews`].
    pub doubtful: u64,
    /// How full its queue was when it answered last.
    pub queue_percent: Option<u8>,
    /// The last probe is not answered yet.
    pub awaited: bool,
}

/// What became of the reports back to the senders of the reported packets.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct SenderCounts {
    /// Senders with a numbering of their own at present.
    pub senders: usize,
    /// Senders forgotten to make room; their numbering starts again at 1.
    pub forgotten: u64,
    pub sent: u64,
    pub lost: u64,
    pub lost_by_cause: LostCounts,
}

/// What became of the report log.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct LogCounts {
    pub lines: u64,
    pub lost: u64,
}

/// What became of every report that was to be emitted.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct EmitterCounts {
    /// Reports sent, over all destinations.
    pub sent: u64,
    /// Reports not sent, over all destinations.
    pub lost: u64,
    /// What they were sent in.
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
    /// Each report to a sender has a datagram of its own.
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
