//! From datagrams to reports, and what is known about those who send them.

pub mod decoder;
mod exporters;
mod listener;
mod numbering;

pub use decoder::{DecodeError, DecodeErrorKind, decode};
pub use exporters::{
    ExporterCounts, ExporterKey, Exporters, ExportersCounts, MAX_EXPORTERS, UndecodableCounts,
};
pub use listener::{ListenError, Listener, ListenerCounts, default_addresses};
pub use numbering::{Continuity, Numbering, NumberingCounts};
