//! When a collector counts as silent, and when as there again.

use std::time::{Duration, Instant};

use crate::model::CollectorState;

/// A collector is probed so often.
pub const PROBE_PERIOD: Duration = Duration::from_secs(1);

/// After so many probes in a row without an answer a collector that did answer is silent: 4 s at most after it went.
const MISSED: u32 = 3;

/// After so many answers in a row it is there again.
const ANSWERED: u32 = 2;

/// After so many probes in a row that nobody refused, a collector that never answered counts as there again.
const NOT_REFUSED: u32 = 3;

/// What probes tell of one collector.
#[derive(Clone, Debug)]
pub(super) struct Liveness {
    state: CollectorState,
    since: Instant,
    ever_answered: bool,
    /// What became of the last probe, if there was one.
    last: Option<ProbeOutcome>,
    /// How many probes in a row had the outcome that the state waits for.
    row: u32,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum ProbeOutcome {
    Nothing,
    Answered,
    /// ICMP says that it is not there, or there is no way to it.
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

    /// The time of the last change.
    pub(super) fn since(&self) -> Instant {
        self.since
    }

    pub(super) fn is_silent(&self) -> bool {
        self.state == CollectorState::Silent
    }

    pub(super) fn awaits(&self) -> bool {
        self.last == Some(ProbeOutcome::Nothing)
    }

    /// A probe goes out; what the one before did not bring it brings no more. Whether the state changed.
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

    /// The last probe was answered. Whether the state changed.
    pub(super) fn answered(&mut self, now: Instant) -> bool {
        self.last = Some(ProbeOutcome::Answered);
        // A row of probes that nobody refused does not count here.
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

    /// The last probe was refused. Whether the state changed.
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
            // Its silence counts, not what others say: ICMP is easily forged.
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

    /// One letter a second: a probe that is answered, brings nothing, or is refused; and what state it leaves.
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
            name: "who never answers counts as there",
            probes: "----------",
            states: "uuuuuuuuuu",
        },
        Case {
            name: "silent after three probes without an answer, with the fourth",
            probes: "aa----",
            states: "AAAAAs",
        },
        Case {
            name: "two lost answers are nothing",
            probes: "a--a--a",
            states: "AAAAAAA",
        },
        Case {
            name: "there again after two answers",
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
            name: "who never answered is silent when it is refused, until nobody refuses",
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
        // One that cannot answer and has its place, or a host that was switched off: that looks the same.
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
        // It goes just after it answered.
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
