//! Lines and columns of a text, found from byte offsets.

/// The offsets at which a text's lines begin.
pub struct LineIndex<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> LineIndex<'a> {
    pub fn new(text: &'a str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(ends.map(|(at, _)| at + 1));
        Self {
            text,
            starts: starts.collect(),
        }
    }

    /// The line of a byte, counted from 1. Offsets at the end of the text belong to the last line.
    pub fn of(&self, offset: usize) -> usize {
        let last_char = self.text.trim_end().len();
        let offset = offset.min(last_char);
        self.starts.partition_point(|start| *start <= offset).max(1)
    }

    /// The column of a byte, in characters from 1.
    pub fn column(&self, offset: usize) -> usize {
        let offset = offset.min(self.text.trim_end().len());
        let start = self.starts[self.of(offset) - 1];
        self.text
            .get(start..offset)
            .map_or(1, |before| before.chars().count() + 1)
    }
}
