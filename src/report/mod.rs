//! From sink events to telemetry reports on their way.

mod builder;
mod counts;
mod emitter;
mod line_file;
mod log;
mod socket;

pub use builder::Builder;
pub use counts::{DestinationCounts, EmitterCounts, LogCounts, LostCounts, SenderCounts};
pub use emitter::{Destinations, Emitter, EmitterError, MAX_PACKET_SENDERS};
pub use line_file::{LineError, LineFile, LogError, Rotation};
pub use log::{LogFormat, LogSettings, UnknownLogFormat};
