//! The hub of the collector: a datagram, or a line, is decoded, accounted to its exporter, classified, and handed to
//! all that take reports.

use std::io;

use super::Exporters;
use super::clocks::NodeClocks;
use super::segments::Segments;
use super::{Coverage, HostDrops, Increments, ReportGroup, decode};
use crate::model::coverage::CoverageReport;
use crate::model::drop_totals_report::{DropSum, DropTotalsReport};
use crate::model::{
    Arrival, Body, Classes, Classifier, DropCount, DropReasons, LatencyClocks, Measured, NodeId,
    PairTraffic, PathGrowth, PathSample, Record, Report, ReportVersion, SummaryBases,
    SummarySubject,
};

/// A report, and all that is known about it.
#[derive(Clone, Copy, Debug)]
pub struct ReceivedReport<'a> {
    pub report: &'a Report,
    /// `None` for a report from a file that does not say when it arrived.
    pub arrival: Option<Arrival>,
    /// The class of its flow, or of its group.
    pub class: Option<&'a str>,
    /// The packets that a summary adds to those that earlier ones told of.
    pub measured: Option<&'a Measured>,
    /// The packets that a report about drops adds to those that earlier ones told of.
    pub dropped: Option<DropCount>,
    /// What is known of the clocks that stamped its latency.
    pub clocks: LatencyClocks,
    /// The packet's way over transit hops.
    pub path: Option<&'a PathSample>,
    /// The names of drop reasons that apply to it.
    pub reasons: &'a DropReasons,
    /// Its place, from 0, among the reports of its datagram.
    pub part: usize,
    /// The datagram, or the line of JSON, that it was read from.
    pub evidence: &'a [u8],
}

/// Takes reports, one after the other: lines, the history, engines.
pub trait ReportTaker {
    /// # Errors
    /// If it makes no sense to go on; reports that a taker loses on its own it counts itself.
    fn accept(&mut self, received: &ReceivedReport<'_>) -> io::Result<()>;

    /// Takes a source's report about packets that it did not tag.
    ///
    /// # Errors
    /// As of [`Self::accept`].
    fn accept_coverage(&mut self, _report: &CoverageReport, _arrival: Arrival) -> io::Result<()> {
        Ok(())
    }

    /// Takes the sums of what a host dropped, and what they add to earlier ones.
    ///
    /// # Errors
    /// As of [`Self::accept`].
    fn accept_drops(
        &mut self,
        _report: &DropTotalsReport,
        _added: &[DropSum],
        _arrival: Arrival,
    ) -> io::Result<()> {
        Ok(())
    }

    /// Takes the packets that a sink's totals of a path add to earlier ones.
    ///
    /// # Errors
    /// As of [`Self::accept`].
    fn accept_path(&mut self, _growth: &PathGrowth, _arrival: Arrival) -> io::Result<()> {
        Ok(())
    }

    /// Hands on what was taken so far: there may be no more reports for a while.
    fn flush(&mut self) -> io::Result<()>;
}

/// The hub: all reports go through it, wherever they come from.
pub struct ReportHub<T> {
    taker: T,
    exporters: Exporters,
    increments: Increments,
    coverage: Coverage,
    traffic: PairTraffic,
    drops: HostDrops,
    clocks: NodeClocks,
    segments: Segments,
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
            exporters: Exporters::default(),
            increments: Increments::default(),
            coverage: Coverage::default(),
            traffic: PairTraffic::default(),
            drops: HostDrops::default(),
            clocks: NodeClocks::default(),
            segments: Segments::default(),
            chosen: None,
            reasons: DropReasons::default(),
            classifier: Classifier::default(),
            group: None,
        };
        hub.rename(reasons, classes);
        hub
    }

    /// Takes a datagram, whatever is in it.
    ///
    /// # Errors
    /// Those of the taker.
    pub fn datagram(&mut self, bytes: &[u8], arrival: Arrival) -> io::Result<()> {
        let group = match decode(bytes) {
            Ok(group) => group,
            Err(err) => {
                self.exporters.undecodable(arrival, &err);
                return Ok(());
            }
        };
        self.exporters.received(arrival, &group);
        if let Some(coverage) = &group.coverage {
            self.coverage.missed(coverage, arrival);
            self.taker.accept_coverage(coverage, arrival)?;
        }
        if let Some(drops) = &group.drops {
            let added = self.drops.sums(drops, arrival);
            self.taker.accept_drops(drops, &added, arrival)?;
        }
        if let Some(path) = &group.path {
            let added = self.increments.of_path(path, arrival);
            let growth = self.clocks.growth_of(path, added);
            self.segments.add_all(&growth);
            self.taker.accept_path(&growth, arrival)?;
        }
        if let Some(evidence) = &group.clocks {
            self.clocks.learn(evidence, arrival.received_ns);
        }
        for (part, report) in group.reports.iter().enumerate() {
            let mut measured = self.increments.of(report, Some(arrival));
            if let Some(measured) = &mut measured {
                self.coverage.measured(report, measured);
                self.clocks.correct_measured(&report.observation, measured);
                self.count_traffic(report, measured);
            }
            let class = report.observation.group_class();
            let flow = report.observation.flow();
            let path = self.clocks.path_of(&report.observation);
            if let Some(path) = &path {
                self.segments.add(path);
            }
            self.taker.accept(&ReceivedReport {
                report,
                arrival: Some(arrival),
                class: class.or(self.classifier.class_of(flow)),
                measured: measured.as_ref(),
                dropped: dropped(&mut self.drops, report, Some(arrival)),
                clocks: self.clocks.correct(&report.observation).into(),
                path: path.as_ref(),
                reasons: &self.reasons,
                part,
                evidence: bytes,
            })?;
        }
        Ok(())
    }

    /// Adds what a summary of a class tells to the sums of its pair; those of flows are about the same packets.
    fn count_traffic(&mut self, report: &Report, measured: &Measured) {
        if let Body::Summary(summary) = &report.observation.body
            && let SummarySubject::Group { class } = &summary.subject
        {
            let pair = (summary.source_node, summary.sink_node);
            self.traffic.add(pair, class.as_deref(), measured);
        }
    }

    /// Takes a report that was read back from a line of JSON. Its drop reason keeps the name that it had there, unless
    /// the user chose names.
    ///
    /// # Errors
    /// Those of the taker.
    pub fn read_back(&mut self, record: &Record, report: Report, line: &[u8]) -> io::Result<()> {
        let arrival = record.arrival();
        let named = record.told_reason().filter(|_| self.chosen.is_none());
        let measured = self.increments.of(&report, arrival);
        let class = report.observation.group_class();
        let class = class.or(self.classifier.class_of(report.observation.flow()));
        let clocks = record.clocks();
        let path = match &report.observation.body {
            // The line tells the clocks of the ends only.
            Body::Latency(latency) => PathSample::of(latency, clocks.corrected(), |_, _, _| None),
            _ => None,
        };
        self.taker.accept(&ReceivedReport {
            report: &report,
            arrival,
            class: class.or(record.class()),
            measured: measured.as_ref(),
            clocks,
            path: path.as_ref(),
            dropped: dropped(&mut self.drops, &report, arrival),
            reasons: named.as_ref().unwrap_or(&self.reasons),
            part: 0,
            evidence: line,
        })?;
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
            self.exporters.another(arrival.exporter.ip(), &group);
            return;
        }
        self.group = grouped.then_some(key);
        self.exporters.received(arrival, &group);
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

    /// The names of drop reasons.
    pub fn reasons(&self) -> &DropReasons {
        &self.reasons
    }

    pub fn exporters_mut(&mut self) -> &mut Exporters {
        &mut self.exporters
    }

    pub fn exporters(&self) -> &Exporters {
        &self.exporters
    }

    pub fn coverage_mut(&mut self) -> &mut Coverage {
        &mut self.coverage
    }

    pub fn coverage(&self) -> &Coverage {
        &self.coverage
    }

    pub fn traffic(&self) -> &PairTraffic {
        &self.traffic
    }

    pub fn drops(&self) -> &HostDrops {
        &self.drops
    }

    pub fn clocks(&self) -> &NodeClocks {
        &self.clocks
    }

    pub fn segments(&self) -> &Segments {
        &self.segments
    }

    pub fn increments(&self) -> &Increments {
        &self.increments
    }

    /// Leaves packets out that sinks counted before this time: an earlier run of the collector may have counted them.
    pub fn start_at(&mut self, started_ns: u64) {
        self.increments.start_at(started_ns);
        self.coverage.start_at(started_ns);
        self.drops.start_at(started_ns);
    }

    /// Goes on with the summaries where an earlier run ended.
    pub fn resume(&mut self, kept: SummaryBases) {
        self.increments.resume(kept);
    }

    pub fn taker(&self) -> &T {
        &self.taker
    }

    pub fn taker_mut(&mut self) -> &mut T {
        &mut self.taker
    }
}

/// The packets that a report about drops adds.
fn dropped(drops: &mut HostDrops, report: &Report, arrival: Option<Arrival>) -> Option<DropCount> {
    match &report.observation.body {
        Body::HostDrop(report) => drops.flow(report, arrival?),
        _ => None,
    }
}
