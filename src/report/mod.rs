//! From sink events to telemetry reports on their way.

mod builder;
mod counts;
mod emitter;
mod log;
mod socket;

pub use builder::Builder;
pub use counts::{DestinationCounts, EmitterCounts, LogCounts, LostCounts, SenderCounts};
pub use emitter::{Destinations, Emitter, EmitterError, MAX_PACKET_SENDERS};
pub use log::{LogError, LogFormat, LogSettings, UnknownLogFormat};
