//! The liveness of a collector: when it counts as silent, and when it counts as present again.

use std::time::{Duration, Instant};

use crate::model::CollectorState;

/// The time between two probes of a collector.
pub const PROBE_PERIOD: Duration = Duration::from_secs(1);

/// A collector that has answered before is silent after this many unanswered probes in a row: at most 4 s after it
/// ended.
const MISSED: u32 = 3;

/// A silent collector is present again after this many answers in a row.
const ANSWERED: u32 = 2;

/// A silent collector that never answered counts as present again after this many probes in a row without a refusal.
const NOT_REFUSED: u32 = 3;

/// The state of one collector according to its answers to probes.
#[derive(Clone, Debug)]
pub struct Liveness {
    state: CollectorState,
    since: Instant,
    ever_answered: bool,
    /// The outcome of the last probe, if there was one.
    last: Option<ProbeOutcome>,
    /// The number of probes in a row with the outcome that would change the state.
    row: u32,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum ProbeOutcome {
    Nothing,
    Answered,
    /// An ICMP message says that the collector is not there, or there is no route to it.
    Refused,
}

impl Liveness {
    pub fn new(now: Instant) -> Self {
        Self {
            state: CollectorState::Unprobed,
            since: now,
            ever_answered: false,
            last: None,
            row: 0,
        }
    }

    pub fn state(&self) -> CollectorState {
        self.state
    }

    /// Returns the time of the last change of state.
    pub fn since(&self) -> Instant {
        self.since
    }

    pub fn is_silent(&self) -> bool {
        self.state == CollectorState::Silent
    }

    pub fn awaits(&self) -> bool {
        self.last == Some(ProbeOutcome::Nothing)
    }

    /// Records that a probe is sent; an answer to the one before no longer counts. Returns true if the state changed.
    pub fn probed(&mut self, now: Instant) -> bool {
        let nothing = self.last.replace(ProbeOutcome::Nothing) == Some(ProbeOutcome::Nothing);
        match (self.state, self.ever_answered) {
            (CollectorState::Answers, _) if nothing => {
                self.count(MISSED, CollectorState::Silent, now)
            }
            (CollectorState::Silent, false) if nothing => {
                self.count(NOT_REFUSED, CollectorState::Unprobed, now)
            }
            (CollectorState::Silent, true) if nothing => {
                self.row = 0;
                false
            }
            _ => false,
        }
    }

    /// Records an answer to the last probe. Returns true if the state changed.
    pub fn answered(&mut self, now: Instant) -> bool {
        self.last = Some(ProbeOutcome::Answered);
        // Up to the first answer, the row counted probes without a refusal.
        if !std::mem::replace(&mut self.ever_answered, true) {
            self.row = 0;
        }
        match self.state {
            CollectorState::Unprobed => self.turn(CollectorState::Answers, now),
            CollectorState::Silent => self.count(ANSWERED, CollectorState::Answers, now),
            CollectorState::Answers => {
                self.row = 0;
                false
            }
        }
    }

    /// Records that the last probe was refused. Returns true if the state changed.
    pub fn refused(&mut self, now: Instant) -> bool {
        match (self.state, self.ever_answered) {
            (CollectorState::Unprobed, _) => {
                self.last = Some(ProbeOutcome::Refused);
                self.turn(CollectorState::Silent, now)
            }
            (CollectorState::Silent, false) => {
                self.last = Some(ProbeOutcome::Refused);
                self.row = 0;
                false
            }
            // Only the silence of a collector that answered counts: ICMP messages are easily forged.
            _ => false,
        }
    }

    fn count(&mut self, most: u32, then: CollectorState, now: Instant) -> bool {
        self.row += 1;
        self.row >= most && self.turn(then, now)
    }

    fn turn(&mut self, state: CollectorState, now: Instant) -> bool {
        self.state = state;
        self.since = now;
        self.row = 0;
        true
    }
}
