//! The evidence of a stored report: the bytes from which it is decoded again.

use crate::model::{Arrival, Record};

/// A report as it was received.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// The datagram, or the JSON line, which begins with `{`.
    pub bytes: &'a [u8],
    /// The report's number among those of the datagram.
    pub part: usize,
    pub arrival: Option<Arrival>,
    pub class: Option<&'a str>,
}

/// Decodes a report from its evidence.
pub type Decode = Box<dyn Fn(&Evidence<'_>) -> Option<Record> + Send>;
