//! Where a report came from, and when.

use std::net::SocketAddr;

/// A report's exporter and arrival time, as a collector knows them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Arrival {
    pub exporter: SocketAddr,
    /// Nanoseconds since the Unix epoch.
    pub received_ns: u64,
}
