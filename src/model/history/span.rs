//! The time that a question is about.

use serde::Serialize;

/// The time from `since_ns` to just before `until_ns`, ns since the Unix epoch. Results cover every roll-up period that
/// the span touches.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Span {
    pub since_ns: u64,
    pub until_ns: u64,
}

impl Span {
    /// All times that a history has.
    pub const EVER: Self = Self {
        since_ns: 0,
        until_ns: i64::MAX.cast_unsigned(),
    };
}
