//! The border to the network: the collector, the store and tests take reports from here and from nowhere else.

pub use crate::wire::report::{NodeNotice, ReportGroup, decode};
pub use crate::wire::{DecodeError, DecodeErrorKind};
