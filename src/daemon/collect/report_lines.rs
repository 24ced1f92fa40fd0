//! Writes each report as a line, as text or as JSON, and what a capture tells beside them.

use std::io::{self, Write};
use std::sync::Arc;

use crate::collector::{ReceivedReport, ReportTaker};
use crate::model::coverage::CoverageReport;
use crate::model::drop_totals_report::{DropSum, DropTotalsReport};
use crate::model::{Arrival, CapturedConnection, NodeNames, Record};
use crate::views::captured_option::CapturedLine;
use crate::views::tcp_json::TcpJson;
use crate::views::text::TextLine;

/// The number of bytes that are written at once, about.
const CHUNK_BYTES: usize = 64 << 10;

/// The writer of lines. The output gets whole lines only.
pub struct ReportLines<W: Write> {
    out: io::BufWriter<W>,
    json: bool,
    line: Vec<u8>,
    names: Arc<NodeNames>,
}

impl<W: Write> ReportLines<W> {
    pub fn new(out: W, json: bool) -> Self {
        Self {
            out: io::BufWriter::with_capacity(CHUNK_BYTES, out),
            json,
            line: Vec::new(),
            names: Arc::default(),
        }
    }

    /// Calls nodes and interfaces by these names from now on.
    pub fn set_names(&mut self, names: Arc<NodeNames>) {
        self.names = names;
    }

    /// Writes what a capture tells of TCP option 114.
    pub fn write_captured(&mut self, connections: &[CapturedConnection]) -> io::Result<()> {
        for connection in connections {
            self.line.clear();
            if self.json {
                serde_json::to_writer(&mut self.line, &TcpJson::captured(connection))?;
                self.line.push(b'\n');
            } else {
                writeln!(self.line, "{}", CapturedLine(connection))?;
            }
            self.out.write_all(&self.line)?;
        }
        Ok(())
    }

    pub fn output(&self) -> &W {
        self.out.get_ref()
    }

    pub fn output_mut(&mut self) -> &mut W {
        self.out.get_mut()
    }
}

impl<W: Write> ReportTaker for ReportLines<W> {
    fn accept(&mut self, received: &ReceivedReport<'_>) -> io::Result<()> {
        let ReceivedReport {
            report,
            arrival,
            class,
            reasons,
            clocks,
            ..
        } = *received;
        self.line.clear();
        if self.json {
            Record::new(report, arrival)
                .with_names(reasons)
                .in_class(class)
                .naming(&self.names)
                .with_clocks(clocks)
                .append_line(&mut self.line)
                .map_err(io::Error::other)?;
        } else {
            let line = TextLine {
                report,
                arrival,
                reasons,
                names: &self.names,
                clocks,
            };
            writeln!(self.line, "{line}")?;
        }
        self.out.write_all(&self.line)
    }

    /// Only JSON has lines about coverage.
    fn accept_coverage(&mut self, report: &CoverageReport, arrival: Arrival) -> io::Result<()> {
        if !self.json {
            return Ok(());
        }
        self.line.clear();
        for record in report.records(arrival.exporter.ip(), arrival.received_ns) {
            serde_json::to_writer(&mut self.line, &record)?;
            self.line.push(b'\n');
        }
        self.out.write_all(&self.line)
    }

    /// Only JSON has lines about sums of drops.
    fn accept_drops(
        &mut self,
        report: &DropTotalsReport,
        _added: &[DropSum],
        arrival: Arrival,
    ) -> io::Result<()> {
        // A report without sums is only a sign of life.
        if !self.json || report.sums.is_empty() {
            return Ok(());
        }
        self.line.clear();
        let record = report.record(arrival.exporter.ip(), arrival.received_ns);
        serde_json::to_writer(&mut self.line, &record)?;
        self.line.push(b'\n');
        self.out.write_all(&self.line)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
