//! From sink events to telemetry reports on their way.

mod builder;
mod collector;
mod counts;
mod emitter;
mod form;
mod line_file;
mod liveness;
mod log;
mod packet_senders;
mod probing;
pub mod rendezvous;
mod socket;
mod spread;

pub use builder::Builder;
pub use counts::{
    DatagramCounts, DestinationCounts, EmitterCounts, LogCounts, LostCounts, SenderCounts, Standing,
};
pub use emitter::{Destinations, Emitter, EmitterError};
pub use form::ReportForm;
pub use line_file::{LineError, LineFile, LogError, Rotation};
pub use liveness::PROBE_PERIOD;
pub use log::{LogFormat, LogSettings, UnknownLogFormat};
pub use packet_senders::MAX_PACKET_SENDERS;
pub use probing::CollectorNews;
