//! The clock of one sink, by its answers to lease questions.

use std::collections::VecDeque;

use super::drift::Drift;
use super::interval::ClockInterval;

/// The number of answers that the estimate is made of.
const ANSWERS: usize = 16;
/// After a contradiction, this many answers have to agree with the one before before anything is said.
const AGREE: u8 = 2;

/// A question and its answer. Times of this host are of its raw clock.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Exchange {
    /// No later than the question was sent.
    pub asked_raw_ns: i128,
    /// No earlier than the answer was received.
    pub received_raw_ns: i128,
    /// By the sink's clock.
    pub answered_ns: i128,
}

impl Exchange {
    /// The distance by which the sink's clock was ahead of this host's raw clock when the answer was received. The
    /// question bounds it from above and ages until then, the answer from below.
    fn ahead(&self, drift: Drift) -> ClockInterval {
        let flight_ns = self.received_raw_ns - self.asked_raw_ns;
        let low_ns = self.answered_ns - self.received_raw_ns;
        ClockInterval::new(low_ns, low_ns + flight_ns + drift.over(flight_ns))
    }

    /// The same at a later time.
    fn ahead_at(&self, raw_ns: i128, drift: Drift) -> ClockInterval {
        let aged_ns = drift.over(raw_ns - self.received_raw_ns);
        self.ahead(drift).widened(aged_ns)
    }
}

/// The sink's clock against this host's raw clock, when the newest answer was received.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SinkAhead {
    pub raw_ns: i128,
    /// By the newest answer alone: a sink's clock may have been set, or slewed, since any earlier one.
    pub bound: ClockInterval,
    /// By the quickest of the last answers in each direction, within the bound.
    pub estimate_ns: i128,
}

/// The last answers of one sink.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    last: VecDeque<Exchange>,
    /// The number of answers that still have to agree.
    doubts: u8,
}

impl Answers {
    /// Forgets all, because this host's clocks cannot be compared with what they were before.
    pub fn forget(&mut self) {
        self.last.clear();
        self.doubts = 0;
    }

    /// Takes an exchange. `None`: nothing can be said, because the sink's clock contradicted itself a short time ago. It
    /// was set, or runs faster than `drift`, or a stamp is false.
    pub fn note(&mut self, new: Exchange, drift: Drift) -> Option<SinkAhead> {
        // Times of receipt are uncertain by what the clock was slewed. A later one is no mistake.
        let earliest_ns = self
            .last
            .back()
            .map_or(i128::MIN, |last| last.received_raw_ns);
        let raw_ns = new.received_raw_ns.max(earliest_ns);
        let new = Exchange {
            received_raw_ns: raw_ns,
            ..new
        };
        if new.asked_raw_ns > raw_ns {
            return None;
        }
        let bound = new.ahead(drift);
        if let Some(last) = self.last.back() {
            if last.ahead_at(raw_ns, drift).intersection(bound).is_some() {
                self.doubts = self.doubts.saturating_sub(1);
            } else {
                self.last.clear();
                self.doubts = AGREE;
            }
        }
        if self.last.len() == ANSWERS {
            self.last.pop_front();
        }
        self.last.push_back(new);
        (self.doubts == 0).then(|| SinkAhead {
            raw_ns,
            bound,
            estimate_ns: bound.clip(self.likely(raw_ns).unwrap_or(bound).middle_ns()),
        })
    }

    /// The intersection of all answers' bounds, if clocks drift as most do; the newest may contradict an old one.
    fn likely(&self, raw_ns: i128) -> Option<ClockInterval> {
        let at = |one: &Exchange| one.ahead_at(raw_ns, Drift::LIKELY);
        let mut bounds = self.last.iter().map(at);
        let first = bounds.next()?;
        bounds.try_fold(first, ClockInterval::intersection)
    }
}
