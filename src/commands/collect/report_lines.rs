//! Reports become lines, and what did not is counted.

use std::io::{self, Write};

use crate::collector::{Exporters, ReportGroup, decode};
use crate::engines::Feed;
use crate::model::{
    Arrival, Classes, Classifier, DropReasons, NodeId, Record, Report, ReportVersion,
};
use crate::os::log;
use crate::store::Keeper;
use crate::views::text::TextLine;

/// Lines are written in pieces of about so many bytes.
const CHUNK_BYTES: usize = 64 << 10;

/// Where reports go, wherever they come from. Only whole lines are written.
pub(super) struct ReportLines<W: Write> {
    out: io::BufWriter<W>,
    json: bool,
    /// The list that the user chose.
    chosen: Option<DropReasons>,
    reasons: DropReasons,
    classifier: Classifier,
    pub(super) exporters: Exporters,
    line: Vec<u8>,
    /// The group that the last record of a group belonged to.
    group: Option<(Arrival, u32, Option<NodeId>)>,
    /// What takes reports to the store, if there is one.
    pub(super) keeper: Option<Keeper>,
    /// What takes reports to engines, if there are any.
    pub(super) feed: Option<Feed>,
}

impl<W: Write> ReportLines<W> {
    pub(super) fn new(out: W, json: bool, reasons: Option<DropReasons>, classes: Classes) -> Self {
        let mut new = Self {
            out: io::BufWriter::with_capacity(CHUNK_BYTES, out),
            json,
            chosen: None,
            reasons: DropReasons::default(),
            classifier: Classifier::default(),
            exporters: Exporters::default(),
            line: Vec::new(),
            group: None,
            keeper: None,
            feed: None,
        };
        new.rename(reasons, classes);
        new
    }

    /// Takes a datagram, whatever is in it.
    pub(super) fn datagram(&mut self, bytes: &[u8], arrival: Arrival) -> io::Result<()> {
        match decode(bytes) {
            Ok(group) => {
                self.exporters.received(arrival, &group);
                let mut reports = group.reports.iter().enumerate();
                reports.try_for_each(|(part, report)| {
                    self.report(report, Some(arrival), None, None, (part, bytes))
                })
            }
            Err(err) => {
                self.exporters.undecodable(arrival, &err);
                Ok(())
            }
        }
    }

    /// Takes a report that was read back from a line. Its drop reason keeps the name that it had there,
    /// unless the user chose a list.
    pub(super) fn read_back(
        &mut self,
        record: &Record,
        report: Report,
        line: &[u8],
    ) -> io::Result<()> {
        let arrival = record.arrival();
        let told = record.told_reason().filter(|_| self.chosen.is_none());
        self.report(&report, arrival, told.as_ref(), record.class(), (0, line))?;
        let Some(arrival) = arrival else {
            return Ok(());
        };
        let grouped = report.observation.version() == ReportVersion::V20;
        let key = (arrival, report.sequence, report.observation.reporter());
        let group = ReportGroup::from(report);
        // The reports of one datagram stand in a row, and count it once.
        if grouped && self.group == Some(key) {
            self.exporters.another(arrival.exporter.ip(), &group);
            return Ok(());
        }
        self.group = grouped.then_some(key);
        self.exporters.received(arrival, &group);
        Ok(())
    }

    fn report(
        &mut self,
        report: &Report,
        arrival: Option<Arrival>,
        told: Option<&DropReasons>,
        class: Option<&str>,
        (part, evidence): (usize, &[u8]),
    ) -> io::Result<()> {
        let class = self
            .classifier
            .class_of(report.observation.flow())
            .or(class);
        if let Some(keeper) = &mut self.keeper {
            keeper.keep(report, part, arrival, class, evidence);
        }
        let reasons = told.unwrap_or(&self.reasons);
        if let Some(feed) = &mut self.feed {
            let code = report.observation.drop_reason();
            let reason = code.and_then(|code| reasons.name(code));
            feed.take(report, arrival, reason, class, evidence.len());
        }
        self.line.clear();
        if !self.json {
            let line = TextLine {
                report,
                arrival,
                reasons,
            };
            writeln!(self.line, "{line}")?;
            return self.out.write_all(&self.line);
        }
        Record::new(report, arrival)
            .with_names(reasons)
            .in_class(class)
            .append_line(&mut self.line)
            .map_err(io::Error::other)?;
        self.out.write_all(&self.line)
    }

    /// Names of drop reasons.
    pub(super) fn reasons(&self) -> &DropReasons {
        &self.reasons
    }

    /// From now on.
    pub(super) fn rename(&mut self, reasons: Option<DropReasons>, classes: Classes) {
        self.chosen.clone_from(&reasons);
        self.reasons = reasons.unwrap_or_else(DropReasons::usual);
        self.classifier = Classifier::new(classes);
    }

    pub(super) fn output(&self) -> &W {
        self.out.get_ref()
    }

    pub(super) fn output_mut(&mut self) -> &mut W {
        self.out.get_mut()
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        if let Some(keeper) = &mut self.keeper {
            keeper.flush();
        }
        if let Some(feed) = &mut self.feed {
            feed.flush();
        }
        self.out.flush()
    }

    /// Each exporter's counts, on stderr.
    pub(super) fn summarize_exporters(&self) {
        for exporter in self.exporters.each() {
            let node = exporter
                .node
                .map_or(String::new(), |node| format!("node {node}, "));
            log::info(format_args!(
                "exporter {} ({node}hw {}): {} reports, {} lost, {} duplicate",
                exporter.exporter,
                exporter.hw_id,
                exporter.reports,
                exporter.numbers.lost,
                exporter.numbers.duplicates
            ));
        }
        let mut undecodable: Vec<_> = self.exporters.undecodable_by_address().collect();
        undecodable.sort_by_key(|(address, _)| *address);
        for (address, counts) in undecodable {
            log::info(format_args!(
                "exporter {address}: {} undecodable ({counts})",
                counts.total()
            ));
        }
    }

    /// The sums, as a part of a sentence.
    pub(super) fn summary(&self) -> String {
        let sums = self.exporters.counts();
        format!(
            "{} reports from {} exporter{}, {} lost on the way, {} duplicate, {} undecodable",
            sums.reports,
            sums.exporters,
            if sums.exporters == 1 { "" } else { "s" },
            sums.numbers.lost,
            sums.numbers.duplicates,
            sums.undecodable.total()
        )
    }
}
