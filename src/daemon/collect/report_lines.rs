//! Writes each report as a line, as text or as JSON, and what a capture tells beside them.

use std::io::{self, Write};
use std::sync::Arc;

use serde::Serialize;

use super::cluster_pods::{SharedPods, lock};
use super::line_choice::LineChoice;
use crate::cli::LineArgs;
use crate::collector::{ReceivedReport, ReportNews, ReportTaker};
use crate::config::CollectConfig;
use crate::model::{CapturedConnection, NodeNames, Record};
use crate::views::captured_option::CapturedLine;
use crate::views::tcp_json::TcpJson;
use crate::views::text::TextLine;

/// The number of bytes that are written at once, about.
const CHUNK_BYTES: usize = 64 << 10;

/// What lines are written as.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LineForm {
    /// There are none: what would be a line is only kept in the history, and passed on.
    Nothing,
    Text,
    Json,
}

impl LineForm {
    /// What the user chose.
    pub fn of(config: &CollectConfig) -> Self {
        match config.json {
            true => Self::Json,
            false => Self::Text,
        }
    }
}

/// The writer of lines. The output gets whole lines only.
pub struct ReportLines<W: Write> {
    out: io::BufWriter<W>,
    form: LineForm,
    choice: LineChoice,
    line: Vec<u8>,
    names: Arc<NodeNames>,
    pods: Option<SharedPods>,
}

impl<W: Write> ReportLines<W> {
    pub fn new(out: W, form: LineForm, args: &LineArgs) -> Self {
        Self {
            out: io::BufWriter::with_capacity(CHUNK_BYTES, out),
            form,
            choice: LineChoice::new(args, form == LineForm::Json),
            line: Vec::new(),
            names: Arc::default(),
            pods: None,
        }
    }

    /// Names pods by this book.
    pub fn name_pods(&mut self, pods: Option<SharedPods>) {
        self.pods = pods;
    }

    /// What it names pods by.
    pub fn pods(&self) -> Option<&SharedPods> {
        self.pods.as_ref()
    }

    /// Calls nodes and interfaces by these names from now on.
    pub fn set_names(&mut self, names: Arc<NodeNames>) {
        self.names = names;
    }

    /// Writes what a capture tells of TCP option 114.
    pub fn write_captured(&mut self, connections: &[CapturedConnection]) -> io::Result<()> {
        let choice = &self.choice;
        let mut chosen = Vec::from_iter(connections);
        chosen.retain(|connection| choice.takes_captured(connection.flow));
        if self.form == LineForm::Json {
            return self.write_records(chosen.into_iter().map(TcpJson::captured));
        }
        self.line.clear();
        for connection in chosen {
            writeln!(self.line, "{}", CapturedLine(connection))?;
        }
        self.out.write_all(&self.line)
    }

    pub fn output(&self) -> &W {
        self.out.get_ref()
    }

    pub fn output_mut(&mut self) -> &mut W {
        self.out.get_mut()
    }
}

impl<W: Write> ReportLines<W> {
    fn write_report(&mut self, received: &ReceivedReport<'_>) -> io::Result<()> {
        if !self.choice.takes(received, &self.names) {
            return Ok(());
        }
        let ReceivedReport {
            report,
            arrival,
            class,
            reasons,
            clocks,
            ..
        } = *received;
        self.line.clear();
        if self.form == LineForm::Json {
            let mut record = Record::new(report, arrival)
                .with_names(reasons)
                .in_class(class)
                .naming(&self.names)
                .with_clocks(clocks);
            if let Some(pods) = &self.pods {
                record = record.with_pods(&report.pods(arrival, &lock(pods)));
            }
            record
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

    fn write_records<R: Serialize>(
        &mut self,
        records: impl IntoIterator<Item = R>,
    ) -> io::Result<()> {
        self.line.clear();
        for record in records {
            serde_json::to_writer(&mut self.line, &record)?;
            self.line.push(b'\n');
        }
        self.out.write_all(&self.line)
    }
}

impl<W: Write> ReportTaker for ReportLines<W> {
    /// Only JSON of which nothing is left out has lines about coverage and sums of drops; a report without sums is only a sign of life.
    fn accept(&mut self, news: ReportNews<'_>) -> io::Result<()> {
        let json = self.form == LineForm::Json && !self.choice.is_filter();
        match news {
            _ if self.form == LineForm::Nothing => Ok(()),
            ReportNews::Report(received) => self.write_report(received),
            ReportNews::Coverage(report, arrival) if json => {
                self.write_records(report.records(arrival.exporter.ip(), arrival.received_ns))
            }
            ReportNews::Drops(report, _, arrival) if json && !report.sums.is_empty() => {
                self.write_records([report.record(arrival.exporter.ip(), arrival.received_ns)])
            }
            _ => Ok(()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
