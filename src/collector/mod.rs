//! From datagrams to reports, and what is known about those who send them.

pub mod capture;
pub mod datagram;
pub mod decoder;
mod exporters;
mod lines;
mod listener;
mod numbering;

pub use decoder::{DecodeError, DecodeErrorKind, ReportGroup, decode};
pub use exporters::{
    ExporterCounts, ExporterKey, Exporters, ExportersCounts, MAX_EXPORTERS, UndecodableCounts,
};
pub use lines::{Lines, MAX_LINE_BYTES};
pub use listener::{ListenError, Listener, ListenerCounts, default_addresses};
pub use numbering::{Continuity, Numbering, NumberingCounts};
