//! Lines on standard output: flows as they are told, and the counts at the end.

use std::io::{self, Write};

use anyhow::{Context, Result};
use serde::Serialize;

use crate::model::{DropTotals, HostDrop};
use crate::views::drops::{DropLine, TotalsText};

/// The version of the JSON form.
const SCHEMA: &str = "hostint.postcards/1";

/// One line of JSON.
#[derive(Serialize)]
struct JsonLine<'a, T> {
    schema: &'static str,
    kind: &'static str,
    #[serde(flatten)]
    content: &'a T,
}

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
            return self.add_json("host-drop", drop);
        }
        Ok(writeln!(self.text, "{}", DropLine(drop))?)
    }

    /// Adds all counts.
    pub fn add_totals(&mut self, totals: &DropTotals) -> Result<()> {
        if self.json {
            return self.add_json("drop-totals", totals);
        }
        Ok(write!(self.text, "{}", TotalsText(totals))?)
    }

    fn add_json(&mut self, kind: &'static str, content: &impl Serialize) -> Result<()> {
        let line = JsonLine {
            schema: SCHEMA,
            kind,
            content,
        };
        serde_json::to_writer(&mut self.text, &line)?;
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
