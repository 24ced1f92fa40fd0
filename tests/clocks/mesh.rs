//! Bounds along links: they hold in meshes, widen none, and name the hosts of a false stamp.

use hostint::clocks::{ClockInterval, ClockLink, Drift, FalseStamps, Mesh, OwnClock, RawMinimum};
use hostint_testing::random::{Random, env_number};

use super::world::{Host, WINDOW, any_habits, any_paths, clock_ahead, minima, raw_minima};

/// Packets of both directions at the raw times 0, by clocks of which `to` is ahead by this.
fn link(from: usize, to: usize, ahead: i128, delays: (i128, i128)) -> ClockLink {
    let one = |sent: i128, arrived: i128| RawMinimum {
        sent: ClockInterval::exactly(sent),
        arrived: ClockInterval::exactly(arrived),
    };
    ClockLink {
        from,
        to,
        forward: vec![one(0, ahead + delays.0)],
        reverse: vec![one(ahead, delays.1)],
        same_clock: false,
    }
}

fn mesh(hosts: usize, links: &[ClockLink]) -> Mesh<'_> {
    Mesh {
        hosts,
        links,
        drift: Drift::of_ppb(0),
    }
}

#[test]
fn a_bound_is_the_shortest_path() {
    let slow = link(0, 2, 700, (900, 900));
    let quick = [link(0, 1, 500, (10, 20)), link(2, 1, -200, (30, 40))];
    let cases: [(&str, Vec<ClockLink>, Option<ClockInterval>); 5] = [
        ("no link", vec![], None),
        (
            "a direct link",
            vec![slow.clone()],
            Some(ClockInterval::new(-200, 1_600)),
        ),
        (
            "a detour",
            quick.to_vec(),
            Some(ClockInterval::new(700 - 20 - 30, 700 + 10 + 40)),
        ),
        (
            "both",
            [quick.to_vec(), vec![slow.clone()]].concat(),
            Some(ClockInterval::new(650, 750)),
        ),
        (
            "one direction only",
            vec![ClockLink {
                reverse: Vec::new(),
                ..slow
            }],
            None,
        ),
    ];
    for (name, links, expected) in cases {
        let bounds = mesh(3, &links).bounds(0, 0).unwrap();
        assert_eq!(bounds.ahead(0, 2), expected, "{name}");
        let turned = expected.map(|known| ClockInterval::new(-known.high_ns, -known.low_ns));
        assert_eq!(bounds.ahead(2, 0), turned, "{name}, turned");
    }
}

#[test]
fn a_bound_ages_by_the_drift() {
    let links = [link(0, 1, 500, (10, 20))];
    let aged = Mesh {
        drift: Drift::of_ppb(100_000),
        ..mesh(2, &links)
    };
    let cases = [
        ("at once", 0, (478, 510)),
        ("a second later", 1_000_000_000, (480 - 100_000, 100_510)),
        ("a second before", -1_000_000_000, (479 - 100_000, 100_510)),
    ];
    for (name, at, (low, high)) in cases {
        let ahead = aged.bounds(0, at).unwrap().ahead(0, 1).unwrap();
        // Less than a nanosecond of drift counts as one, and the reverse packet came 20 ns later.
        let near = |one: i128, other: i128| (one - other).abs() <= 2;
        assert!(
            near(ahead.low_ns, low) && near(ahead.high_ns, high),
            "{name}: {ahead:?}"
        );
    }
}

#[test]
fn a_false_stamp_is_proved_by_a_cycle_and_named() {
    let true_links = [
        link(0, 1, 0, (10, 10)),
        link(1, 2, 0, (10, 10)),
        link(2, 3, 0, (10, 10)),
    ];
    let cases = [
        (
            "a packet before its time",
            link(3, 4, 0, (-50, 10)),
            vec![3, 4],
        ),
        (
            "a stamp that only others deny",
            link(0, 2, 100, (10, 10)),
            vec![0, 1, 2],
        ),
    ];
    for (name, false_link, expected) in cases {
        let links = [true_links.as_slice(), &[false_link]].concat();
        let FalseStamps { mut hosts } = mesh(5, &links).bounds(0, 0).unwrap_err();
        hosts.sort_unstable();
        assert_eq!(hosts, expected, "{name}");
    }
    assert!(mesh(5, &true_links).bounds(0, 0).is_ok());
}

/// Links of a chain and of chance.
fn any_links(random: &mut Random, hosts: usize) -> Vec<(usize, usize)> {
    let mut links: Vec<(usize, usize)> = (1..hosts).map(|host| (host - 1, host)).collect();
    for _ in 0..2 * hosts {
        let (one, other) = (random.below(hosts), random.below(hosts));
        if one != other && !links.contains(&(one, other)) && !links.contains(&(other, one)) {
            links.push((one, other));
        }
    }
    links
}

#[test]
fn intervals_hold_between_all_hosts_of_a_mesh() {
    let (mut random, seed) = Random::from_env();
    let mut held = 0;
    for case in 0..env_number("HOSTINT_TEST_CASES", 3_000) / 100 {
        let count = 3 + random.below(6);
        let habits = (0..count).map(|_| any_habits(&mut random, 50_000));
        let habits: Vec<_> = habits.collect();
        let hosts = habits.into_iter().map(|one| Host::new(&mut random, one));
        let hosts: Vec<Host> = hosts.collect();
        let clocks = hosts.iter().map(|host| host.own_clock(&mut random));
        let clocks: Vec<OwnClock> = clocks.collect();
        let links = any_links(&mut random, count).into_iter().map(|(from, to)| {
            let paths = any_paths(&mut random);
            let mut direction = |from: usize, to: usize, path| {
                let found = minima(&mut random, (&hosts[from], &hosts[to]), path, 4);
                raw_minima(&clocks[from], &clocks[to], &found)
            };
            ClockLink {
                from,
                to,
                forward: direction(from, to, paths[0]),
                reverse: direction(to, from, paths[1]),
                same_clock: false,
            }
        });
        let links: Vec<ClockLink> = links.collect();
        let bounds = Mesh {
            hosts: count,
            links: &links,
            drift: Drift::CRYSTALS,
        };
        let bounds = bounds.bounds(0, hosts[0].raw(WINDOW)).unwrap();
        for (from, to) in (0..count).flat_map(|from| (0..count).map(move |to| (from, to))) {
            let Some(interval) = clock_ahead(&bounds, &clocks, from, to) else {
                continue;
            };
            let ahead = hosts[to].clock(WINDOW) - hosts[from].clock(WINDOW);
            assert!(
                interval.contains(ahead),
                "HOSTINT_TEST_SEED={seed}, case {case}: {ahead} in {interval:?}"
            );
            held += 1;
        }
    }
    println!("{held} intervals between hosts of meshes hold");
    assert!(held > 0);
}
