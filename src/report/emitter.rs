//! The emitter: it numbers reports and sends them to collectors, to packet senders and into a log.

use std::io;
use std::net::SocketAddr;
use std::time::Instant;

use super::counts::{CollectorStanding, EmitterCounts};
use super::destination::Destination;
use super::form::{ReportForm, WrittenAs, write_v05};
use super::log::{LogError, LogSettings, ReportLog};
use super::packet_senders::PacketSenders;
use super::prober::CollectorNews;
use super::socket::Sockets;
use super::spread::Spread;
use crate::model::coverage::CoverageReport;
use crate::model::crossings::CrossingReport;
use crate::model::drop_totals_report::DropTotalsReport;
use crate::model::option_hops::OptionHopsReport;
use crate::model::{
    Classes, Classifier, ClockEvidence, NodeId, NodeIdentity, Observation, PathTotalsReport, Report,
};
use crate::os::wait::Wait;
use crate::wire::{
    report_clock, report_coverage, report_crossings, report_drop_totals, report_identity,
    report_option_hops, report_path,
};

/// The configured destinations of reports.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Destinations {
    pub collectors: Vec<SocketAddr>,
    /// With a node, each report goes to one of the collectors, and this node probes them. With `None`, each collector
    /// gets all reports, and none is probed.
    pub spread: Option<NodeId>,
    /// The format of reports to collectors.
    pub form: ReportForm,
    /// The UDP port to which reports go at the source address of each reported packet.
    pub report_to_sender: Option<u16>,
    pub log: Option<LogSettings>,
    /// The classes by whose names the log calls flows.
    pub classes: Classes,
}

/// A failure to open a destination.
#[derive(Debug, thiserror::Error)]
pub enum EmitterError {
    #[error("cannot open a UDP socket for reports: {0}")]
    Socket(#[from] io::Error),
    #[error(transparent)]
    Log(#[from] LogError),
}

/// Sends each report to every destination, or to one of the collectors. Each destination has a numbering of its own for
/// each subsystem that reports, from 1.
///
/// No call blocks. Reports of v2.0 wait for [`Emitter::flush`]. A report that could not be sent is counted by cause,
/// and keeps its number, so that the receiver sees the gap.
#[derive(Debug)]
pub struct Emitter {
    sockets: Sockets,
    collectors: Vec<Destination>,
    spread: Option<Spread>,
    packet_senders: Option<PacketSenders>,
    log: Option<ReportLog>,
    classifier: Classifier,
    /// The counts of destinations that were removed.
    gone: EmitterCounts,
    form: ReportForm,
    /// The present report as v0.5, the format for packet senders.
    datagram: Vec<u8>,
    /// The present report in the format for collectors, if that is another one.
    formed: Vec<u8>,
}

impl Emitter {
    pub fn new(destinations: Destinations) -> Result<Self, EmitterError> {
        let addresses = canonical(destinations.collectors);
        let report_to_sender = destinations.report_to_sender;
        let v4 = report_to_sender.is_some() || addresses.iter().any(SocketAddr::is_ipv4);
        let v6 = addresses.iter().any(SocketAddr::is_ipv6);
        let mut sockets = Sockets::open(v4, v6)?;
        if report_to_sender.is_some() {
            sockets.open_v6_if_possible();
        }
        let mut emitter = Self {
            sockets,
            collectors: Vec::new(),
            spread: destinations.spread.map(Spread::new),
            packet_senders: report_to_sender.map(PacketSenders::new),
            log: destinations.log.map(ReportLog::open).transpose()?,
            classifier: Classifier::new(destinations.classes),
            gone: EmitterCounts::default(),
            form: destinations.form,
            datagram: Vec::new(),
            formed: Vec::new(),
        };
        emitter.set_collectors(addresses);
        Ok(emitter)
    }

    /// Takes over the numbering and the counts of the emitter that this one replaces, for destinations that both have.
    pub fn inherit(&mut self, mut before: Self) {
        before.flush();
        self.gone = before.gone;
        let collectors = std::mem::replace(&mut self.collectors, before.collectors);
        self.set_collectors(collectors.iter().map(|one| one.address).collect());
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

    /// Replaces the collectors. Those that stay keep their numbering and counts.
    pub fn set_collectors(&mut self, addresses: Vec<SocketAddr>) {
        self.flush();
        let mut before = std::mem::take(&mut self.collectors);
        for address in canonical(addresses) {
            self.sockets.open_if_possible(address);
            let known = before.iter().position(|old| old.address == address);
            let mut collector = match known {
                Some(place) => before.swap_remove(place),
                None => Destination::new(address),
            };
            collector.set_probed(self.spread.is_some());
            self.collectors.push(collector);
        }
        for old in before {
            let counts = old.counts();
            self.gone.add(counts.sent, counts.lost, counts.datagrams);
        }
        if let Some(spread) = &mut self.spread {
            spread.refresh(&self.collectors);
        }
    }

    /// Sends an observation to every destination. A packet sender that is a configured collector too gets it once.
    /// Reports in groups wait for [`Self::flush`].
    pub fn emit(&mut self, observation: Observation) {
        let packet_sender = observation.packet_sender();
        let mut report = Report {
            sequence: 0,
            observation,
        };
        let written = if self.collectors.is_empty() {
            WrittenAs::No
        } else {
            self.form.write(&report.observation, &mut self.formed)
        };
        if matches!(written, WrittenAs::No) || self.packet_senders.is_some() {
            write_v05(&report, &mut self.datagram);
        }
        let from = report.observation.hw_id;
        let chosen = self
            .spread
            .as_ref()
            .and_then(|spread| spread.choose(&report.observation));
        for (place, collector) in self.collectors.iter_mut().enumerate() {
            if chosen.is_some_and(|chosen| chosen != place) {
                continue;
            }
            match written {
                WrittenAs::No => collector.send_v05(&self.sockets, from, &mut self.datagram),
                WrittenAs::V10 => collector.send_v10(&self.sockets, from, &mut self.formed),
                WrittenAs::V20(reporter) => {
                    collector.add_v20(&self.sockets, reporter, &self.formed)
                }
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

    /// Tells every collector the identity of this node, in v0.5 whatever the format of reports.
    pub fn identify(&mut self, identity: &NodeIdentity, time_s: u32) {
        self.datagram.clear();
        report_identity::emit(identity, time_s, &mut self.datagram);
        self.report_all();
    }

    /// Tells every collector which packets were not tagged, in the same way.
    pub fn send_coverage(&mut self, report: &CoverageReport, time_s: u32) {
        for part in report_coverage::parts(report) {
            self.datagram.clear();
            report_coverage::emit(&part, time_s, &mut self.datagram);
            self.report_all();
        }
    }

    /// Tells every collector the sums of what this host dropped, in the same way.
    pub fn report_drops(&mut self, report: &DropTotalsReport, time_s: u32) {
        for part in report_drop_totals::parts(report) {
            self.datagram.clear();
            report_drop_totals::emit(&part, time_s, &mut self.datagram);
            self.report_all();
        }
    }

    fn report_all(&self) {
        for collector in &self.collectors {
            collector.send_unnumbered(&self.sockets, &self.datagram);
        }
    }

    /// Tells every collector what this node knows about clocks, in v0.5 whatever the format of reports.
    pub fn report_clocks(&mut self, evidence: &ClockEvidence, time_s: u32) {
        if self.collectors.is_empty() {
            return;
        }
        for datagram in report_clock::emit(evidence, time_s) {
            for collector in &self.collectors {
                collector.send_unnumbered(&self.sockets, &datagram);
            }
        }
    }

    /// Tells every collector the times of all packets of a path, in the same way.
    pub fn send_path(&mut self, report: &PathTotalsReport) {
        if self.collectors.is_empty() {
            return;
        }
        for datagram in report_path::emit(report) {
            for collector in &self.collectors {
                collector.send_unnumbered(&self.sockets, &datagram);
            }
        }
    }

    /// Tells every collector the packets that came by, in the same way.
    pub fn send_crossings(&mut self, report: &CrossingReport) {
        for part in report_crossings::parts(report) {
            self.datagram.clear();
            report_crossings::emit(&part, &mut self.datagram);
            self.report_all();
        }
    }

    /// Tells every collector whose TCP option 114 is filled in here, in the same way.
    pub fn send_option_hops(&mut self, report: &OptionHopsReport) {
        for datagram in report_option_hops::emit(report) {
            for collector in &mut self.collectors {
                collector.send_unnumbered(&self.sockets, &datagram);
            }
        }
    }

    /// Sends the waiting groups of reports.
    pub fn flush(&mut self) {
        for collector in &mut self.collectors {
            collector.flush(&self.sockets);
        }
    }

    /// Lets the caller wake for the next probe, and for answers.
    pub fn wakes<'a>(&'a self, wait: &mut Wait<'a>) {
        for collector in &self.collectors {
            collector.wakes(wait);
        }
    }

    /// Probes the collectors if reports are spread over them.
    pub fn probe(&mut self, now: Instant) -> Vec<CollectorNews> {
        let Some(spread) = &mut self.spread else {
            return Vec::new();
        };
        let news: Vec<_> = self
            .collectors
            .iter_mut()
            .filter_map(|collector| collector.probe(spread.node, now))
            .collect();
        if !news.is_empty() {
            spread.refresh(&self.collectors);
        }
        news
    }

    /// True if each report goes to only one of the collectors.
    pub fn spreads(&self) -> bool {
        self.spread.is_some()
    }

    /// Returns the state and the counts of each collector.
    pub fn standings(&self, now: Instant) -> Vec<CollectorStanding> {
        self.collectors
            .iter()
            .map(|collector| collector.standing(now))
            .collect()
    }

    /// Opens the log's path again after the log was rotated. If that fails, the old file stays in use.
    pub fn reopen_log(&mut self) -> Result<(), LogError> {
        self.log.as_mut().map_or(Ok(()), ReportLog::reopen)
    }

    pub fn counts(&self) -> EmitterCounts {
        let collectors: Vec<_> = self.collectors.iter().map(Destination::counts).collect();
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

fn canonical(addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let mut found = Vec::new();
    for address in addresses {
        // An IPv6 socket does not send to an IPv4 address that is mapped into IPv6.
        let address = SocketAddr::new(address.ip().to_canonical(), address.port());
        if !found.contains(&address) {
            found.push(address);
        }
    }
    found
}
