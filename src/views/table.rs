//! A table of text: names aligned left, figures aligned right.

use std::fmt;
use std::ops::Range;

/// The columns that text may have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TextWidth {
    pub columns: usize,
    /// It is for a reader at a terminal: rows of tables that are longer take two lines. Programs get one line for each.
    pub folds: bool,
}

impl From<usize> for TextWidth {
    fn from(columns: usize) -> Self {
        let folds = false;
        Self { columns, folds }
    }
}

/// Rows below a line of column names.
pub struct TextTable {
    left: usize,
    rows: Vec<Vec<String>>,
}

impl TextTable {
    pub fn new(names: &[&str], figures: &[&str]) -> Self {
        let head = names.iter().chain(figures).map(|one| (*one).to_owned());
        Self {
            left: names.len(),
            rows: vec![head.collect()],
        }
    }

    pub fn row<const N: usize>(
        &mut self,
        names: [String; N],
        figures: impl IntoIterator<Item = String>,
    ) {
        self.rows.push(names.into_iter().chain(figures).collect());
    }
}

/// Between two columns, and in front of figures on a line of their own.
const GAP: &str = "  ";
/// The same where figures have no room for that.
const NARROW_GAP: &str = " ";

impl TextTable {
    /// The width of each column; 0 for one without any values, which is left out.
    fn widths(&self) -> Vec<usize> {
        let columns = self.rows.first().map_or(0, Vec::len);
        let cells = |at: usize| self.rows.iter().filter_map(move |row| row.get(at));
        let width = |at: usize| cells(at).map(|cell| cell.chars().count()).max();
        let is_empty = |at: usize| cells(at).skip(1).all(String::is_empty);
        let widths = (0..columns).map(|at| {
            if is_empty(at) {
                0
            } else {
                width(at).unwrap_or(0)
            }
        });
        widths.collect()
    }

    /// The part of a row in these columns.
    fn line(&self, row: &[String], widths: &[usize], columns: Range<usize>, gap: &str) -> String {
        let mut line = String::new();
        for at in columns {
            let (Some(cell), Some(width)) = (row.get(at), widths.get(at)) else {
                continue;
            };
            match (*width, at < self.left) {
                (0, _) => continue,
                (width, true) => line += &format!("{cell:<width$}{gap}"),
                (width, false) => line += &format!("{cell:>width$}{gap}"),
            }
        }
        line.trim_end().to_owned()
    }

    /// The table for a reader: its figures stand below the names of their row if both together are wider than a terminal.
    pub fn within(&self, width: TextWidth) -> String {
        let widths = self.widths();
        let (left, all) = (self.left, widths.len());
        let length = |columns: Range<usize>, gap: &str| {
            let widths = widths.get(columns).unwrap_or_default().iter();
            let wide = widths.filter(|width| **width > 0);
            wide.map(|width| width + gap.len()).sum::<usize>()
        };
        if !width.folds || length(0..all, GAP) <= width.columns + GAP.len() {
            return self.to_string();
        }
        let gap = match length(left..all, GAP) <= width.columns {
            true => GAP,
            false => NARROW_GAP,
        };
        let lines = self.rows.iter().flat_map(|row| {
            let names = self.line(row, &widths, 0..left, GAP);
            let figures = self.line(row, &widths, left..all, gap);
            [format!("{names}\n"), format!("{gap}{figures}\n")]
        });
        lines.collect()
    }
}

impl fmt::Display for TextTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        for row in &self.rows {
            writeln!(f, "{}", self.line(row, &widths, 0..widths.len(), GAP))?;
        }
        Ok(())
    }
}
