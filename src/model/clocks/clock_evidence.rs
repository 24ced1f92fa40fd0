//! Evidence about clocks: a host's readings of its own, and the stamps of quick packets between it and others.

use std::num::NonZeroU32;

use crate::model::{ClockState, NodeId};

/// The most of each kind in one report.
pub const MOST_READINGS: usize = 16;
pub const MOST_CLOCK_PEERS: usize = 64;
pub const MOST_PACKETS: usize = 32;
pub const MOST_EXCHANGES: usize = 32;

/// What a host reports about its clocks. Times by its raw clock (CLOCK_MONOTONIC_RAW) are so called; others are since
/// the Unix epoch, by the clock that stamps packets.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ClockEvidence {
    pub node: NodeId,
    /// Raw clocks of two instances cannot be compared: the host started again, or is another one.
    pub instance: u64,
    /// Hosts that tell the same number are network namespaces of one kernel, and share its raw clock; 0: not told.
    pub kernel: u64,
    /// The clock that stamps packets.
    pub clock: ClockState,
    /// Network cards may stamp arrivals, with clocks of their own, of which this says nothing.
    pub arrivals_by_card: bool,
    /// The error of that clock, according to the time daemon. `None`: it is not synchronised, or its error is unknown.
    pub stated_error_ns: Option<NonZeroU32>,
    /// Oldest first.
    pub readings: Vec<ClockReading>,
    pub peers: Vec<PeerEvidence>,
}

/// Both clocks of a host, read together.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ClockReading {
    pub raw_ns: u64,
    /// The time until the raw clock was read again.
    pub took_ns: u32,
    pub clock_ns: u64,
    /// The least and the greatest rate that the kernel steers the clock by, against the raw clock.
    pub steered_ppb: (i32, i32),
    /// The clock was set since the reading before.
    pub is_after_set: bool,
}

/// Packets between the host and another one.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PeerEvidence {
    pub node: NodeId,
    /// Packets of the other host.
    pub packets: Vec<QuickPacket>,
    /// Questions of this host, and answers of the other one.
    pub exchanges: Vec<LeaseExchange>,
}

/// The quickest packet of a short time.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct QuickPacket {
    pub arrived_ns: u64,
    /// The low 32 bits of the difference of both clocks' stamps.
    pub latency_ns: i32,
}

/// A lease question and its answer.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct LeaseExchange {
    /// No later than the question was sent, by this host's raw clock.
    pub asked_raw_ns: u64,
    /// No earlier than the answer arrived, by this host's raw clock.
    pub received_raw_ns: u64,
    /// By the other host's clock.
    pub answered_ns: u64,
}
