//! Estimates: how far they are off, and that they lie in the interval. `HOSTINT_TEST_CASES` makes the figures smooth.

use hostint::clocks::{ClockLink, Drift, Mesh, OwnClock, estimates};
use hostint_testing::random::{Random, env_number};

use super::world::{Host, Path, WINDOW, below, minima, raw_minima};

/// Empty and mean of both directions, and a queue that never empties in the first.
type Load = ([(f64, f64); 2], i128);
const IDLE: Load = ([(0.7, 20_000.0), (0.7, 20_000.0)], 0);
const ONE: Load = ([(0.1, 200_000.0), (0.6, 50_000.0)], 0);
const BOTH: Load = ([(0.05, 300_000.0), (0.05, 300_000.0)], 0);
const STANDING: Load = ([(0.02, 200_000.0), (0.7, 20_000.0)], 40_000);

fn paths(random: &mut Random, (queues, standing): Load) -> [Path; 2] {
    let least = 5_000 + below(random, 25_000);
    let path = |(empty, mean_ns), standing| Path {
        least: least + standing,
        empty,
        mean_ns,
    };
    [path(queues[0], standing), path(queues[1], 0)]
}

/// The errors of the estimates over all links of a mesh.
fn errors(random: &mut Random, count: usize, packets: usize, loads: &[Load]) -> Vec<f64> {
    let hosts: Vec<Host> = (0..count).map(|_| Host::walking(random)).collect();
    let clocks: Vec<OwnClock> = hosts.iter().map(|host| host.own_clock(random)).collect();
    let mut ends: Vec<(usize, usize)> = (1..count).map(|host| (host - 1, host)).collect();
    for from in 0..count {
        for _ in 0..(count - 1).min(6) {
            let to = random.below(count);
            let known = ends.contains(&(from, to)) || ends.contains(&(to, from));
            if from != to && !known {
                ends.push((from, to));
            }
        }
    }
    let links = ends.iter().map(|&(from, to)| {
        let load = random.pick(loads);
        let paths = paths(random, load);
        let mut direction = |from: usize, to: usize, path| {
            let found = minima(random, (&hosts[from], &hosts[to]), path, packets);
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
    let mesh = Mesh {
        hosts: count,
        links: &links,
        drift: Drift::CRYSTALS,
    };
    let bounds = mesh.bounds(0, hosts[0].raw(WINDOW)).unwrap();
    let found = estimates(&links, &bounds, 0, count, Drift::CRYSTALS);
    let at = |host: usize| found.ahead_ns[host].unwrap();
    for host in 0..count {
        assert!(bounds.ahead(0, host).unwrap().contains(at(host)));
    }
    let error = |&(from, to): &(usize, usize)| {
        let ahead = hosts[to].raw(WINDOW) - hosts[from].raw(WINDOW);
        (at(to) - at(from) - ahead).abs() as f64
    };
    ends.iter().map(error).collect()
}

/// Median and 95th percentile of the errors, in ns.
fn spread(count: usize, packets: usize, loads: &[Load], rounds: u64) -> (f64, f64) {
    let (mut random, _) = Random::from_env();
    let mut all: Vec<f64> = (0..rounds)
        .flat_map(|_| errors(&mut random, count, packets, loads))
        .collect();
    all.sort_by(f64::total_cmp);
    (all[all.len() / 2], all[all.len() * 95 / 100])
}

#[test]
fn estimates_are_off_by_a_microsecond() {
    let mix = [IDLE, IDLE, ONE, ONE, BOTH, STANDING];
    let quiet = [IDLE, ONE, BOTH];
    type Case<'a> = (&'a str, usize, usize, &'a [Load], u64, (f64, f64));
    let cases: [Case<'_>; 3] = [
        (
            "10 hosts, 20 packets/s each way",
            10,
            10,
            &mix,
            1,
            (1_000.0, 2_000.0),
        ),
        (
            "2 hosts, 20 packets/s each way",
            2,
            10,
            &[IDLE],
            20,
            (1_000.0, 1_000.0),
        ),
        (
            "2 hosts, 1000 packets/s each way",
            2,
            500,
            &quiet,
            20,
            (1_000.0, 1_000.0),
        ),
    ];
    for (name, hosts, packets, loads, weight, (median, most)) in cases {
        let rounds = weight * env_number("HOSTINT_TEST_CASES", 5_000) / 1_000;
        let (found_median, found_most) = spread(hosts, packets, loads, rounds);
        println!("{name}: median {found_median:.0} ns, 95 % {found_most:.0} ns");
        assert!(
            found_median <= median && found_most <= most,
            "{name}: median {found_median} ns, 95 % {found_most} ns"
        );
    }
}
