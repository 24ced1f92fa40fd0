//! A reader of a file's lines, each in bounded memory.

use std::io::{self, BufRead, Read};

/// The longest line that is read. A report's line has some hundred bytes.
pub const MAX_LINE_BYTES: usize = 1 << 20;

/// Reads lines of any bytes.
pub struct LineReader<R> {
    reader: R,
    line: Vec<u8>,
}

impl<R: BufRead> LineReader<R> {
    pub fn new(reader: R) -> Self {
        Self {
            reader,
            line: Vec::new(),
        }
    }

    /// Returns the next line without its line feed, or only the beginning of a line that is too long. Returns `None` at
    /// the end.
    pub fn next_line(&mut self) -> io::Result<Option<&[u8]>> {
        self.line.clear();
        let mut limited = self.reader.by_ref().take(MAX_LINE_BYTES as u64);
        if limited.read_until(b'\n', &mut self.line)? == 0 {
            return Ok(None);
        }
        if self.line.last() == Some(&b'\n') {
            self.line.pop();
        } else if self.line.len() == MAX_LINE_BYTES {
            self.skip_line()?;
        }
        Ok(Some(&self.line))
    }

    fn skip_line(&mut self) -> io::Result<()> {
        loop {
            let bytes = self.reader.fill_buf()?;
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let (used, done) = match end {
                Some(at) => (at + 1, true),
                None => (bytes.len(), bytes.is_empty()),
            };
            self.reader.consume(used);
            if done {
                return Ok(());
            }
        }
    }
}
