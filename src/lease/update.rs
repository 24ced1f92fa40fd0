//! What an answer changes, and when it came.

use crate::model::{AddressPair, Lease, LeaseExchange};

/// A lease after an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeaseUpdate {
    pub pair: AddressPair,
    pub lease: Lease,
    /// The lease's state changed, or what is known of its path.
    pub changed: bool,
    /// Many packets are tagged, and the sink has counted none since the last answer: the kernel's counts can tell whether any
    /// arrives.
    pub silent: bool,
    /// The times of the question and of its answer, as evidence about both clocks.
    pub exchange: Option<LeaseExchange>,
}

/// The time at which an answer was received.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct AnswerTime {
    pub monotonic_ns: u64,
    pub realtime_ns: u64,
    /// By the raw clock.
    pub raw_ns: u64,
}

/// The times of a question and of its answer, by this host's monotonic clock.
#[derive(Clone, Copy)]
pub(super) struct Times {
    pub(super) asked_ns: u64,
    pub(super) answered_ns: u64,
}

impl Times {
    pub(super) fn rtt_ns(self) -> u64 {
        self.answered_ns.saturating_sub(self.asked_ns)
    }
}
