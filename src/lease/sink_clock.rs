//! The clock of a sink, measured by its answers.

use super::questions::Asked;
use super::update::AnswerTime;
use crate::clocks::{Answers, Drift, Exchange};
use crate::model::{ClockSteering, LeaseExchange, SinkClock};

/// The kernel lets a time daemon steer a clock by this much, in ppb, unless it changes the length of the tick. A sink that
/// does not tell how its clock is steered is believed to stay below; if not, or if it is set, it contradicts itself.
const STEERED_PPB: u32 = 500_000;
/// A time daemon changes the rate a little from one reading of the sink's to the next.
const CORRECTION_PPB: u32 = 1_000;
/// This host's clock was set if it ran away from the raw clock by more than this while a question was unanswered.
const SET_NS: u64 = 1_000_000;

/// The last answers of one sink, as far as they tell of its clock.
#[derive(Default)]
pub(super) struct SinkAnswers {
    answers: Answers,
    steering: ClockSteering,
    /// The newest exchange whose times can be compared.
    newest: Option<LeaseExchange>,
}

impl SinkAnswers {
    /// Takes what the last full answer told. It holds for short ones, too: another one changes the digest.
    pub(super) fn set_steering(&mut self, steering: ClockSteering) {
        self.steering = steering;
    }

    /// The times of the newest exchange, unless this host's clock was set meanwhile.
    pub(super) fn newest(&self) -> Option<LeaseExchange> {
        self.newest
    }

    fn drift(&self) -> Option<Drift> {
        match self.steering {
            ClockSteering::BEYOND => None,
            known => Some(
                Drift::CRYSTALS.steered(
                    known
                        .most_ppb()
                        .map_or(STEERED_PPB, |ppb| ppb + CORRECTION_PPB),
                ),
            ),
        }
    }

    /// Takes the times of a question and of its answer, and the time by the sink's clock when it answered. `None`: the
    /// sink's clock is unknown.
    pub(super) fn note(
        &mut self,
        asked: &Asked,
        answered_ns: u64,
        at: AnswerTime,
    ) -> Option<SinkClock> {
        let apart_ns = apart(asked, at);
        self.newest = (apart_ns <= SET_NS).then(|| LeaseExchange {
            asked_raw_ns: asked.at.raw_ns.saturating_sub(apart_ns),
            received_raw_ns: at.raw_ns.saturating_add(apart_ns),
            answered_ns,
        });
        let (Some(drift), Some(newest)) = (self.drift(), self.newest) else {
            self.answers.forget();
            return None;
        };
        let exchange = Exchange {
            asked_raw_ns: newest.asked_raw_ns.into(),
            received_raw_ns: newest.received_raw_ns.into(),
            answered_ns: answered_ns.into(),
        };
        let found = self.answers.note(exchange, drift)?;
        let distance = |ns: i128| u64::try_from(ns).ok();
        Some(SinkClock {
            raw_ns: distance(found.raw_ns)?,
            ahead_ns: i64::try_from(found.estimate_ns).ok()?,
            less_ns: distance(found.estimate_ns - found.bound.low_ns)?,
            more_ns: distance(found.bound.high_ns - found.estimate_ns)?,
            drift_ppb: drift.ppb(),
        })
    }
}

/// The distance by which this host's clock ran away from its raw clock meanwhile. The time of an answer is that of a
/// packet by the first clock: by the raw clock it is off by this at most, even if the first was slewed or set.
fn apart(asked: &Asked, at: AnswerTime) -> u64 {
    let clock_ns = i128::from(at.realtime_ns) - i128::from(asked.at.realtime_ns);
    let raw_ns = i128::from(at.raw_ns) - i128::from(asked.at.raw_ns);
    u64::try_from((clock_ns - raw_ns).abs()).unwrap_or(u64::MAX)
}
