//! The clock of a sink, measured by its answers.

use super::questions::Asked;
use super::replies::AnswerTime;
use crate::clocks::{Answers, Drift, Exchange};
use crate::model::SinkClock;

/// An answer does not tell how the sink's clock is steered. The kernel lets a time daemon do that by this much, in ppb;
/// a clock that runs faster or slower, or is set, contradicts itself.
const STEERED_PPB: u32 = 500_000;
/// This host's clock was set if it ran away from the raw clock by more than this while a question was unanswered.
const SET_NS: u64 = 1_000_000;

/// The last answers of one sink, as far as they tell of its clock.
#[derive(Default)]
pub(super) struct SinkAnswers(Answers);

impl SinkAnswers {
    /// Takes the times of a question and of its answer, and the time by the sink's clock when it answered. `None`: the
    /// sink's clock is unknown.
    pub(super) fn note(
        &mut self,
        asked: &Asked,
        answered_ns: u64,
        at: AnswerTime,
    ) -> Option<SinkClock> {
        let apart_ns = apart(asked, at);
        if apart_ns > SET_NS {
            self.0.forget();
            return None;
        }
        let drift = Drift::steered(STEERED_PPB);
        let exchange = Exchange {
            asked_raw_ns: i128::from(asked.at.raw_ns) - i128::from(apart_ns),
            received_raw_ns: i128::from(at.raw_ns) + i128::from(apart_ns),
            answered_ns: answered_ns.into(),
        };
        let found = self.0.note(exchange, drift)?;
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
