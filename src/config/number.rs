//! Messages about texts that are not numbers.

use std::num::{IntErrorKind, ParseIntError};

/// Why a text is not a number, in the words of a message.
pub fn number_problem(error: &ParseIntError) -> &'static str {
    match error.kind() {
        IntErrorKind::PosOverflow => "the number is too large",
        IntErrorKind::NegOverflow => "the number is too small",
        _ => "not a whole number",
    }
}
