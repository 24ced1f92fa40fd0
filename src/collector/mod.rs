//! From datagrams to reports, and what is known about those who send them.

pub mod capture;
pub mod datagram;
mod exporters;
mod lines;
mod listener;
mod numbering;
mod probed;
mod queue;
mod received;
mod receiver;
mod socket;
mod undecodable;

pub use crate::wire::report::{ReportGroup, decode};
pub use crate::wire::{DecodeError, DecodeErrorKind};
pub use exporters::{
    ExporterCounts, Exporters, ExportersCounts, IDLE_NS, MAX_EXPORTERS, MAX_OF_ADDRESS,
};
pub use lines::{Lines, MAX_LINE_BYTES};
pub use listener::{Listener, ListenerCounts, Reception, ReceptionCounts, default_addresses};
pub use numbering::{Continuity, Numbering, NumberingCounts};
pub use received::{ReceivedReport, ReportHub, ReportTaker};
pub use socket::ListenError;
pub use undecodable::UndecodableCounts;
