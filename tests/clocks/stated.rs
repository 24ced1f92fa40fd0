//! What hosts say of their clocks is believed as far as packets allow: the error that a time daemon states, and that two
//! hosts share one kernel.

use std::num::NonZeroU32;

use hostint::clocks::{ClockDifference, StatedErrors, Statement};
use hostint::os::clock::Discipline;
use hostint_testing::random::Random;

use super::told::{QUIET, Told};
use super::world::{Host, MS, Path, SECOND};

const US: i128 = 1_000;

fn path(least: i128) -> Path {
    Path {
        least,
        empty: 0.7,
        mean_ns: 20_000.0,
    }
}

/// Both directions, of which the second has a queue that never empties.
fn lopsided() -> [Path; 2] {
    [path(5 * US), path(45 * US)]
}

/// The difference of the hosts 0 and 1 at the end, and the true one.
fn found(told: &Told) -> (ClockDifference, i128) {
    let at = told.until - 2 * SECOND;
    let found = told.difference(0, 1, at);
    (found.expect("both tell"), told.ahead(0, 1, at))
}

#[test]
fn a_stated_error_corrects_the_estimate_and_never_the_interval() {
    struct Case {
        sentence: &'static str,
        /// Of both clocks, from true time.
        off: [i128; 2],
        stated_ns: [Option<u32>; 2],
        /// The estimate is off by no more than this, and says so. `None`: it is the same as if nothing had been stated.
        most: Option<i128>,
    }
    let cases = [
        Case {
            sentence: "both are true",
            off: [-800, 700],
            stated_ns: [Some(1_000); 2],
            most: Some(2 * US),
        },
        Case {
            sentence: "both are true, and one is coarse",
            off: [100, -5_000],
            stated_ns: [Some(1_000), Some(6_000)],
            most: Some(7 * US),
        },
        Case {
            sentence: "one states nothing",
            off: [0, 0],
            stated_ns: [Some(1_000), None],
            most: None,
        },
        Case {
            sentence: "both state more than packets leave open",
            off: [0, 0],
            stated_ns: [Some(1_000_000); 2],
            most: None,
        },
        Case {
            sentence: "one is false, and packets show it",
            off: [0, 10_000_000],
            stated_ns: [Some(1_000); 2],
            most: None,
        },
        Case {
            sentence: "one is false, and packets do not show it",
            off: [0, 15_000],
            stated_ns: [Some(1_000); 2],
            most: Some(17 * US),
        },
    ];
    for (case, seed) in cases
        .iter()
        .flat_map(|case| (1..20).map(move |seed| (case, seed)))
    {
        let mut differences = [false, true].map(|states| {
            let mut random = Random::seeded(seed);
            let hosts = case.off.map(|off| Host::synchronised(&mut random, off));
            let mut told = Told::of(hosts.to_vec());
            if states {
                for (said, error_ns) in told.said.iter_mut().zip(case.stated_ns) {
                    said.error_ns = error_ns;
                }
            }
            told.link(&mut random, 0, 1, lopsided());
            told.tell(&mut random, 9 * SECOND);
            found(&told)
        });
        let sentence = format!("{}, seed {seed}: {differences:?}", case.sentence);
        let [(without, _), (with, truth)] = &mut differences;
        assert_eq!(with.bound, without.bound, "{sentence}");
        assert!(with.bound.contains(*truth), "{sentence}");
        assert!(with.bound.contains(with.estimate_ns), "{sentence}");
        match case.most {
            Some(most) => {
                let off = (with.estimate_ns - *truth).abs();
                assert!(off <= most && with.error_ns <= 20 * US, "{sentence}");
                assert!(with.error_ns < without.error_ns, "{sentence}");
            }
            None => assert_eq!(with, without, "{sentence}"),
        }
    }
}

#[test]
fn hosts_with_one_kernel_have_one_clock_unless_packets_refute_it() {
    let mut random = Random::seeded(1);
    let said = |stamps_by_kernel| Statement {
        kernel: 7,
        stamps_by_kernel,
        ..Statement::default()
    };
    let mut one_kernel = |count: usize, stamps_by_kernel| {
        let host = Host::new(&mut random, QUIET);
        let mut told = Told::of(vec![host; count]);
        told.said.fill(said(stamps_by_kernel));
        told
    };

    let mut told = one_kernel(2, true);
    let mut random = Random::seeded(2);
    told.link(&mut random, 0, 1, lopsided());
    told.tell(&mut random, 9 * SECOND);
    let (exact, _) = found(&told);
    assert_eq!((exact.estimate_ns, exact.error_ns), (0, 0));
    assert_eq!(exact.bound.width_ns(), 0, "packets matter no more");

    let mut told = one_kernel(2, true);
    told.tell(&mut random, 9 * SECOND);
    let bound = found(&told).0.bound;
    assert_eq!(bound, exact.bound, "without packets between them");

    let mut told = one_kernel(2, false);
    told.tell(&mut random, 9 * SECOND);
    let (close, truth) = found(&told);
    assert!(close.bound.contains(truth), "{close:?}");
    let width = close.bound.width_ns();
    assert!(width < 40 * US, "each has an offset of its own: {close:?}");

    // Packets go from another host to one of three.
    let mut told = one_kernel(3, true);
    told.hosts.insert(0, Host::new(&mut random, QUIET));
    let mut through = Told::of(told.hosts);
    through.said[1..].fill(said(true));
    through.link(&mut random, 0, 3, lopsided());
    through.tell(&mut random, 9 * SECOND);
    let (through_it, truth) = found(&through);
    assert!(through_it.bound.contains(truth), "{through_it:?}");
    assert!(through_it.bound.width_ns() < 2 * MS, "{through_it:?}");

    // The clone of a virtual machine tells the same number.
    let both = [false, true].map(|claims| {
        let mut random = Random::seeded(3);
        let mut told = Told::new(&mut random, QUIET, 2);
        if claims {
            told.said.fill(said(true));
        }
        told.link(&mut random, 0, 1, lopsided());
        told.tell(&mut random, 9 * SECOND);
        let (found, truth) = found(&told);
        assert!(found.bound.contains(truth), "a clone: {found:?}");
        found
    });
    assert_eq!(both[0], both[1], "nothing is made of its number");
}

#[test]
fn the_greatest_error_of_a_minute_is_stated() {
    type Case<'a> = (&'a str, &'a [Option<u64>], Option<u32>);
    let cases: [Case<'_>; 6] = [
        ("nothing is known", &[], None),
        ("not long enough", &[Some(5); 10], None),
        ("always the same", &[Some(5); 12], Some(5)),
        (
            "a daemon sets 0, the kernel counts up",
            &[
                Some(0),
                Some(500),
                Some(1_000),
                Some(0),
                Some(500),
                Some(0),
                Some(500),
                Some(1_000),
                Some(1_500),
                Some(0),
                Some(0),
                Some(0),
            ],
            Some(1_500),
        ),
        (
            "synchronised since a short time",
            &[[None; 6], [Some(5); 6]].concat(),
            None,
        ),
        ("beyond all use", &[Some(16_000_000_000); 12], None),
    ];
    for (sentence, errors, expected) in cases {
        let mut stated = StatedErrors::default();
        for (second, error_ns) in errors.iter().enumerate() {
            stated.note(second as i128 * SECOND, *error_ns);
        }
        assert_eq!(stated.greatest_ns(), expected, "{sentence}");
    }
    let mut stated = StatedErrors::default();
    for second in 0..100 {
        stated.note(second * SECOND, Some(if second < 30 { 90 } else { 3 }));
    }
    assert_eq!(stated.greatest_ns(), Some(3), "of the last minute");
    stated.note(0, Some(3));
    assert_eq!(stated.greatest_ns(), None, "the host started again");
}

#[test]
fn the_operators_word_comes_first_then_the_daemons_estimate_then_its_greatest_error() {
    let operator = NonZeroU32::new(2_000);
    for (who, operator, synchronised, estimated_us, greatest_us, expected) in [
        ("chronyd", None, true, 3, 250, Some(7_000)),
        (
            "ntpd whose estimate is worse",
            None,
            true,
            300,
            250,
            Some(251_000),
        ),
        ("systemd-timesyncd", None, true, 0, 12_500, Some(12_501_000)),
        ("phc2sys", None, true, 16_000_000, 500, Some(501_000)),
        (
            "phc2sys and its operator",
            operator,
            true,
            16_000_000,
            500,
            Some(2_000),
        ),
        (
            "an operator who trusts chronyd less",
            operator,
            true,
            0,
            0,
            Some(2_000),
        ),
        ("no daemon", None, false, 3, 250, None),
        (
            "a daemon that died, and its operator",
            operator,
            false,
            3,
            250,
            None,
        ),
    ] {
        let discipline = Discipline {
            tai_offset_s: 37,
            synchronised,
            estimated_error_us: estimated_us,
            greatest_error_us: greatest_us,
            steered_ppb: (0, 0),
        };
        assert_eq!(discipline.stated_error_ns(operator), expected, "{who}");
    }
}
