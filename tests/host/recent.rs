//! Counters of the last minute: what they grew by, and nothing that is older.

use std::time::{Duration, Instant};

use hostint::datapath::host::recent::{CounterValues, RecentValues};

fn values(too_long: u64) -> CounterValues {
    CounterValues {
        source: [("too_long", too_long), ("vlan", 5)].into(),
        ..CounterValues::default()
    }
}

#[test]
fn growth_is_of_the_last_minute_at_least_and_of_little_more() {
    struct Case {
        name: &'static str,
        /// Seconds and values that were kept.
        kept: &'static [(u64, u64)],
        now: (u64, u64),
        /// The growth, and of how many seconds.
        expected: Option<(Option<u64>, u64)>,
    }
    let cases = [
        Case {
            name: "nothing is known yet",
            kept: &[],
            now: (0, 7),
            expected: None,
        },
        Case {
            name: "what was counted before the daemon began is not recent",
            kept: &[(0, 3_649)],
            now: (4, 3_649),
            expected: Some((None, 4)),
        },
        Case {
            name: "it grows",
            kept: &[(0, 10), (10, 12), (20, 19)],
            now: (25, 20),
            expected: Some((Some(10), 25)),
        },
        Case {
            name: "older growth is forgotten",
            kept: &[
                (0, 0),
                (10, 100),
                (20, 100),
                (30, 100),
                (40, 100),
                (50, 100),
                (60, 100),
                (70, 100),
            ],
            now: (75, 103),
            expected: Some((Some(3), 65)),
        },
        Case {
            name: "a counter that began anew",
            kept: &[(0, 50)],
            now: (5, 2),
            expected: Some((Some(2), 5)),
        },
    ];
    let begin = Instant::now();
    let at = |seconds| begin + Duration::from_secs(seconds);
    for case in cases {
        let mut recent = RecentValues::default();
        for (seconds, too_long) in case.kept {
            recent.keep(values(*too_long), at(*seconds));
        }
        let (seconds, too_long) = case.now;
        let told = recent.until(&values(too_long), at(seconds));
        let told = told.map(|told| {
            assert!(!told.source.contains_key("vlan"), "{}", case.name);
            (told.source.get("too_long").copied(), told.seconds)
        });
        assert_eq!(told, case.expected, "{}", case.name);
    }
}
