//! A table of text: names aligned left, figures aligned right.

use std::fmt;

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

    pub fn row<const N: usize, const M: usize>(
        &mut self,
        names: [String; N],
        figures: [String; M],
    ) {
        self.rows.push(names.into_iter().chain(figures).collect());
    }
}

impl fmt::Display for TextTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.first().map_or(0, Vec::len);
        let cells = |at: usize| self.rows.iter().filter_map(move |row| row.get(at));
        let width = |at: usize| {
            cells(at)
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        };
        // A column without any values is left out.
        let widths: Vec<usize> = (0..columns)
            .map(|at| match cells(at).skip(1).all(String::is_empty) {
                true => 0,
                false => width(at),
            })
            .collect();
        for row in &self.rows {
            let mut line = String::new();
            for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
                match (width, at < self.left) {
                    (0, _) => continue,
                    (width, true) => line += &format!("{cell:<width$}  "),
                    (width, false) => line += &format!("{cell:>width$}  "),
                }
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}
