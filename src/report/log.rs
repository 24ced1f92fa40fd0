//! The report log: one line per report, as text in Host-INT's form or as JSON.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use nix::fcntl::OFlag;

use super::LogCounts;
use crate::model::{LogLine, Record, Report};

/// How the lines of a report log look.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum LogFormat {
    /// Lines as Host-INT writes them.
    #[default]
    HostInt,
    /// One JSON object per line.
    Json,
}

/// A name that is no log format's.
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

/// Where the log is and how it looks.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LogSettings {
    pub path: PathBuf,
    pub format: LogFormat,
}

/// Why the log could not be opened.
#[derive(Debug, thiserror::Error)]
#[error("cannot open report log {}", path.display())]
pub struct LogError {
    pub path: PathBuf,
    pub source: io::Error,
}

/// An open report log; lines are numbered from 1, and a line that was lost keeps its number.
#[derive(Debug)]
pub(super) struct ReportLog {
    settings: LogSettings,
    file: File,
    line: Vec<u8>,
    /// The last write ended inside a line, because the disk was full.
    torn: bool,
    next_sequence: u32,
    counts: LogCounts,
}

impl ReportLog {
    pub(super) fn open(settings: LogSettings) -> Result<Self, LogError> {
        Ok(Self {
            file: open_file(&settings.path)?,
            settings,
            line: Vec::new(),
            torn: false,
            next_sequence: 1,
            counts: LogCounts::default(),
        })
    }

    /// Opens the path again, after someone renamed the file; keeps the old file if that fails.
    pub(super) fn reopen(&mut self) -> Result<(), LogError> {
        self.file = open_file(&self.settings.path)?;
        // Still the same file, if nobody renamed it.
        self.torn &= self.file.metadata().is_ok_and(|file| file.len() > 0);
        Ok(())
    }

    /// Appends the report, whose flow is of this class, under the log's own number.
    pub(super) fn append(&mut self, report: &mut Report, class: Option<&str>) {
        report.sequence = self.next_sequence;
        self.next_sequence = self.next_sequence.wrapping_add(1);
        match self.write(report, class) {
            Ok(()) => self.counts.lines += 1,
            Err(_) => self.counts.lost += 1,
        }
    }

    pub(super) fn settings(&self) -> &LogSettings {
        &self.settings
    }

    pub(super) fn counts(&self) -> LogCounts {
        self.counts
    }

    fn write(&mut self, report: &Report, class: Option<&str>) -> io::Result<()> {
        self.line.clear();
        if self.torn {
            self.line.push(b'\n');
        }
        match self.settings.format {
            LogFormat::HostInt => writeln!(self.line, "{}", LogLine(report))?,
            LogFormat::Json => Record::new(report, None)
                .in_class(class)
                .append_line(&mut self.line)?,
        }
        let mut written = 0;
        while written < self.line.len() {
            match self.file.write(&self.line[written..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(bytes) => {
                    written += bytes;
                    self.torn = self.line[written - 1] != b'\n';
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

fn open_file(path: &Path) -> Result<File, LogError> {
    OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o640)
        // A path may be a FIFO, whose reader must not hold up the sink.
        .custom_flags(OFlag::O_NONBLOCK.bits())
        .open(path)
        .map_err(|source| LogError {
            path: path.to_owned(),
            source,
        })
}
