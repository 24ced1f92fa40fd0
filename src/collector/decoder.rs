//! The network border: a datagram's bytes become a report here and nowhere else.

pub use crate::wire::{DecodeError, DecodeErrorKind};

use crate::model::Report;
use crate::wire::report_v05;

/// Reads one datagram, whoever sent it and whatever is in it.
pub fn decode(datagram: &[u8]) -> Result<Report, DecodeError> {
    report_v05::decode(datagram)
}
