//! The interval of two hosts holds in every simulated world. `HOSTINT_TEST_CASES` says how many there are.

use hostint::clocks::{ClockLink, Drift, Mesh, OwnClock, raw_minima};
use hostint_testing::random::{Random, env_number};

use super::world::{Habits, Host, SECOND, WINDOW, any_habits, any_paths, below, minima};

/// The outcome of a world.
#[derive(Debug, Default)]
struct Outcomes {
    known: u64,
    unknown: u64,
    half_widths: Vec<i128>,
}

fn world(random: &mut Random, habits: [Habits; 2], outcomes: &mut Outcomes, sentence: &str) {
    let hosts = habits.map(|habits| Host::new(random, habits));
    let paths = any_paths(random);
    let clocks: [OwnClock; 2] = [0, 1].map(|host: usize| hosts[host].own_clock(random));
    let packets = random.pick(&[1, 4, 10]);
    let [forward, reverse] = [(0, 1), (1, 0)].map(|(from, to)| {
        let found = minima(random, (&hosts[from], &hosts[to]), paths[from], packets);
        raw_minima(&clocks[from], &clocks[to], &found)
    });
    let links = [ClockLink {
        from: 0,
        to: 1,
        forward,
        reverse,
        same_clock: false,
    }];
    let mesh = Mesh {
        hosts: 2,
        links: &links,
        drift: Drift::CRYSTALS,
    };
    // At any moment of the window, or up to 5 s after it.
    let moment = below(random, WINDOW + 5 * SECOND);
    let bounds = mesh.bounds(0, hosts[0].raw(moment));
    let bounds = bounds.unwrap_or_else(|cycle| panic!("{sentence}: no stamp is false: {cycle:?}"));
    let Some(raw) = bounds.ahead(0, 1) else {
        outcomes.unknown += 1;
        return;
    };
    let ahead = hosts[1].raw(moment) - hosts[0].raw(moment);
    assert!(raw.contains(ahead), "{sentence}: raw {ahead} in {raw:?}");
    let Some(clock) = bounds.clock_ahead(&clocks, 0, 1) else {
        outcomes.unknown += 1;
        return;
    };
    let ahead = hosts[1].clock(moment) - hosts[0].clock(moment);
    assert!(clock.contains(ahead), "{sentence}: {ahead} in {clock:?}");
    outcomes.known += 1;
    outcomes.half_widths.push(clock.width_ns() / 2);
}

fn worlds(crystal_ppb: i64, count: u64) -> Outcomes {
    let (mut random, seed) = Random::from_env();
    let mut outcomes = Outcomes::default();
    for case in 0..count {
        let habits = [(); 2].map(|()| any_habits(&mut random, crystal_ppb));
        let sentence = format!("HOSTINT_TEST_SEED={seed}, case {case}");
        world(&mut random, habits, &mut outcomes, &sentence);
    }
    outcomes
}

fn print(name: &str, outcomes: &mut Outcomes) {
    outcomes.half_widths.sort_unstable();
    let widths = &outcomes.half_widths;
    println!(
        "{name}: {} intervals hold, {} unknown; half width median {} ns, 95 % {} ns",
        outcomes.known,
        outcomes.unknown,
        widths[widths.len() / 2],
        widths[widths.len() * 95 / 100],
    );
}

#[test]
fn the_interval_holds_with_slews_steps_queues_and_asymmetry() {
    let count = env_number("HOSTINT_TEST_CASES", 2_000);
    let mut outcomes = worlds(50_000, count);
    print("crystals off by up to 50 ppm", &mut outcomes);
    assert!(outcomes.known > count * 8 / 10, "{outcomes:?}");
}

#[test]
fn the_interval_holds_with_crystals_that_are_off_by_100_ppm() {
    let count = env_number("HOSTINT_TEST_CASES", 5_000) / 10;
    let mut outcomes = worlds(100_000, count);
    print("crystals off by up to 100 ppm", &mut outcomes);
    assert!(outcomes.known > count * 8 / 10, "{outcomes:?}");
}
