//! An error of the operating system without its number, for messages.

use std::fmt;
use std::io;

/// Displays `No such file or directory` instead of `No such file or directory (os error 2)`.
#[derive(Clone, Copy, Debug)]
pub struct PlainError<'a>(pub &'a io::Error);

impl fmt::Display for PlainError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.to_string();
        let number = self
            .0
            .raw_os_error()
            .map(|code| format!(" (os error {code})"));
        let plain = number.and_then(|number| text.strip_suffix(&number).map(str::to_owned));
        f.write_str(&plain.unwrap_or(text))
    }
}
