//! The error that is stated for a host's clock, by its operator or its time daemon, and how far it is believed.

use std::collections::VecDeque;

use super::interval::ClockInterval;

/// The greatest error of this time counts: a daemon that says 0 whenever it sets the clock lets the kernel count up by
/// 500 ppm in between.
const KEEP_NS: i128 = 60_000_000_000;
/// Before this much of it is known, nothing is stated.
const LEAST_NS: i128 = 10_000_000_000;

/// The errors of the last minute, by the raw clock. `None`: the clock was not synchronised.
#[derive(Clone, Debug, Default)]
pub struct StatedErrors {
    last: VecDeque<(i128, Option<u64>)>,
}

impl StatedErrors {
    /// Takes the error that is stated now.
    pub fn note(&mut self, raw_ns: i128, error_ns: Option<u64>) {
        // The host started again.
        if self.last.back().is_some_and(|last| last.0 > raw_ns) {
            self.last.clear();
        }
        self.last.push_back((raw_ns, error_ns));
        while let Some(first) = self.last.front()
            && first.0 < raw_ns - KEEP_NS
        {
            self.last.pop_front();
        }
    }

    /// The error that was stated all the time; `None` if there was a time without.
    pub fn greatest_ns(&self) -> Option<u32> {
        let (first, last) = (self.last.front()?, self.last.back()?);
        if last.0 - first.0 < LEAST_NS {
            return None;
        }
        let errors: Option<Vec<u64>> = self.last.iter().map(|one| one.1).collect();
        u32::try_from(errors?.into_iter().max()?).ok()
    }
}

/// The estimated difference of two clocks, in the range that most errors leave it in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Likely {
    pub estimate_ns: i128,
    pub error_ns: i128,
}

impl Likely {
    /// Believes that both clocks are off by no more than was stated, in sum, as far as the bound allows. An estimate that
    /// disagrees moves there, and its error reaches back.
    pub(super) fn believing(self, stated_ns: i128, bound: ClockInterval) -> Self {
        let Some(stated) = ClockInterval::exactly(0)
            .widened(stated_ns)
            .intersection(bound)
        else {
            return self;
        };
        let likely = ClockInterval::exactly(self.estimate_ns).widened(self.error_ns);
        match likely.intersection(stated) {
            both if both == likely.intersection(bound) => self,
            Some(both) => Self {
                estimate_ns: both.middle_ns(),
                error_ns: both.high_ns - both.middle_ns(),
            },
            None => {
                let nearest_ns = stated.clip(self.estimate_ns);
                Self {
                    estimate_ns: nearest_ns,
                    error_ns: (self.estimate_ns - nearest_ns).abs(),
                }
            }
        }
    }
}
