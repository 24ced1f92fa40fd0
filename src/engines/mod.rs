//! Engines that a collector hands its reports on to: each has a queue and a thread of its own, and none holds up the
//! socket, the store or another engine. Metrics go out in the same manner.

#[cfg(feature = "clickhouse")]
pub mod clickhouse;
mod clock;
mod counts;
mod delivery;
mod feed;
#[cfg(feature = "http-client")]
pub mod http;
#[cfg(feature = "ipfix")]
pub mod ipfix;
#[cfg(feature = "kafka")]
pub mod kafka;
#[cfg(feature = "otlp")]
pub mod otlp;
mod outlet;
mod parcel;
pub mod push;
#[cfg(feature = "remote-write")]
pub mod remote_write;
mod runner;

pub use feed::Feed;
pub use outlet::{Engines, Patience};
pub use parcel::{Batch, Entry, Parcel, Run};
pub use runner::{Accepted, Engine, Pace, Trouble};
