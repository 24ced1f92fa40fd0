//! The Kafka engine: its messages, and brokers that fail.

#[cfg(feature = "real-engines")]
mod broker;
pub mod cluster;
mod consumed;
mod deliveries;
mod messages;
mod outages;
mod partition;
pub mod read_back;
#[cfg(feature = "real-engines")]
mod tansu;
mod trust;

pub const TOPIC: &str = "hostint.reports.v1";
const CLOCK_TOPIC: &str = "hostint.clocks.v1";
