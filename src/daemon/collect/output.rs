//! The output of a collector's lines: standard output, or a file that is rotated.

use std::io::{self, StdoutLock, Write};

use anyhow::{Context, Result};

use crate::config;
use crate::os::line_file::{AppendError, LineCounts, LineFile, Rotation};
use crate::os::log;

/// Takes whole lines. It is an error if nothing reads standard output any more; lines that a file cannot take are
/// counted.
pub enum Output {
    Standard(StdoutLock<'static>, LineCounts),
    File {
        file: LineFile,
        /// Why lines are being lost.
        losing: Option<String>,
    },
}

impl Output {
    pub fn open(output: Option<&config::OutputFile>) -> Result<Self> {
        let Some(output) = output else {
            return Ok(Self::Standard(io::stdout().lock(), LineCounts::default()));
        };
        let rotation = output.rotation.map(|(size, keep)| Rotation {
            bytes: size.0,
            keep,
        });
        Ok(Self::File {
            file: LineFile::open(output.path.clone(), rotation)?,
            losing: None,
        })
    }

    /// Opens the file again, after it was renamed.
    pub fn reopen(&mut self) {
        if let Self::File { file, .. } = self
            && let Err(err) = file.reopen()
        {
            let path = file.path().display();
            log::error(format_args!(
                "cannot reopen {path}: {}; lines go on to the file that was open",
                err.source
            ));
        }
    }

    pub fn counts(&self) -> LineCounts {
        match self {
            Self::Standard(_, counts) => *counts,
            Self::File { file, .. } => file.counts(),
        }
    }

    /// Why the last lines could not be written.
    pub fn trouble(&self) -> Option<&str> {
        match self {
            Self::Standard(..) => None,
            Self::File { losing, .. } => losing.as_deref(),
        }
    }
}

impl Write for Output {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        match self {
            Self::Standard(out, counts) => {
                let written = out.write(lines)?;
                let bytes = lines.get(..written).unwrap_or_default();
                counts.lines += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
                Ok(written)
            }
            Self::File { file, losing } => {
                let result = file.append(lines);
                match &result {
                    Err(err @ AppendError::Write { .. }) if losing.is_none() => {
                        log::error(format_args!("{err}; lines are lost until that is over"));
                    }
                    Err(AppendError::Write { .. }) => {}
                    Err(err @ AppendError::Rotate { .. }) => log::warning(err),
                    Ok(()) if losing.is_some() => log::info(format_args!(
                        "lines are written to {} again; {} were lost",
                        file.path().display(),
                        file.counts().lost
                    )),
                    Ok(()) => {}
                }
                *losing = match &result {
                    Err(err @ AppendError::Write { .. }) => Some(err.to_string()),
                    _ => None,
                };
                Ok(lines.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Standard(out, _) => out.flush(),
            Self::File { .. } => Ok(()),
        }
    }
}

/// Returns whether to go on: false if nothing reads the lines any more.
pub fn written(result: io::Result<()>) -> Result<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(err) if err.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(err) => Err(err).context("cannot write reports to standard output"),
    }
}
