//! The states of a collector follow from its answers to probes.

use std::time::{Duration, Instant};

use hostint::model::CollectorState;
use hostint::report::PROBE_PERIOD;
use hostint::report::liveness::Liveness;

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
