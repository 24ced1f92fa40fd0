//! The flags of a report: what it is about.

/// The D, Q, F and I flags of the report header.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Flags {
    /// D: a packet was dropped.
    pub dropped: bool,
    /// Q: congestion on a monitored queue.
    pub congested_queue: bool,
    /// F: the packet belongs to a tracked flow.
    pub tracked_flow: bool,
    /// I: a transit hop reports the metadata that it takes off the stack (v2.0); of a sink's report, transit hops tell of the
    /// same packet (INT-MX).
    pub intermediate: bool,
}
