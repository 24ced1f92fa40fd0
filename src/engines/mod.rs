//! Engines that a collector hands its reports on to: each has a queue and a thread of its own, and none holds up the
//! socket, the store or another engine.

mod counts;
mod feed;
#[cfg(feature = "http-client")]
pub mod http;
#[cfg(feature = "ipfix")]
pub mod ipfix;
#[cfg(feature = "kafka")]
pub mod kafka;
mod outlet;
mod parcel;
mod runner;

pub use feed::Feed;
pub use outlet::{Engines, Patience};
pub use parcel::{Batch, Entry, Parcel, Run};
pub use runner::{Accepted, Engine, Pace, Trouble};
