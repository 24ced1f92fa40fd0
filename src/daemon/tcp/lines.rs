//! Lines and tables on standard output.

use anyhow::Result;

use crate::daemon::stdout_lines::StdoutLines;
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
    lines: StdoutLines,
}

impl TcpLines {
    pub fn new(output: TcpOutput, json: bool) -> Self {
        Self {
            output,
            json,
            lines: StdoutLines::default(),
        }
    }

    /// Adds the line of a connection that has news.
    pub fn add(&mut self, report: &TcpReport) -> Result<()> {
        match (self.output, self.json) {
            (TcpOutput::Lines, true) => self.lines.add_json(&TcpJson::connection(report)),
            (TcpOutput::Lines, false) => self.lines.add(format_args!("{}\n", TcpLine(report))),
            _ => Ok(()),
        }
    }

    /// Adds the table of these connections, with all counts.
    pub fn add_table(&mut self, top: &[TcpReport], totals: &TcpTotals) -> Result<()> {
        if self.json {
            for report in top {
                self.lines.add_json(&TcpJson::connection(report))?;
            }
            return self.add_totals(totals);
        }
        if self.output == TcpOutput::Screen {
            self.lines.add(format_args!("{CLEAR}"))?;
        }
        self.add_totals(totals)?;
        self.lines.add(format_args!("\n{}", TcpTable(top)))
    }

    /// Adds all counts.
    pub fn add_totals(&mut self, totals: &TcpTotals) -> Result<()> {
        if self.json {
            return self.lines.add_json(&TcpJson::totals(totals));
        }
        self.lines.add(format_args!("{}", TcpTotalsText(totals)))
    }

    /// Writes what was added.
    ///
    /// # Errors
    /// If nothing reads standard output any more.
    pub fn flush(&mut self) -> Result<()> {
        self.lines.flush()
    }
}
