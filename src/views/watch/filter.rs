//! A filter for rows: those that have all of its words are shown.

use crate::model::SearchWords;

/// The words as they were typed. An empty filter matches everything.
#[derive(Clone, Debug, Default)]
pub struct RowFilter {
    pub text: String,
    words: SearchWords,
}

/// Greatest length of a filter, longer than any row.
const LONGEST: usize = 200;

impl RowFilter {
    pub fn push(&mut self, char: char) {
        if !char.is_control() && self.text.len() < LONGEST {
            self.text.push(char);
            self.split();
        }
    }

    pub fn pop(&mut self) {
        self.text.pop();
        self.split();
    }

    pub fn clear(&mut self) {
        *self = Self::default();
    }

    fn split(&mut self) {
        self.words = SearchWords::new(&self.text);
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether a row in lower case has all words.
    pub fn fits(&self, row: &str) -> bool {
        self.words.fit(row)
    }
}
