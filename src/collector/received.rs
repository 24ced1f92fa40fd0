//! The hub of the collector: a datagram, or a line, is decoded, accounted to its exporter, classified, and handed to
//! all that take reports.

use std::io;
use std::sync::Arc;

use super::decoded::{NodeNotice, ReportGroup, decode};
use super::held_reports::{HeldGroup, HeldReports, stamping_nodes};
use super::host_connections::HostConnections;
use super::host_drops::HostDrops;
use super::ledgers::Ledgers;
use super::mx_join::WaitingReport;
use super::report_taker::{ReceivedReport, ReportNews, ReportTaker};
use super::reported_paths::ReportedPaths;
use crate::model::{
    Arrival, Body, Classes, Classifier, DropCount, DropReasons, NodeId, PassageId, Record, Report,
    ReportVersion, TcpGrowth, TimeWords,
};

/// The hub: all reports go through it, wherever they come from.
pub struct ReportHub<T> {
    /// What takes the reports.
    pub taker: T,
    pub ledgers: Ledgers,
    held: HeldReports,
    /// The clock that is never set.
    clock: Option<fn() -> u64>,
    paths: ReportedPaths,
    /// The times of the present report.
    times: TimeWords,
    /// The names of drop reasons that the user chose.
    chosen: Option<DropReasons>,
    reasons: DropReasons,
    classifier: Classifier,
    /// The group that the last record of a group belonged to.
    group: Option<(Arrival, u32, Option<NodeId>)>,
}

impl<T: ReportTaker> ReportHub<T> {
    pub fn new(taker: T, reasons: Option<DropReasons>, classes: Classes) -> Self {
        let mut hub = Self {
            taker,
            ledgers: Ledgers::default(),
            held: HeldReports::default(),
            clock: None,
            paths: ReportedPaths::default(),
            times: TimeWords::default(),
            chosen: None,
            reasons: DropReasons::default(),
            classifier: Classifier::default(),
            group: None,
        };
        hub.rename(reasons, classes);
        hub
    }

    /// Tells the time by this clock, which is never set. Without it, arrivals tell the time.
    #[must_use]
    pub fn with_clock(mut self, clock: fn() -> u64) -> Self {
        self.clock = Some(clock);
        self
    }

    fn now_ns(&self, arrival: Arrival) -> u64 {
        self.clock.map_or(arrival.received_ns, |clock| clock())
    }

    /// Takes a datagram, whatever is in it. Its reports wait until it is known whether the clocks were set that stamped
    /// what they report, and those behind them wait, too.
    ///
    /// # Errors
    /// Those of the taker.
    pub fn datagram(&mut self, bytes: &[u8], arrival: Arrival) -> io::Result<()> {
        let group = match decode(bytes) {
            Ok(group) => group,
            Err(err) => {
                self.ledgers.exporters.undecodable(arrival, &err);
                return Ok(());
            }
        };
        let now_ns = self.now_ns(arrival);
        self.ledgers.exporters.received(arrival, &group);
        if let Some(NodeNotice::Clocks(evidence)) = &group.notice {
            self.ledgers.clocks.learn(evidence, now_ns);
            self.release(now_ns)?;
        }
        if self.held.is_empty() && !self.ledgers.clocks.awaits(stamping_nodes(&group), now_ns) {
            self.take(&group, arrival, bytes, (now_ns, now_ns))?;
            return self.release(now_ns);
        }
        self.held.push(HeldGroup {
            group,
            arrival,
            bytes: bytes.to_vec(),
            until_ns: now_ns,
        });
        self.release(now_ns)
    }

    /// True while reports wait, and time alone may release them.
    pub fn waits(&self) -> bool {
        !self.held.is_empty() || !self.ledgers.mx.is_empty()
    }

    /// Hands on the reports that waited long enough.
    ///
    /// # Errors
    /// Those of the taker.
    pub fn release_waiting(&mut self) -> io::Result<()> {
        match self.clock {
            Some(clock) => self.release(clock()),
            None => Ok(()),
        }
    }

    /// Hands on all reports that wait: no more datagrams come.
    ///
    /// # Errors
    /// Those of the taker.
    pub fn finish(&mut self) -> io::Result<()> {
        while let Some(one) = self.held.pop() {
            let times = (one.until_ns, self.now_ns(one.arrival));
            self.take(&one.group, one.arrival, &one.bytes, times)?;
        }
        let due = self.ledgers.mx.finish_all();
        self.release_joined(due)?;
        self.flush()
    }

    fn release(&mut self, now_ns: u64) -> io::Result<()> {
        while let Some(first) = self.held.first() {
            let awaits = || {
                self.ledgers
                    .clocks
                    .awaits(stamping_nodes(&first.group), first.until_ns)
            };
            if !self.held.is_due(now_ns) && awaits() {
                break;
            }
            if let Some(one) = self.held.pop() {
                let times = (one.until_ns, self.now_ns(one.arrival));
                self.take(&one.group, one.arrival, &one.bytes, times)?;
            }
        }
        let due = self.ledgers.mx.due(now_ns);
        self.release_joined(due)
    }

    /// Hands on now what a datagram tells, which arrived at the first of these times.
    fn take(
        &mut self,
        group: &ReportGroup,
        arrival: Arrival,
        bytes: &[u8],
        (until_ns, now_ns): (u64, u64),
    ) -> io::Result<()> {
        if let Some(notice) = &group.notice {
            return self.notice(notice, arrival, until_ns);
        }
        let mut evidence = None;
        for (part, report) in group.reports.iter().enumerate() {
            let waiting = || WaitingReport {
                report: report.clone(),
                arrival,
                until_ns,
                part,
                evidence: Arc::clone(evidence.get_or_insert_with(|| bytes.into())),
            };
            if !self.ledgers.mx.take(report, now_ns, waiting) {
                self.hand_on(report, arrival, until_ns, (part, bytes))?;
            }
        }
        Ok(())
    }

    /// Hands on what a node says beside its reports.
    fn notice(&mut self, notice: &NodeNotice, arrival: Arrival, until_ns: u64) -> io::Result<()> {
        let ledgers = &mut self.ledgers;
        match notice {
            NodeNotice::Coverage(coverage) => {
                ledgers.coverage.missed(coverage, arrival);
                self.taker.accept(ReportNews::Coverage(coverage, arrival))
            }
            NodeNotice::Drops(drops) => {
                let added = ledgers.drops.sums(drops, arrival);
                ledgers.slot.add_drops(drops.node, &added);
                self.taker.accept(ReportNews::Drops(drops, &added, arrival))
            }
            NodeNotice::Path(path) => {
                let added = ledgers.increments.of_path(path, arrival);
                let growth = ledgers.clocks.growth_of(path, added, until_ns);
                ledgers.slot.add_path(&growth);
                match PassageId::of(&growth.path) {
                    Some(id) => ledgers.hops.add(id, &growth),
                    None => {
                        ledgers.segments.add_all(&growth);
                        ledgers.crossings.see_path(&growth.path, arrival);
                    }
                }
                self.taker.accept(ReportNews::Path(&growth, arrival))
            }
            NodeNotice::Crossings(crossings) => {
                let known = ledgers.crossings.add(crossings, arrival);
                ledgers.segments.cross(&known);
                self.taker.accept(ReportNews::Crossed(&known, arrival))
            }
            NodeNotice::OptionHops(hops) => {
                ledgers.option_hops.learn(hops, arrival);
                Ok(())
            }
            // The exporters have learned the first, and the clocks the second.
            NodeNotice::Identity(_) | NodeNotice::Clocks(_) => Ok(()),
        }
    }

    /// Hands on the packets in INT-MX that waited long enough for what their hops report.
    fn release_joined(&mut self, due: Vec<WaitingReport>) -> io::Result<()> {
        for one in due {
            self.hand_on(
                &one.report,
                one.arrival,
                one.until_ns,
                (one.part, &one.evidence),
            )?;
        }
        Ok(())
    }

    /// Hands on a report, which arrived as this part of a datagram.
    fn hand_on(
        &mut self,
        report: &Report,
        arrival: Arrival,
        until_ns: u64,
        (part, evidence): (usize, &[u8]),
    ) -> io::Result<()> {
        let named = self.ledgers.option_hops.named(report, arrival.received_ns);
        let report = named.as_ref().unwrap_or(report);
        let observation = &report.observation;
        let mut measured = self.ledgers.increments.of(report, Some(arrival));
        // Nothing is newer for a repetition.
        if self
            .ledgers
            .increments
            .is_repetition(report, measured.as_ref())
        {
            return Ok(());
        }
        let class = observation.group_class();
        let class = class.or(self.classifier.class_of(observation.flow()));
        if let Some(measured) = &mut measured {
            (self.ledgers).add_measured(report, measured, class, (arrival, until_ns));
        }
        if let Body::FlowPassage(reported) = &observation.body {
            self.ledgers.hops.learn(reported);
        }
        self.ledgers.queues.see(report, Some(arrival));
        let path = self.paths.of(observation, arrival.received_ns);
        if let Some(path) = path.filter(|path| path.is_news) {
            self.ledgers.crossings.see_path(path.path, arrival);
        }
        let corrected = self.ledgers.clocks.correct(observation, until_ns);
        let set = |times: &mut _| {
            (self.ledgers.clocks).put_times(times, observation, corrected, until_ns)
        };
        let path = path.and_then(|one| one.with_times(&mut self.times, set));
        let grown = grown(&mut self.ledgers.connections, report, Some(arrival));
        if let (Body::Connection(of), Some(grown)) = (&observation.body, &grown) {
            self.ledgers.slot.add_connection(of.node, grown);
        }
        path.into_iter()
            .for_each(|path| self.ledgers.segments.add(path));
        self.taker.accept(ReportNews::Report(&ReceivedReport {
            report,
            arrival: Some(arrival),
            class,
            measured: measured.as_ref(),
            dropped: dropped(&mut self.ledgers.drops, report, Some(arrival)),
            grown,
            clocks: corrected.into(),
            path,
            reasons: &self.reasons,
            part,
            evidence,
        }))
    }

    /// Takes a report that was read back from a line of JSON. Its drop reason keeps the name that it had there, unless
    /// the user chose names.
    ///
    /// # Errors
    /// Those of the taker.
    pub fn read_back(&mut self, record: &Record, report: Report, line: &[u8]) -> io::Result<()> {
        let arrival = record.arrival();
        let named = record.reported_reason().filter(|_| self.chosen.is_none());
        let measured = self.ledgers.increments.of(&report, arrival);
        self.ledgers.queues.see(&report, arrival);
        let class = report.observation.group_class();
        let class = class.or(self.classifier.class_of(report.observation.flow()));
        let clocks = record.clocks();
        let known = self.paths.of(&report.observation, 0);
        let set = |times: &mut TimeWords| match &report.observation.body {
            // The line tells the clocks of the ends only.
            Body::Latency(latency) => times.set(latency, clocks.corrected(), |_, _, _| None),
            _ => false,
        };
        let path = known.and_then(|one| one.with_times(&mut self.times, set));
        if !self
            .ledgers
            .increments
            .is_repetition(&report, measured.as_ref())
        {
            self.taker.accept(ReportNews::Report(&ReceivedReport {
                report: &report,
                arrival,
                class: class.or(record.class()),
                measured: measured.as_ref(),
                clocks,
                path,
                dropped: dropped(&mut self.ledgers.drops, &report, arrival),
                grown: grown(&mut self.ledgers.connections, &report, arrival),
                reasons: named.as_ref().unwrap_or(&self.reasons),
                part: 0,
                evidence: line,
            }))?;
        }
        if let Some(arrival) = arrival {
            self.account(report, arrival);
        }
        Ok(())
    }

    /// Accounts a report of a line to its exporter. The reports of one datagram stand in a row and count it once.
    fn account(&mut self, report: Report, arrival: Arrival) {
        let grouped = report.observation.version() == ReportVersion::V20;
        let key = (arrival, report.sequence, report.observation.reporter());
        let group = ReportGroup::from(report);
        if grouped && self.group == Some(key) {
            self.ledgers
                .exporters
                .another(arrival.exporter.ip(), &group);
            return;
        }
        self.group = grouped.then_some(key);
        self.ledgers.exporters.received(arrival, &group);
    }

    /// The names of drop reasons.
    pub fn reasons(&self) -> &DropReasons {
        &self.reasons
    }

    /// Changes names and classes, from the next report on.
    pub fn rename(&mut self, reasons: Option<DropReasons>, classes: Classes) {
        self.chosen.clone_from(&reasons);
        self.reasons = reasons.unwrap_or_else(DropReasons::usual);
        self.classifier = Classifier::new(classes);
    }

    /// Has the taker hand on what it took so far.
    ///
    /// # Errors
    /// Those of the taker.
    pub fn flush(&mut self) -> io::Result<()> {
        self.taker.flush()
    }
}

/// The packets that a report about drops adds.
fn dropped(drops: &mut HostDrops, report: &Report, arrival: Option<Arrival>) -> Option<DropCount> {
    match &report.observation.body {
        Body::HostDrop(report) => drops.flow(report, arrival?),
        _ => None,
    }
}

/// What a report about a connection adds.
fn grown(
    connections: &mut HostConnections,
    report: &Report,
    arrival: Option<Arrival>,
) -> Option<TcpGrowth> {
    match &report.observation.body {
        Body::Connection(report) => connections.grow(report, arrival?),
        _ => None,
    }
}
