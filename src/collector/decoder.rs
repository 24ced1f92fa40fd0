//! The network border: a datagram's bytes become reports here and nowhere else.

pub use crate::wire::report::{ReportGroup, decode};
pub use crate::wire::{DecodeError, DecodeErrorKind};
