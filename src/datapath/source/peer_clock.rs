//! The clock of a peer's sink against this host's clock, now.

use crate::clocks::{ClockInterval, Drift, Reading};
use crate::model::SinkClock;
use crate::os::clock::ClockPair;

/// How far the sink's clock is ahead of this host's clock.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PeerClock {
    pub offset_ns: i64,
    /// The least and the greatest that it can be.
    pub bound_ns: [i64; 2],
    /// The time since the answer that tells.
    pub age_ns: u64,
}

impl PeerClock {
    /// Compares now. `None` if this host's raw clock shows an earlier time than when the sink answered.
    pub fn new(sink: &SinkClock, now: ClockPair) -> Option<Self> {
        let reading = Reading {
            raw_ns: now.raw_ns.into(),
            took_ns: now.took_ns.into(),
            clock_ns: now.realtime_ns.into(),
            steered_ppb: (0, 0),
            is_after_set: false,
        };
        let age_ns = u64::try_from(reading.raw_ns + reading.took_ns - i128::from(sink.raw_ns));
        let age_ns = age_ns.ok()?;
        let drift_ns = Drift::of_ppb(sink.drift_ppb).over(age_ns.into());
        let estimate = ClockInterval::exactly(sink.ahead_ns.into());
        let bound = ClockInterval::new(
            estimate.low_ns - i128::from(sink.less_ns),
            estimate.high_ns + i128::from(sink.more_ns),
        );
        let own = reading.ahead();
        let bound = bound.widened(drift_ns).minus(own);
        let whole = |ns: i128| i64::try_from(ns).ok();
        Some(Self {
            offset_ns: whole(estimate.minus(own).middle_ns())?,
            bound_ns: [whole(bound.low_ns)?, whole(bound.high_ns)?],
            age_ns,
        })
    }

    /// The greatest error of the offset.
    pub fn error_ns(&self) -> u64 {
        let [low, high] = self.bound_ns;
        self.offset_ns
            .abs_diff(low)
            .max(self.offset_ns.abs_diff(high))
    }
}
