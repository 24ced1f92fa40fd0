//! The report log: one line for each report, as text in Host-INT's format or as JSON.

use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;
use std::str::FromStr;

use super::counts::LogCounts;
use super::log_line::LogLine;
use crate::model::{Record, Report};
use crate::os::line_file::{LineCounts, LineFile, OpenError};

/// The format of a report log's lines.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum LogFormat {
    /// Lines as Host-INT writes them.
    #[default]
    HostInt,
    /// One JSON object per line.
    Json,
}

/// A name that no log format has.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("unknown log format {0:?}: expected host-int or json")]
pub struct UnknownLogFormat(pub String);

impl FromStr for LogFormat {
    type Err = UnknownLogFormat;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "host-int" => Ok(Self::HostInt),
            "json" => Ok(Self::Json),
            _ => Err(UnknownLogFormat(text.to_owned())),
        }
    }
}

impl fmt::Display for LogFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::HostInt => "host-int",
            Self::Json => "json",
        })
    }
}

/// A failure to open the report log.
#[derive(Debug, thiserror::Error)]
#[error("cannot open report log {}", path.display())]
pub struct LogError {
    pub path: PathBuf,
    pub source: io::Error,
}

impl From<OpenError> for LogError {
    fn from(OpenError { path, source }: OpenError) -> Self {
        Self { path, source }
    }
}

/// The path and the format of the log.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LogSettings {
    pub path: PathBuf,
    pub format: LogFormat,
}

/// An open report log. Its lines are numbered from 1, and a lost line keeps its number.
#[derive(Debug)]
pub(super) struct ReportLog {
    settings: LogSettings,
    file: LineFile,
    line: Vec<u8>,
    next_sequence: u32,
    /// The number of reports that could not be written as a line.
    unwritable: u64,
}

impl ReportLog {
    pub(super) fn open(settings: LogSettings) -> Result<Self, LogError> {
        Ok(Self {
            file: LineFile::open(settings.path.clone(), None)?,
            settings,
            line: Vec::new(),
            next_sequence: 1,
            unwritable: 0,
        })
    }

    /// Opens the path again after another program renamed the file. If that fails, the old file stays in use.
    pub(super) fn reopen(&mut self) -> Result<(), LogError> {
        Ok(self.file.reopen()?)
    }

    /// Appends the report under the log's own number. `class` is the class of its flow.
    pub(super) fn append(&mut self, report: &mut Report, class: Option<&str>) {
        report.sequence = self.next_sequence;
        self.next_sequence = self.next_sequence.wrapping_add(1);
        match self.make_line(report, class) {
            // The file counts lines that are lost.
            Ok(()) => drop(self.file.append(&self.line)),
            Err(_) => self.unwritable += 1,
        }
    }

    pub(super) fn settings(&self) -> &LogSettings {
        &self.settings
    }

    pub(super) fn counts(&self) -> LogCounts {
        let LineCounts { lines, lost } = self.file.counts();
        LogCounts {
            lines,
            lost: lost + self.unwritable,
        }
    }

    fn make_line(&mut self, report: &Report, class: Option<&str>) -> io::Result<()> {
        self.line.clear();
        match self.settings.format {
            LogFormat::HostInt => writeln!(self.line, "{}", LogLine(report)),
            LogFormat::Json => Ok(Record::new(report, None)
                .in_class(class)
                .append_line(&mut self.line)?),
        }
    }
}
