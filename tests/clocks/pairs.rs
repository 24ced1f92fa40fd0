//! The interval of two hosts holds in every simulated world. `HOSTINT_TEST_CASES` says how many there are.

use hostint::clocks::{ClockLink, Drift, Mesh, OwnClock};
use hostint_testing::random::{Random, env_number};

use super::world::{
    Habits, Host, Path, SECOND, WINDOW, any_habits, any_paths, below, clock_ahead, minima,
    raw_minima,
};

/// The outcome of a world.
#[derive(Debug, Default)]
struct Outcomes {
    known: u64,
    unknown: u64,
    /// Unknown, because packets prove more drift than data sheets allow.
    adrift: u64,
    half_widths: Vec<i128>,
}

fn world(
    random: &mut Random,
    (habits, paths): ([Habits; 2], [Path; 2]),
    outcomes: &mut Outcomes,
    sentence: &str,
) {
    let hosts = habits.map(|habits| Host::new(random, habits));
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
    if links[0].drifts_beyond(Drift::SPECIFIED) {
        outcomes.adrift += 1;
        return;
    }
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
    let Some(clock) = clock_ahead(&bounds, &clocks, 0, 1) else {
        outcomes.unknown += 1;
        return;
    };
    let ahead = hosts[1].clock(moment) - hosts[0].clock(moment);
    assert!(clock.contains(ahead), "{sentence}: {ahead} in {clock:?}");
    outcomes.known += 1;
    outcomes.half_widths.push(clock.width_ns() / 2);
}

fn worlds(count: u64, world_of: impl Fn(&mut Random) -> ([Habits; 2], [Path; 2])) -> Outcomes {
    let (mut random, seed) = Random::from_env();
    let mut outcomes = Outcomes::default();
    for case in 0..count {
        let world_of = world_of(&mut random);
        let sentence = format!("HOSTINT_TEST_SEED={seed}, case {case}");
        world(&mut random, world_of, &mut outcomes, &sentence);
    }
    outcomes
}

fn print(name: &str, outcomes: &mut Outcomes) {
    outcomes.half_widths.sort_unstable();
    let widths = &outcomes.half_widths;
    println!(
        "{name}: {} intervals hold, {} unknown, {} of them by drift; half width median {} ns, 95 % {} ns",
        outcomes.known,
        outcomes.unknown + outcomes.adrift,
        outcomes.adrift,
        widths.get(widths.len() / 2).unwrap_or(&0),
        widths.get(widths.len() * 95 / 100).unwrap_or(&0),
    );
}

fn any(crystal_ppb: i64) -> impl Fn(&mut Random) -> ([Habits; 2], [Path; 2]) {
    move |random| {
        let habits = [(); 2].map(|()| any_habits(random, crystal_ppb));
        (habits, any_paths(random))
    }
}

/// The first crystal is too fast by this, the second too slow, all the time.
fn apart(random: &mut Random, crystal_ppb: i64) -> [Habits; 2] {
    [crystal_ppb, -crystal_ppb].map(|crystal_ppb| Habits {
        is_steady: true,
        ..any_habits(random, crystal_ppb)
    })
}

#[test]
fn the_interval_holds_with_slews_steps_queues_and_asymmetry() {
    let count = env_number("HOSTINT_TEST_CASES", 2_000);
    let mut outcomes = worlds(count, any(50_000));
    print("crystals off by up to 50 ppm", &mut outcomes);
    assert!(outcomes.known > count * 8 / 10, "{outcomes:?}");
    assert_eq!(outcomes.adrift, 0, "none drifts more than is specified");
    let mut outcomes = worlds(count / 10, |random| {
        (apart(random, 50_000), any_paths(random))
    });
    print("one is 50 ppm too fast, the other too slow", &mut outcomes);
    assert_eq!(outcomes.adrift, 0, "none drifts more than is specified");
}

/// Beyond 50 ppm, rows are unknown where packets prove it, and hold where queues hide it: twice as much is allowed for.
#[test]
fn crystals_that_are_off_by_100_ppm_are_found_or_their_intervals_hold() {
    let count = env_number("HOSTINT_TEST_CASES", 5_000) / 10;
    let mut outcomes = worlds(count, any(100_000));
    print("crystals off by up to 100 ppm, any paths", &mut outcomes);
    let all = outcomes.known + outcomes.adrift;
    assert!(all > count * 8 / 10, "{outcomes:?}");

    let mut outcomes = worlds(count, |random| (apart(random, 100_000), any_paths(random)));
    print("100 ppm too fast and too slow, any paths", &mut outcomes);
    assert!(
        outcomes.adrift * 10 > count * 3,
        "{} of {count}",
        outcomes.adrift
    );

    let mut outcomes = worlds(count, |random| {
        let path = |random: &mut Random| Path {
            least: 5_000 + below(random, 30_000),
            empty: 0.3,
            mean_ns: 50_000.0,
        };
        (apart(random, 100_000), [(); 2].map(|()| path(random)))
    });
    print("100 ppm too fast and too slow, quick paths", &mut outcomes);
    assert!(
        outcomes.adrift * 100 >= count * 95,
        "{} of {count}",
        outcomes.adrift
    );
}
