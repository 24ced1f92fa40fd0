//! Lines on standard output: gathered, and written at once.

use std::fmt;
use std::io::{self, Write};

use anyhow::{Context, Result};
use serde::Serialize;

/// The lines that were not written yet.
#[derive(Default)]
pub struct StdoutLines(Vec<u8>);

impl StdoutLines {
    pub fn add(&mut self, text: fmt::Arguments<'_>) -> Result<()> {
        Ok(self.0.write_fmt(text)?)
    }

    pub fn add_json(&mut self, line: &impl Serialize) -> Result<()> {
        serde_json::to_writer(&mut self.0, line)?;
        self.0.push(b'\n');
        Ok(())
    }

    /// Writes what was added.
    ///
    /// # Errors
    /// If nothing reads standard output any more.
    pub fn flush(&mut self) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let mut out = io::stdout().lock();
        let written = out.write_all(&self.0).and_then(|()| out.flush());
        self.0.clear();
        written.context("cannot write to standard output")
    }
}
