//! A configured collector as a destination of reports: its numbering, its group of waiting reports, and its counts.

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use nix::errno::Errno;

use super::counts::{CollectorStanding, DatagramCounts, DestinationCounts, LostCounts};
use super::form::Reporter;
use super::numbers::ReportNumbers;
use super::prober::{CollectorNews, Prober};
use super::socket::{Sockets, path_mtu};
use crate::model::{HwId, NodeId, ReportVersion};
use crate::os::wait::Wait;
use crate::wire::{report_v05, report_v10, report_v20};

/// The largest datagram, even if the path takes larger ones: all reports of a group are lost with its datagram.
const MOST_BYTES: usize = 9000;

/// The MTU of a path that the kernel does not know.
const USUAL_MTU: usize = 1500;

/// The time after which the path MTU is looked up again.
const MTU_AGE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Destination {
    pub(super) address: SocketAddr,
    since: Instant,
    prober: Option<Prober>,
    numbers: ReportNumbers,
    group: WaitingGroup,
    /// The bytes that a datagram has room for, and the time when that was looked up.
    room: Option<(usize, Instant)>,
    sent: u64,
    lost: LostCounts,
    datagrams: DatagramCounts,
}

/// Individual reports of v2.0 that wait to be sent in one datagram.
#[derive(Debug, Default)]
struct WaitingGroup {
    reporter: Option<Reporter>,
    /// The datagram so far, group header included.
    bytes: Vec<u8>,
    reports: u64,
}

impl Destination {
    pub(super) fn new(address: SocketAddr) -> Self {
        Self {
            address,
            since: Instant::now(),
            prober: None,
            numbers: ReportNumbers::default(),
            group: WaitingGroup::default(),
            room: None,
            sent: 0,
            lost: LostCounts::default(),
            datagrams: DatagramCounts::default(),
        }
    }

    pub(super) fn send_v05(&mut self, sockets: &Sockets, from: HwId, datagram: &mut [u8]) {
        report_v05::renumber(datagram, self.numbers.take(ReportVersion::V05, from));
        let sent = sockets.send(datagram, self.address);
        self.count(sent, 1);
    }

    /// Sends an identity, or evidence about clocks. It is no report, and more follows soon: whether it left is not counted.
    pub(super) fn send_unnumbered(&self, sockets: &Sockets, identity: &[u8]) {
        let _ = sockets.send(identity, self.address);
    }

    pub(super) fn send_v10(&mut self, sockets: &Sockets, from: HwId, datagram: &mut [u8]) {
        report_v10::renumber(datagram, self.numbers.take(ReportVersion::V10, from));
        let sent = sockets.send(datagram, self.address);
        self.count(sent, 1);
    }

    /// Adds an individual report of v2.0 to the group, which is sent once it is full or flushed.
    pub(super) fn add_v20(&mut self, sockets: &Sockets, reporter: Reporter, report: &[u8]) {
        let full = self.group.bytes.len() + report.len() > self.room()
            || self.group.reports as usize == report_v20::MAX_REPORTS;
        if full || self.group.reporter.is_some_and(|before| before != reporter) {
            self.flush(sockets);
        }
        self.group.add(reporter, report);
    }

    /// Sends the group of waiting reports.
    pub(super) fn flush(&mut self, sockets: &Sockets) {
        if self.group.reports == 0 {
            return;
        }
        let mut group = std::mem::take(&mut self.group);
        let sent = self.send_group(sockets, &mut group);
        let too_big = sent
            .as_ref()
            .is_err_and(|error| error.raw_os_error() == Some(Errno::EMSGSIZE as i32));
        self.room = self.room.filter(|_| !too_big);
        if too_big && group.reports > 1 && self.room() < group.bytes.len() {
            // The path MTU shrank. The datagram did not leave, so its number is used again.
            self.numbers
                .give_back(ReportVersion::V20, group.subsystem());
            self.send_in_parts(sockets, &group);
        } else {
            self.count(sent, group.reports);
        }
        // The next group uses the same allocation.
        group.clear();
        self.group = group;
    }

    fn send_group(&mut self, sockets: &Sockets, group: &mut WaitingGroup) -> io::Result<()> {
        let number = self.numbers.take(ReportVersion::V20, group.subsystem());
        report_v20::renumber(&mut group.bytes, number);
        sockets.send(&group.bytes, self.address)
    }

    fn send_in_parts(&mut self, sockets: &Sockets, group: &WaitingGroup) {
        let Some(reporter) = group.reporter else {
            return;
        };
        let room = self.room();
        let mut part = WaitingGroup::default();
        let mut rest = group
            .bytes
            .get(report_v20::GROUP_BYTES..)
            .unwrap_or_default();
        while let Some((report, behind)) =
            report_v20::size_of_first(rest).and_then(|size| rest.split_at_checked(size))
        {
            if part.reports > 0 && part.bytes.len() + report.len() > room {
                let sent = self.send_group(sockets, &mut part);
                self.count(sent, part.reports);
                part.clear();
            }
            part.add(reporter, report);
            rest = behind;
        }
        let sent = self.send_group(sockets, &mut part);
        self.count(sent, part.reports);
    }

    fn count(&mut self, sent: io::Result<()>, reports: u64) {
        match sent {
            Ok(()) => {
                self.sent += reports;
                self.datagrams.sent += 1;
            }
            Err(error) => {
                self.lost.count(&error, reports);
                self.datagrams.lost += 1;
            }
        }
    }

    /// Returns the bytes that a datagram to the collector has room for. A single report is sent even if it is longer.
    fn room(&mut self) -> usize {
        if let Some((bytes, since)) = self.room
            && since.elapsed() < MTU_AGE
        {
            return bytes;
        }
        let mtu = path_mtu(self.address).map_or(USUAL_MTU, |mtu| mtu.min(MOST_BYTES));
        let headers = match self.address {
            SocketAddr::V4(_) => 28,
            SocketAddr::V6(_) => 48,
        };
        let room = mtu.saturating_sub(headers);
        self.room = Some((room, Instant::now()));
        room
    }

    /// Begins or ends probing the collector. Probing that has begun goes on as it was.
    pub(super) fn set_probed(&mut self, probed: bool) {
        let before = self.prober.take().filter(|_| probed);
        self.prober = probed.then(|| before.unwrap_or_else(|| Prober::new(self.since)));
    }

    pub(super) fn is_silent(&self) -> bool {
        self.prober.as_ref().is_some_and(Prober::is_silent)
    }

    pub(super) fn wakes<'a>(&'a self, wait: &mut Wait<'a>) {
        self.prober.iter().for_each(|prober| prober.wakes(wait));
    }

    pub(super) fn probe(&mut self, node: NodeId, now: Instant) -> Option<CollectorNews> {
        let probing = self.prober.as_mut()?;
        probing.step(self.address, node, self.sent, now)
    }

    pub(super) fn standing(&self, now: Instant) -> CollectorStanding {
        let known = self.prober.as_ref().map(Prober::known);
        let since = known.map_or(self.since, |known| known.since);
        CollectorStanding {
            collector: self.address,
            state: known.map(|known| known.state).unwrap_or_default(),
            since: now.saturating_duration_since(since),
            sent: self.sent,
            lost: self.lost.total(),
            doubtful: known.map_or(0, |known| known.doubtful),
            queue_percent: known.and_then(|known| known.queue_percent),
            awaited: known.is_some_and(|known| known.awaited),
        }
    }

    pub(super) fn counts(&self) -> DestinationCounts {
        DestinationCounts {
            destination: self.address,
            sent: self.sent,
            lost: self.lost.total(),
            lost_by_cause: self.lost,
            datagrams: self.datagrams,
        }
    }
}

impl WaitingGroup {
    fn add(&mut self, reporter: Reporter, report: &[u8]) {
        if self.reports == 0 {
            self.bytes.clear();
            report_v20::begin(reporter.0, reporter.1, &mut self.bytes);
            self.reporter = Some(reporter);
        }
        self.bytes.extend(report);
        self.reports += 1;
    }

    fn subsystem(&self) -> HwId {
        self.reporter.map(|(from, _)| from).unwrap_or_default()
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.reporter = None;
        self.reports = 0;
    }
}
