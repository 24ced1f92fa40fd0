//! Lines on standard output: flows as they are told, and the counts at the end.

use std::io::{self, Write};

use anyhow::{Context, Result};
use serde::Serialize;

use crate::model::{DropTotals, HostDrop};
use crate::views::drops::{DropLine, TotalsText};
use crate::views::drops_json::DropsJson;

/// The writer of lines.
pub struct PostcardLines {
    json: bool,
    text: Vec<u8>,
}

impl PostcardLines {
    pub fn new(json: bool) -> Self {
        Self {
            json,
            text: Vec::new(),
        }
    }

    /// Adds the line of a flow.
    pub fn add(&mut self, drop: &HostDrop) -> Result<()> {
        if self.json {
            return self.add_json(&DropsJson::flow(drop));
        }
        Ok(writeln!(self.text, "{}", DropLine(drop))?)
    }

    /// Adds all counts.
    pub fn add_totals(&mut self, totals: &DropTotals) -> Result<()> {
        if self.json {
            return self.add_json(&DropsJson::totals(totals));
        }
        Ok(write!(self.text, "{}", TotalsText(totals))?)
    }

    fn add_json(&mut self, line: &impl Serialize) -> Result<()> {
        serde_json::to_writer(&mut self.text, line)?;
        self.text.push(b'\n');
        Ok(())
    }

    /// Writes the lines that were added.
    ///
    /// # Errors
    /// If nothing reads standard output any more.
    pub fn flush(&mut self) -> Result<()> {
        if self.text.is_empty() {
            return Ok(());
        }
        let mut out = io::stdout().lock();
        let written = out.write_all(&self.text).and_then(|()| out.flush());
        self.text.clear();
        written.context("cannot write to standard output")
    }
}
