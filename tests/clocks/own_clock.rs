//! A host's clock against its raw clock: slews are taken out, steps are seen, ambiguous stamps are refused.

use hostint::clocks::{ClockInterval, OwnClock, Reading};

const SECOND: i128 = 1_000_000_000;

fn reading(raw_s: i128, ahead_ns: i128, ppb: i64) -> Reading {
    Reading {
        raw_ns: raw_s * SECOND,
        took_ns: 50,
        clock_ns: raw_s * SECOND + 25 + ahead_ns,
        steered_ppb: (ppb, ppb),
        is_after_set: false,
    }
}

fn clock(readings: &[Reading]) -> OwnClock {
    let mut own = OwnClock::default();
    for reading in readings {
        own.note(*reading);
    }
    own
}

/// The distance by which the clock was ahead of the raw one at this time.
fn ahead_at(own: &OwnClock, raw_ns: i128) -> Option<ClockInterval> {
    own.ahead_within(ClockInterval::exactly(raw_ns))
}

#[test]
fn a_slew_that_the_kernel_tells_of_is_taken_out() {
    let own = clock(&[
        reading(1, 0, 100_000),
        reading(2, 100_000, 100_000),
        reading(3, 200_000, 100_000),
    ]);
    let cases = [
        ("at a reading", SECOND * 2, 100_000),
        ("between two", SECOND * 5 / 2, 150_000),
    ];
    for (name, raw, ahead) in cases {
        let found = ahead_at(&own, raw).unwrap();
        assert!(
            found.contains(ahead) && found.width_ns() < 1_200,
            "{name}: {found:?}"
        );
        let back = own.raw_of(raw + ahead).unwrap();
        assert!(
            back.contains(raw) && back.width_ns() < 3_000,
            "{name}: {back:?}"
        );
    }
    assert_eq!(own.steps, 0);
    for raw in [0, SECOND * 4] {
        assert_eq!(ahead_at(&own, raw), None, "the clock was not read then");
    }
}

#[test]
fn of_an_untold_slew_the_whole_range_is_possible() {
    let own = clock(&[reading(1, 0, 0), reading(2, 300_000, 0)]);
    let found = own
        .ahead_within(ClockInterval::exactly(SECOND * 3 / 2))
        .unwrap();
    assert!(found.contains(0) && found.contains(300_000), "{found:?}");
    assert_eq!(own.steps, 0);
}

#[test]
fn stamps_around_a_step_are_refused_if_they_may_be_of_either_side() {
    let ahead = 100 * SECOND;
    for (name, step) in [("forward", 5 * SECOND), ("back", -5 * SECOND)] {
        let readings = (1..30).map(|s| reading(s, ahead + if s > 10 { step } else { 0 }, 0));
        let own = clock(&readings.collect::<Vec<_>>());
        assert_eq!(own.steps, 1, "{name}");
        assert_eq!(ahead_at(&own, SECOND * 21 / 2), None, "{name}");
        let before = ahead_at(&own, SECOND * 5).unwrap();
        assert!(before.contains(ahead), "{name}: {before:?}");
        let after = ahead_at(&own, SECOND * 20).unwrap();
        assert!(after.contains(ahead + step), "{name}: {after:?}");
    }
    let readings = (1..30).map(|s| reading(s, ahead - if s > 10 { 5 * SECOND } else { 0 }, 0));
    let own = clock(&readings.collect::<Vec<_>>());
    let cases = [
        ("long before the step", ahead + 3 * SECOND, Some(3)),
        ("shown before it and after", ahead + 8 * SECOND, None),
        ("long after it", ahead + 15 * SECOND, Some(20)),
    ];
    for (name, stamp, raw_s) in cases {
        let found = own.raw_of(stamp);
        assert_eq!(found.is_some(), raw_s.is_some(), "{name}: {found:?}");
        if let (Some(found), Some(raw_s)) = (found, raw_s) {
            assert!(found.contains(raw_s * SECOND), "{name}: {found:?}");
        }
    }
}

#[test]
fn of_an_untold_step_both_sides_are_possible_while_the_clock_is_slewed() {
    // It was set by 400 us at 1.5 s, and slewed back by as much.
    let own = clock(&[reading(1, 0, -400_000), reading(2, 0, -400_000)]);
    let found = own
        .ahead_within(ClockInterval::exactly(SECOND * 3 / 2))
        .unwrap();
    assert!(
        found.contains(-200_000) && found.contains(200_000),
        "{found:?}"
    );
}

#[test]
fn a_clock_that_was_set_by_little_or_there_and_back_is_not_steady() {
    let set = Reading {
        is_after_set: true,
        ..reading(2, 0, 0)
    };
    let own = clock(&[reading(1, 0, 0), set, reading(3, 0, 0)]);
    let within = |from, until| ClockInterval::new(from * SECOND / 10, until * SECOND / 10);
    for (name, time, expected) in [
        ("while it was set", within(12, 13), false),
        ("before and after", within(15, 25), false),
        ("after", within(22, 25), true),
        ("before it was read", within(5, 8), false),
        ("until later than it was read", within(25, 35), false),
    ] {
        assert_eq!(own.is_steady(time), expected, "{name}");
        assert_eq!(own.ahead_within(time).is_some(), expected, "{name}");
    }
    assert_eq!(own.steps, 1);
}

#[test]
fn a_clock_that_was_read_once_or_began_anew_tells_nothing() {
    assert_eq!(ahead_at(&clock(&[]), SECOND), None);
    assert_eq!(clock(&[reading(1, 0, 0)]).raw_of(SECOND), None);
    let own = clock(&[reading(8, 0, 0), reading(9, 0, 0), reading(1, 0, 0)]);
    assert_eq!(ahead_at(&own, 8 * SECOND + SECOND / 2), None);
    assert_eq!(own.steps, 0);
}

#[test]
fn readings_of_more_than_a_minute_ago_are_forgotten() {
    let own = clock(&(1..200).map(|s| reading(s, 7, 0)).collect::<Vec<_>>());
    assert_eq!(ahead_at(&own, 100 * SECOND), None);
    let found = ahead_at(&own, 150 * SECOND).unwrap();
    assert!(
        found.intersection(ClockInterval::exactly(7)).is_some(),
        "{found:?}"
    );
}

#[test]
fn the_most_that_a_clock_was_steered_by_is_told_or_shown() {
    let cases = [
        ("nothing", vec![reading(1, 0, 0), reading(2, 0, 0)], 0..=0),
        (
            "what the kernel tells, without its sign",
            vec![reading(1, 0, -40_000), reading(2, -40_000, -10_000)],
            40_000..=40_000,
        ),
        (
            "what the readings show and the kernel does not tell",
            vec![reading(1, 0, 0), reading(2, 300_000, 0)],
            300_000..=300_100,
        ),
        (
            "a step is no steering",
            vec![reading(1, 0, 3), reading(2, 5_000_000, 3)],
            3..=3,
        ),
        (
            "what is older than a minute is forgotten",
            vec![reading(1, 0, 9_000), reading(62, 0, 0), reading(63, 0, 0)],
            0..=0,
        ),
    ];
    for (name, readings, expected) in cases {
        let found = clock(&readings).most_steered_ppb();
        assert!(expected.contains(&found), "{name}: {found}");
    }
}
