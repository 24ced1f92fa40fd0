//! A filter for rows: those that have all of its words are shown.

/// The words as they were typed. An empty filter matches everything.
#[derive(Clone, Debug, Default)]
pub struct RowFilter {
    pub text: String,
    words: Vec<String>,
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
        let text = self.text.to_lowercase();
        self.words = text.split_whitespace().map(str::to_owned).collect();
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether a row in lower case has all words.
    pub fn fits(&self, row: &str) -> bool {
        self.words.iter().all(|word| row.contains(&**word))
    }
}
