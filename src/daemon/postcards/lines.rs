//! Lines on standard output: flows as they are reported, and the counts at the end.

use anyhow::Result;

use crate::daemon::stdout_lines::StdoutLines;
use crate::model::{DropTotals, FlowPassage, HostDrop, PassageTotals, QueueEpisode, QueueTotals};
use crate::views::drops::{DropLine, TotalsText};
use crate::views::passages::{PassageLine, PassageTotalsText};
use crate::views::postcards_json::PostcardsJson;
use crate::views::queues::{QueueLine, QueueTotalsText};

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

    /// Adds the line of a flow that drops.
    pub fn add(&mut self, drop: &HostDrop) -> Result<()> {
        if self.json {
            return self.lines.add_json(&PostcardsJson::of(drop));
        }
        self.lines.add(format_args!("{}\n", DropLine(drop)))
    }

    /// Adds the line of a flow that is timed.
    pub fn add_hop(&mut self, hop: &FlowPassage) -> Result<()> {
        if self.json {
            return self.lines.add_json(&PostcardsJson::of(hop));
        }
        self.lines.add(format_args!("{}\n", PassageLine(hop)))
    }

    /// Adds the line of an episode of a queue.
    pub fn add_queue(&mut self, episode: &QueueEpisode) -> Result<()> {
        if self.json {
            return self.lines.add_json(&PostcardsJson::of(episode));
        }
        self.lines.add(format_args!("{}\n", QueueLine(episode)))
    }

    /// Adds all counts of queues.
    pub fn add_queue_totals(&mut self, totals: &QueueTotals) -> Result<()> {
        if self.json {
            return self.lines.add_json(&PostcardsJson::of(totals));
        }
        self.lines.add(format_args!("{}", QueueTotalsText(totals)))
    }

    /// Adds all counts of drops.
    pub fn add_totals(&mut self, totals: &DropTotals) -> Result<()> {
        if self.json {
            return self.lines.add_json(&PostcardsJson::of(totals));
        }
        self.lines.add(format_args!("{}", TotalsText(totals)))
    }

    /// Adds the times of all packets.
    pub fn add_hop_totals(&mut self, totals: &PassageTotals) -> Result<()> {
        if self.json {
            return self.lines.add_json(&PostcardsJson::of(totals));
        }
        self.lines
            .add(format_args!("{}", PassageTotalsText(totals)))
    }

    /// Writes what was added.
    ///
    /// # Errors
    /// If nothing reads standard output any more.
    pub fn flush(&mut self) -> Result<()> {
        self.lines.flush()
    }
}
