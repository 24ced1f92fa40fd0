//! Lines on standard output: flows as they are told, and the counts at the end.

use anyhow::Result;

use crate::daemon::stdout_lines::StdoutLines;
use crate::model::{DropTotals, HostDrop};
use crate::views::drops::{DropLine, TotalsText};
use crate::views::drops_json::DropsJson;

/// The writer of lines.
pub struct PostcardLines {
    json: bool,
    lines: StdoutLines,
}

impl PostcardLines {
    pub fn new(json: bool) -> Self {
        Self {
            json,
            lines: StdoutLines::default(),
        }
    }

    /// Adds the line of a flow.
    pub fn add(&mut self, drop: &HostDrop) -> Result<()> {
        if self.json {
            return self.lines.add_json(&DropsJson::flow(drop));
        }
        self.lines.add(format_args!("{}\n", DropLine(drop)))
    }

    /// Adds all counts.
    pub fn add_totals(&mut self, totals: &DropTotals) -> Result<()> {
        if self.json {
            return self.lines.add_json(&DropsJson::totals(totals));
        }
        self.lines.add(format_args!("{}", TotalsText(totals)))
    }

    /// Writes what was added.
    ///
    /// # Errors
    /// If nothing reads standard output any more.
    pub fn flush(&mut self) -> Result<()> {
        self.lines.flush()
    }
}
