//! The engines to which a collector hands its reports on. Each has a queue and a thread of its own, so that none blocks
//! the socket, the store or another engine. Metrics are pushed in the same way.

mod answer;
#[cfg(feature = "clickhouse")]
pub mod clickhouse;
mod clock;
mod counts;
mod delivery;
mod delivery_thread;
mod engine_set;
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
mod runner;
#[cfg(feature = "http-client")]
pub mod webhook;

pub use answer::{Accepted, Trouble};
pub use engine_set::Engines;
pub use feed::{Feed, FeedReport};
pub use outlet::Patience;
pub use parcel::{FedBatch, FedReport, Parcel, RunId};
pub use runner::{Engine, Pace};
