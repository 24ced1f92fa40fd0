//! Lines and tables on standard output.

use std::io::{self, Write};

use anyhow::{Context, Result};
use serde::Serialize;

use crate::model::{TcpReport, TcpTotals};
use crate::views::tcp::{TcpLine, TcpTable, TcpTotalsText};
use crate::views::tcp_json::TcpJson;

/// The form of what is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TcpOutput {
    /// A line for each connection that has news.
    Lines,
    /// A table of the worst connections in each period, on the whole screen.
    Screen,
    /// A table of the worst connections at the end.
    Once,
}

/// Cursor to the top left corner, and nothing on the screen.
const CLEAR: &str = "\x1b[H\x1b[2J";

/// The writer.
pub struct TcpLines {
    pub output: TcpOutput,
    json: bool,
    text: Vec<u8>,
}

impl TcpLines {
    pub fn new(output: TcpOutput, json: bool) -> Self {
        Self {
            output,
            json,
            text: Vec::new(),
        }
    }

    /// Adds the line of a connection that has news.
    pub fn add(&mut self, report: &TcpReport) -> Result<()> {
        match (self.output, self.json) {
            (TcpOutput::Lines, true) => self.add_json(&TcpJson::connection(report)),
            (TcpOutput::Lines, false) => Ok(writeln!(self.text, "{}", TcpLine(report))?),
            _ => Ok(()),
        }
    }

    /// Adds the table of these connections, with all counts.
    pub fn add_table(&mut self, top: &[TcpReport], totals: &TcpTotals) -> Result<()> {
        if self.json {
            for report in top {
                self.add_json(&TcpJson::connection(report))?;
            }
            return self.add_totals(totals);
        }
        if self.output == TcpOutput::Screen {
            write!(self.text, "{CLEAR}")?;
        }
        self.add_totals(totals)?;
        Ok(write!(self.text, "\n{}", TcpTable(top))?)
    }

    /// Adds all counts.
    pub fn add_totals(&mut self, totals: &TcpTotals) -> Result<()> {
        if self.json {
            return self.add_json(&TcpJson::totals(totals));
        }
        Ok(write!(self.text, "{}", TcpTotalsText(totals))?)
    }

    fn add_json(&mut self, line: &impl Serialize) -> Result<()> {
        serde_json::to_writer(&mut self.text, line)?;
        self.text.push(b'\n');
        Ok(())
    }

    /// Writes what was added.
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
