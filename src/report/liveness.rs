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
pub(super) struct Liveness {
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
    pub(super) fn new(now: Instant) -> Self {
        Self {
            state: CollectorState::Unprobed,
            since: now,
            ever_answered: false,
            last: None,
            row: 0,
        }
    }

    pub(super) fn state(&self) -> CollectorState {
        self.state
    }

    /// Returns the time of the last change of state.
    pub(super) fn since(&self) -> Instant {
        self.since
    }

    pub(super) fn is_silent(&self) -> bool {
        self.state == CollectorState::Silent
    }

    pub(super) fn awaits(&self) -> bool {
        self.last == Some(ProbeOutcome::Nothing)
    }

    /// Records that a probe is sent; an answer to the one before no longer counts. Returns true if the state changed.
    pub(super) fn probed(&mut self, now: Instant) -> bool {
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
    pub(super) fn answered(&mut self, now: Instant) -> bool {
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
    pub(super) fn refused(&mut self, now: Instant) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// One letter for each second: whether the probe is answered, unanswered or refused, and the state after it.
    struct Case {
        name: &'static str,
        probes: &'static str,
        states: &'static str,
    }

    const CASES: [Case; 11] = [
        Case {
            name: "the first answer is enough",
            probes: "-a",
            states: "uA",
        },
        Case {
            name: "a collector that never answers counts as present",
            probes: "----------",
            states: "uuuuuuuuuu",
        },
        Case {
            name: "silent after three probes without an answer, with the fourth",
            probes: "aa----",
            states: "AAAAAs",
        },
        Case {
            name: "two lost answers change nothing",
            probes: "a--a--a",
            states: "AAAAAAA",
        },
        Case {
            name: "present again after two answers",
            probes: "a----aa",
            states: "AAAAssA",
        },
        Case {
            name: "a single answer now and then does not bring it back",
            probes: "a----a-a-a-aa",
            states: "AAAAssssssssA",
        },
        Case {
            name: "refusals are not believed of one that answered, silence is",
            probes: "arrar---",
            states: "AAAAAAAs",
        },
        Case {
            name: "one that never answered is silent once it is refused, until refusals end",
            probes: "-r--r----",
            states: "usssssssu",
        },
        Case {
            name: "a collector that comes later",
            probes: "rr-aa",
            states: "ssssA",
        },
        Case {
            name: "once it answered, silence lasts",
            probes: "rraa---------",
            states: "sssAAAAssssss",
        },
        // A program that cannot answer and uses the same port looks like a host that was switched off.
        Case {
            name: "nor do refusals that end bring it back",
            probes: "aa--rrr------",
            states: "AAAAAssssssss",
        },
    ];

    #[test]
    fn states_follow_answers() {
        for Case {
            name,
            probes,
            states,
        } in CASES
        {
            let start = Instant::now();
            let mut now = start;
            let mut liveness = Liveness::new(now);
            let mut found = String::new();
            for outcome in probes.chars() {
                let before = liveness.state();
                let mut changed = liveness.probed(now);
                match outcome {
                    'a' => changed |= liveness.answered(now),
                    'r' => changed |= liveness.refused(now),
                    _ => assert!(liveness.awaits(), "{name}"),
                }
                assert_eq!(changed, liveness.state() != before, "{name}: {found}");
                if changed {
                    assert_eq!(liveness.since(), now, "{name}: {found}");
                }
                found.push(match liveness.state() {
                    CollectorState::Unprobed => 'u',
                    CollectorState::Answers => 'A',
                    CollectorState::Silent => 's',
                });
                now += PROBE_PERIOD;
            }
            assert_eq!(found, states, "{name}: {probes}");
        }
    }

    #[test]
    fn silence_is_noticed_in_time() {
        // The collector ends just after it answered.
        let start = Instant::now();
        let mut liveness = Liveness::new(start);
        liveness.probed(start);
        liveness.answered(start);
        let mut now = start;
        while !liveness.is_silent() {
            now += PROBE_PERIOD;
            liveness.probed(now);
        }
        assert_eq!(now - start, Duration::from_secs(4));
    }
}
