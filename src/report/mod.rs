//! From sink events to telemetry reports on their way.

mod builder;
mod collector;
mod counts;
mod emitter;
mod form;
mod line_file;
mod log;
mod socket;

pub use builder::Builder;
pub use counts::{
    DatagramCounts, DestinationCounts, EmitterCounts, LogCounts, LostCounts, SenderCounts,
};
pub use emitter::{Destinations, Emitter, EmitterError, MAX_PACKET_SENDERS};
pub use form::ReportForm;
pub use line_file::{LineError, LineFile, LogError, Rotation};
pub use log::{LogFormat, LogSettings, UnknownLogFormat};
