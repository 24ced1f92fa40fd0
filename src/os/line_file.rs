//! A file that whole lines are appended to. Another program may rotate it, or it rotates itself; lines that a full disk
//! has no room for are lost and counted.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, rename};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;

/// The size at which a file is renamed to one with `.1` behind its name, and the number of such files.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Rotation {
    /// The file is renamed before it would become larger.
    pub bytes: u64,
    /// The number of renamed files that are kept.
    pub keep: u32,
}

/// Lines that were written, and lines that were lost.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct LineCounts {
    pub lines: u64,
    pub lost: u64,
}

/// A failure to open the file.
#[derive(Debug, thiserror::Error)]
#[error("cannot open {}", path.display())]
pub struct OpenError {
    pub path: PathBuf,
    pub source: io::Error,
}

/// A failure to write to an open file, which stays open.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    #[error("cannot write to {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot rename {} for rotation, so it keeps growing: {source}", path.display())]
    Rotate { path: PathBuf, source: io::Error },
}

/// A file of lines. Each line is written whole or lost.
#[derive(Debug)]
pub struct LineFile {
    path: PathBuf,
    file: File,
    /// What was written last ended inside a line, and could not be cut back.
    torn: bool,
    rotation: Option<Rotation>,
    bytes: u64,
    /// The file is renamed before it would become larger.
    rotate_at: u64,
    counts: LineCounts,
}

impl LineFile {
    /// Opens the file for appending, or makes it.
    pub fn open(path: PathBuf, rotation: Option<Rotation>) -> Result<Self, OpenError> {
        let file = open_file(&path)?;
        Ok(Self {
            bytes: size_of(&file),
            torn: ends_inside_a_line(&path),
            path,
            file,
            rotation,
            rotate_at: rotation.map_or(u64::MAX, |rotation| rotation.bytes),
            counts: LineCounts::default(),
        })
    }

    /// Opens the path again after another program renamed the file. If that fails, the old file stays in use.
    pub fn reopen(&mut self) -> Result<(), OpenError> {
        self.file = open_file(&self.path)?;
        self.bytes = size_of(&self.file);
        self.rotate_at = self.rotation.map_or(u64::MAX, |rotation| rotation.bytes);
        self.torn = ends_inside_a_line(&self.path);
        Ok(())
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn counts(&self) -> LineCounts {
        self.counts
    }

    /// Appends whole lines. Lines that cannot be written are lost and counted; the next call tries again.
    pub fn append(&mut self, lines: &[u8]) -> Result<(), AppendError> {
        let rotated = self.rotate_before(lines.len() as u64);
        let (written, result) = self.write(lines);
        let begun = lines.get(..written).unwrap_or_default();
        if self.torn {
            self.cut_back(begun);
        }
        let mut whole = lines_in(begun);
        // A line that only lacks its line end is whole: the next write begins with the line end.
        whole += u64::from(self.torn && written > 0 && lines.get(written) == Some(&b'\n'));
        self.counts.lines += whole;
        self.counts.lost += lines_in(lines) - whole;
        result.map_err(|source| AppendError::Write {
            path: self.path.clone(),
            source,
        })?;
        rotated
    }

    /// Returns how many of these bytes were written.
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

    /// Removes the part of a line at the end of what was written: a full disk leaves whole lines only. A pipe cannot be
    /// cut back.
    fn cut_back(&mut self, written: &[u8]) {
        let part = written
            .rsplit(|byte| *byte == b'\n')
            .next()
            .map_or(0, |part| part.len() as u64);
        // The size is that of now, because another program may have emptied the file.
        let Some(whole) = size_of(&self.file).checked_sub(part) else {
            return;
        };
        if part > 0 && self.file.set_len(whole).is_ok() {
            self.bytes = whole;
            self.torn = false;
        }
    }

    fn rotate_before(&mut self, bytes: u64) -> Result<(), AppendError> {
        let Some(rotation) = self.rotation else {
            return Ok(());
        };
        if self.bytes == 0 || self.bytes.saturating_add(bytes) <= self.rotate_at {
            return Ok(());
        }
        self.rename_all(rotation.keep)
            .and_then(|()| self.reopen().map_err(|err| err.source))
            .map_err(|source| {
                // The next attempt follows after as many bytes again, not with every line.
                self.rotate_at = self.bytes.saturating_add(rotation.bytes);
                AppendError::Rotate {
                    path: self.path.clone(),
                    source,
                }
            })
    }

    /// Gives each renamed file the next number; the file with the last number is overwritten.
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

/// True if a process that ended while it wrote left a part of a line.
fn ends_inside_a_line(path: &Path) -> bool {
    let last = || -> io::Result<u8> {
        // A pipe is not touched: its bytes belong to its reader.
        if !path.metadata()?.is_file() {
            return Ok(b'\n');
        }
        let mut file = File::open(path)?;
        file.seek(SeekFrom::End(-1))?;
        let mut last = [0];
        file.read_exact(&mut last)?;
        let [last] = last;
        Ok(last)
    };
    last().is_ok_and(|last| last != b'\n')
}

fn open_file(path: &Path) -> Result<File, OpenError> {
    OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o640)
        // The path may be a FIFO, whose reader must not block the daemon.
        .custom_flags(OFlag::O_NONBLOCK.bits())
        .open(path)
        .map_err(|source| OpenError {
            path: path.to_owned(),
            source,
        })
}
