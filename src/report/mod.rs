//! Telemetry reports: how they are made from sink events, numbered, and sent to their destinations.

mod builder;
mod clock_news;
mod counts;
mod destination;
mod emitter;
mod form;
pub mod liveness;
mod log;
mod log_line;
mod numbers;
pub mod packet_senders;
mod prober;
pub mod rendezvous;
pub mod socket;
mod spread;

pub use builder::Builder;
pub use clock_news::{ClockNews, MOST_PEERS};
pub use counts::{
    CollectorStanding, DatagramCounts, DestinationCounts, EmitterCounts, LogCounts, LostCounts,
    SenderCounts,
};
pub use emitter::{Destinations, Emitter, EmitterError};
pub use form::ReportForm;
pub use liveness::PROBE_PERIOD;
pub use log::{LogError, LogFormat, LogSettings, UnknownLogFormat};
pub use log_line::LogLine;
pub use packet_senders::MAX_PACKET_SENDERS;
pub use prober::CollectorNews;
