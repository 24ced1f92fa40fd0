//! A file that lines are appended to: others may rename it away, or it makes room by itself, and a full disk costs
//! lines, which are counted.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, rename};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;

use super::LogCounts;

/// When the file is renamed to another with `.1` behind its name, and how many of those are kept.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Rotation {
    /// Before it would be larger.
    pub bytes: u64,
    pub keep: u32,
}

/// Why the file could not be opened.
#[derive(Debug, thiserror::Error)]
#[error("cannot open report log {}", path.display())]
pub struct LogError {
    pub path: PathBuf,
    pub source: io::Error,
}

/// What went wrong with an open file; it stays open.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    #[error("cannot write to {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot rename {} for rotation, so that it grows on: {source}", path.display())]
    Rotate { path: PathBuf, source: io::Error },
}

/// A file of lines, each of which is in it whole or lost.
#[derive(Debug)]
pub struct LineFile {
    path: PathBuf,
    file: File,
    /// The last write ended inside a line, because the disk was full.
    torn: bool,
    rotation: Option<Rotation>,
    bytes: u64,
    /// Before it would be larger.
    rotate_at: u64,
    counts: LogCounts,
}

impl LineFile {
    /// Opens it to append.
    pub fn open(path: PathBuf, rotation: Option<Rotation>) -> Result<Self, LogError> {
        let file = open_file(&path)?;
        Ok(Self {
            bytes: size_of(&file),
            path,
            file,
            torn: false,
            rotation,
            rotate_at: rotation.map_or(u64::MAX, |rotation| rotation.bytes),
            counts: LogCounts::default(),
        })
    }

    /// Opens the path again, after someone renamed the file; keeps the old file if that fails.
    pub fn reopen(&mut self) -> Result<(), LogError> {
        self.file = open_file(&self.path)?;
        self.bytes = size_of(&self.file);
        self.rotate_at = self.rotation.map_or(u64::MAX, |rotation| rotation.bytes);
        // Still the same file, if nobody renamed it.
        self.torn &= self.bytes > 0;
        Ok(())
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn counts(&self) -> LogCounts {
        self.counts
    }

    /// Appends whole lines. Those that cannot be written are lost and counted; the next ones are tried again.
    pub fn append(&mut self, lines: &[u8]) -> Result<(), LineError> {
        let rotated = self.rotate_before(lines.len() as u64);
        let (written, result) = self.write(lines);
        let mut whole = lines_in(lines.get(..written).unwrap_or_default());
        // A line that lacks no more than its end has it before the next one comes.
        whole += u64::from(written > 0 && lines.get(written) == Some(&b'\n'));
        self.counts.lines += whole;
        self.counts.lost += lines_in(lines) - whole;
        result.map_err(|source| LineError::Write {
            path: self.path.clone(),
            source,
        })?;
        rotated
    }

    /// How many of these bytes are in the file.
    fn write(&mut self, lines: &[u8]) -> (usize, io::Result<()>) {
        if self.torn
            && let Err(err) = self.write_some(b"\n")
        {
            return (0, Err(err));
        }
        let mut written = 0;
        while let rest @ [_, ..] = lines.get(written..).unwrap_or_default() {
            match self.write_some(rest) {
                Ok(bytes) => written += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return (written, Err(error)),
            }
        }
        (written, Ok(()))
    }

    fn write_some(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        let Some(last) = written.checked_sub(1) else {
            return Err(io::ErrorKind::WriteZero.into());
        };
        self.bytes += written as u64;
        self.torn = bytes.get(last) != Some(&b'\n');
        Ok(written)
    }

    fn rotate_before(&mut self, bytes: u64) -> Result<(), LineError> {
        let Some(rotation) = self.rotation else {
            return Ok(());
        };
        if self.bytes == 0 || self.bytes.saturating_add(bytes) <= self.rotate_at {
            return Ok(());
        }
        let renamed = self.rename_all(rotation.keep);
        renamed
            .and_then(|()| self.reopen().map_err(|err| err.source))
            .map_err(|source| {
                // Not with every line.
                self.rotate_at = self.bytes.saturating_add(rotation.bytes);
                LineError::Rotate {
                    path: self.path.clone(),
                    source,
                }
            })
    }

    /// Each gets the next number, from the last one on, which goes.
    fn rename_all(&self, keep: u32) -> io::Result<()> {
        for number in (1..keep.max(1)).rev() {
            let result = rename(self.numbered(number), self.numbered(number + 1));
            result.or_else(|err| match err.kind() {
                io::ErrorKind::NotFound => Ok(()),
                _ => Err(err),
            })?;
        }
        rename(&self.path, self.numbered(1))
    }

    fn numbered(&self, number: u32) -> PathBuf {
        let mut name = OsString::from(&self.path);
        name.push(format!(".{number}"));
        name.into()
    }
}

fn lines_in(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

fn size_of(file: &File) -> u64 {
    file.metadata().map_or(0, |file| file.len())
}

fn open_file(path: &Path) -> Result<File, LogError> {
    OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o640)
        // A path may be a FIFO, whose reader must not hold up the daemon.
        .custom_flags(OFlag::O_NONBLOCK.bits())
        .open(path)
        .map_err(|source| LogError {
            path: path.to_owned(),
            source,
        })
}
