//! Numbers reports and sends them: to collectors, back to packet senders, into a log.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use super::collector::Collector;
use super::form::{ReportForm, Written, write_v05};
use super::log::ReportLog;
use super::socket::Sockets;
use super::{EmitterCounts, LogError, LogSettings, LostCounts, SenderCounts};
use crate::model::{Classes, Classifier, Observation, Report};
use crate::wire::report_v05;

/// Packet senders that have a numbering of their own at a time.
pub const MAX_PACKET_SENDERS: usize = 65_536;

/// A sender without reports for so long may be forgotten when the table is full.
const SENDER_IDLE: Duration = Duration::from_secs(120);

/// The full table is searched for idle senders no more often than this.
const SEARCH_PAUSE: Duration = Duration::from_secs(1);

/// Where reports go.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Destinations {
    pub collectors: Vec<SocketAddr>,
    /// How reports to collectors look.
    pub form: ReportForm,
    /// The UDP port at the source address of each reported packet.
    pub report_to_sender: Option<u16>,
    pub log: Option<LogSettings>,
    /// What the log calls flows.
    pub classes: Classes,
}

/// Why no report could leave.
#[derive(Debug, thiserror::Error)]
pub enum EmitterError {
    #[error("cannot open a UDP socket for reports: {0}")]
    Socket(#[from] io::Error),
    #[error(transparent)]
    Log(#[from] LogError),
}

/// Sends each report to every destination, with numbers that count per destination from 1.
///
/// Nothing here waits, but reports of v2.0 for [`Emitter::flush`]. A report that could not be sent has used up its number, so that the
/// receiver sees the gap, and is counted here by cause.
#[derive(Debug)]
pub struct Emitter {
    sockets: Sockets,
    collectors: Vec<Collector>,
    packet_senders: Option<PacketSenders>,
    log: Option<ReportLog>,
    classifier: Classifier,
    /// What became of reports to destinations that were given up.
    gone: EmitterCounts,
    form: ReportForm,
    /// As v0.5, which is what packet senders get.
    datagram: Vec<u8>,
    /// In the form of collectors, if that is another.
    formed: Vec<u8>,
}

#[derive(Debug)]
struct PacketSenders {
    port: u16,
    limit: usize,
    senders: HashMap<IpAddr, Sender>,
    next_search: Option<Instant>,
    forgotten: u64,
    sent: u64,
    lost: LostCounts,
}

#[derive(Debug)]
struct Sender {
    next_sequence: u32,
    last_report: Instant,
}

impl Emitter {
    pub fn new(destinations: Destinations) -> Result<Self, EmitterError> {
        let mut addresses = Vec::new();
        for address in destinations.collectors {
            // An IPv4 address in IPv6 clothes would not get out of a socket for IPv6.
            let address = SocketAddr::new(address.ip().to_canonical(), address.port());
            if !addresses.contains(&address) {
                addresses.push(address);
            }
        }
        let report_to_sender = destinations.report_to_sender;
        let v4 = report_to_sender.is_some() || addresses.iter().any(SocketAddr::is_ipv4);
        let v6 = addresses.iter().any(SocketAddr::is_ipv6);
        let mut sockets = Sockets::open(v4, v6)?;
        if report_to_sender.is_some() {
            sockets.open_v6_if_possible();
        }
        Ok(Self {
            sockets,
            collectors: addresses.into_iter().map(Collector::new).collect(),
            packet_senders: report_to_sender.map(PacketSenders::new),
            log: destinations.log.map(ReportLog::open).transpose()?,
            classifier: Classifier::new(destinations.classes),
            gone: EmitterCounts::default(),
            form: destinations.form,
            datagram: Vec::new(),
            formed: Vec::new(),
        })
    }

    /// Goes on with the numbers and counts of the emitter before, where it has the same destinations.
    pub fn inherit(&mut self, mut before: Self) {
        before.flush();
        self.gone = before.gone;
        for old in before.collectors {
            match self
                .collectors
                .iter_mut()
                .find(|new| new.address == old.address)
            {
                Some(new) => *new = old,
                None => {
                    let counts = old.counts();
                    self.gone.add(counts.sent, counts.lost, counts.datagrams);
                }
            }
        }
        match (&mut self.packet_senders, before.packet_senders) {
            (Some(new), Some(old)) if new.port == old.port => *new = old,
            (_, Some(old)) => {
                let counts = old.counts();
                self.gone.add(counts.sent, counts.lost, counts.datagrams());
            }
            (_, None) => {}
        }
        match (&mut self.log, before.log) {
            (Some(new), Some(old)) if new.settings() == old.settings() => *new = old,
            (_, Some(old)) => {
                let log = self.gone.log.get_or_insert_default();
                log.add(old.counts());
            }
            (_, None) => {}
        }
    }

    /// Sends an observation to every destination. A packet sender that is a configured collector
    /// gets it once, and what collectors get in groups waits for [`Self::flush`].
    pub fn emit(&mut self, observation: Observation) {
        let packet_sender = observation.packet_sender();
        let mut report = Report {
            sequence: 0,
            observation,
        };
        let written = match self.collectors.is_empty() {
            true => Written::No,
            false => self.form.write(&report.observation, &mut self.formed),
        };
        if matches!(written, Written::No) || self.packet_senders.is_some() {
            write_v05(&report, &mut self.datagram);
        }
        for collector in &mut self.collectors {
            match written {
                Written::No => collector.send_v05(&self.sockets, &mut self.datagram),
                Written::V10 => collector.send_v10(&self.sockets, &mut self.formed),
                Written::V20(speaker) => collector.add_v20(&self.sockets, speaker, &self.formed),
            }
        }
        if let (Some(senders), Some(address)) = (&mut self.packet_senders, packet_sender) {
            let address = SocketAddr::from((address, senders.port));
            if !self.collectors.iter().any(|c| c.address == address) {
                senders.send(address, &self.sockets, &mut self.datagram);
            }
        }
        if let Some(log) = &mut self.log {
            let class = self.classifier.class_of(report.observation.flow());
            log.append(&mut report, class);
        }
    }

    /// Sends what waits to be sent in groups.
    pub fn flush(&mut self) {
        for collector in &mut self.collectors {
            collector.flush(&self.sockets);
        }
    }

    /// Opens the log's path again, after it was rotated; on failure the old file stays in use.
    pub fn reopen_log(&mut self) -> Result<(), LogError> {
        self.log.as_mut().map_or(Ok(()), ReportLog::reopen)
    }

    pub fn counts(&self) -> EmitterCounts {
        let collectors: Vec<_> = self.collectors.iter().map(Collector::counts).collect();
        let packet_senders = self.packet_senders.as_ref().map(PacketSenders::counts);
        let mut counts = self.gone.clone();
        for to in &collectors {
            counts.add(to.sent, to.lost, to.datagrams);
        }
        if let Some(to) = &packet_senders {
            counts.add(to.sent, to.lost, to.datagrams());
        }
        if let Some(open) = &self.log {
            counts.log.get_or_insert_default().add(open.counts());
        }
        EmitterCounts {
            collectors,
            packet_senders,
            ..counts
        }
    }
}

impl PacketSenders {
    fn new(port: u16) -> Self {
        Self {
            port,
            limit: MAX_PACKET_SENDERS,
            senders: HashMap::new(),
            next_search: None,
            forgotten: 0,
            sent: 0,
            lost: LostCounts::default(),
        }
    }

    fn send(&mut self, address: SocketAddr, sockets: &Sockets, datagram: &mut [u8]) {
        let ip = address.ip();
        if !can_be_sent_to(ip) {
            self.lost.not_unicast += 1;
            return;
        }
        let now = Instant::now();
        let Some(sequence) = self.next_number(ip, now) else {
            self.lost.table_full += 1;
            return;
        };
        report_v05::renumber(datagram, sequence);
        match sockets.send(datagram, address) {
            Ok(()) => self.sent += 1,
            Err(error) => self.lost.count(&error, 1),
        }
    }

    /// `None` if the sender is new and there is no room for it.
    fn next_number(&mut self, ip: IpAddr, now: Instant) -> Option<u32> {
        if let Some(sender) = self.senders.get_mut(&ip) {
            let sequence = sender.next_sequence;
            sender.next_sequence = sequence.wrapping_add(1);
            sender.last_report = now;
            return Some(sequence);
        }
        if self.senders.len() >= self.limit {
            self.forget_idle(now);
        }
        (self.senders.len() < self.limit).then(|| {
            let sender = Sender {
                next_sequence: 2,
                last_report: now,
            };
            self.senders.insert(ip, sender);
            1
        })
    }

    fn forget_idle(&mut self, now: Instant) {
        if self.next_search.is_some_and(|time| now < time) {
            return;
        }
        self.next_search = Some(now + SEARCH_PAUSE);
        let before = self.senders.len();
        self.senders
            .retain(|_, sender| now.duration_since(sender.last_report) < SENDER_IDLE);
        self.forgotten += (before - self.senders.len()) as u64;
    }

    fn counts(&self) -> SenderCounts {
        SenderCounts {
            senders: self.senders.len(),
            forgotten: self.forgotten,
            sent: self.sent,
            lost: self.lost.total(),
            lost_by_cause: self.lost,
        }
    }
}

/// Whether an address alone says where to send to. A link-local one needs its interface as well,
/// and IPv4 in IPv6 clothes was never on a wire in good faith.
fn can_be_sent_to(ip: IpAddr) -> bool {
    let excluded = match ip {
        IpAddr::V4(v4) => v4.is_broadcast(),
        IpAddr::V6(v6) => v6.is_unicast_link_local() || v6.to_ipv4_mapped().is_some(),
    };
    !(excluded || ip.is_unspecified() || ip.is_multicast())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn six(last: u16) -> IpAddr {
        IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, last])
    }

    #[test]
    fn a_host_without_ipv6_loses_and_counts_what_would_need_it() {
        let mut senders = PacketSenders::new(9);
        let none = Sockets::default();
        senders.send(SocketAddr::new(six(1), 9), &none, &mut []);
        let counts = senders.counts();
        assert_eq!((counts.sent, counts.lost_by_cause.unreachable), (0, 1));
    }

    #[test]
    fn a_full_table_refuses_new_senders_until_old_ones_were_idle() {
        let mut senders = PacketSenders::new(1);
        senders.limit = 2;
        let start = Instant::now();
        let [a, b, c] = [IpAddr::from([10, 0, 0, 1]), six(2), six(3)];
        assert_eq!(senders.next_number(a, start), Some(1));
        assert_eq!(senders.next_number(b, start), Some(1));
        assert_eq!(senders.next_number(a, start), Some(2));
        assert_eq!(senders.next_number(c, start), None, "no room");
        let later = start + SENDER_IDLE;
        assert_eq!(senders.next_number(b, later), Some(2), "known ones go on");
        assert_eq!(senders.next_number(c, later), Some(1), "a was idle");
        assert_eq!(senders.next_number(a, later), None, "a was forgotten");
        assert_eq!((senders.forgotten, senders.senders.len()), (1, 2));
    }
}
