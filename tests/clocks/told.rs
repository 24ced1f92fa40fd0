//! What hosts tell makes differences between their clocks: of any pair, at any time until they told, in a bound that
//! holds.

use hostint::clocks::{
    ClockDifference, ClockDifferences, ClockInterval, HostClocks, Reading, Stamp, StampedPacket,
    Statement,
};
use hostint_testing::random::{Random, env_number};

use super::world::{Habits, Host, MS, Minimum, Path, SECOND, WINDOW, any_paths, below, minima};

/// Hosts that tell each second what they know, and the time until which they told.
pub struct Told {
    pub hosts: Vec<Host>,
    readings: Vec<Vec<Reading>>,
    clocks: HostClocks,
    pub said: Vec<Statement>,
    /// Packets by the true time when they are told: sender, receiver, stamps.
    pub packets: Vec<(i128, u32, u32, StampedPacket)>,
    pub until: i128,
}

/// The collector's clock.
pub fn collected(t: i128) -> u64 {
    (t + 100 * SECOND) as u64
}

impl Told {
    pub fn new(random: &mut Random, habits: Habits, count: usize) -> Self {
        Self::of((0..count).map(|_| Host::new(random, habits)).collect())
    }

    pub fn of(hosts: Vec<Host>) -> Self {
        Self {
            readings: vec![Vec::new(); hosts.len()],
            said: vec![Statement::default(); hosts.len()],
            hosts,
            clocks: HostClocks::default(),
            packets: Vec::new(),
            until: -3 * SECOND,
        }
    }

    /// Packets both ways between two hosts, and answers to lease questions of the first.
    pub fn link(&mut self, random: &mut Random, from: usize, to: usize, paths: [Path; 2]) {
        for (sender, receiver, path) in [(from, to, paths[0]), (to, from, paths[1])] {
            let ends = (&self.hosts[sender], &self.hosts[receiver]);
            for (window, packet) in minima(random, ends, path, 10).into_iter().enumerate() {
                let Minimum {
                    sent_ns,
                    arrived_ns,
                } = packet;
                let latency_ns = (arrived_ns - sent_ns) as i32;
                let told = (window as i128 + 2) * 500 * MS + 100 * MS;
                let stamps = StampedPacket::Wrapped {
                    arrived_ns,
                    latency_ns,
                };
                self.packets
                    .push((told, sender as u32, receiver as u32, stamps));
            }
        }
        let mut at = below(random, SECOND);
        while at < WINDOW {
            let answered = at + paths[0].delay(random);
            let received = answered + paths[1].delay(random);
            let by = Stamp::Clock(self.hosts[to].clock(answered));
            let (asked, answered) = (
                Stamp::Raw(self.hosts[from].raw(at)),
                Stamp::Raw(self.hosts[from].raw(received)),
            );
            let (from, to) = (from as u32, to as u32);
            for (sender, receiver, sent, arrived) in
                [(from, to, asked, by), (to, from, by, answered)]
            {
                let stamps = StampedPacket::Whole { sent, arrived };
                self.packets.push((received, sender, receiver, stamps));
            }
            at += 700 * MS;
        }
    }

    /// Everything is told until then, second by second.
    pub fn tell(&mut self, random: &mut Random, until: i128) {
        while self.until < until {
            let from = self.until;
            self.until = (from + SECOND).min(until);
            let now = collected(self.until);
            for (host, readings) in self.readings.iter_mut().enumerate() {
                readings.push(self.hosts[host].reading_since(random, from, self.until));
                // The last ones are told again.
                let told = readings.iter().rev().take(4).rev().copied();
                let said = self.said[host];
                self.clocks.note_readings(host as u32, said, told, now);
            }
            for (at, sender, receiver, stamps) in &self.packets {
                if (from..self.until).contains(at) {
                    self.clocks.note_packet(*sender, *receiver, *stamps, now);
                }
            }
            self.clocks.settle(now);
        }
    }

    pub fn differences(&self) -> ClockDifferences {
        ClockDifferences::compute(&self.clocks, collected(self.until))
    }

    /// The difference at one moment.
    pub fn difference(&self, from: usize, to: usize, at: i128) -> Option<ClockDifference> {
        let time = ClockInterval::exactly(self.hosts.get(to)?.clock(at));
        let differences = self.differences();
        differences.during(&self.clocks, (from as u32, to as u32), to as u32, time)
    }

    pub fn ahead(&self, from: usize, to: usize, at: i128) -> i128 {
        self.hosts[to].clock(at) - self.hosts[from].clock(at)
    }
}

pub const QUIET: Habits = Habits {
    crystal_ppb: 50_000,
    is_steady: false,
    steered_ppb: 1_000,
    steps: 0.0,
};

#[test]
fn the_bound_holds_until_the_last_word() {
    let (mut random, seed) = Random::from_env();
    let rounds = env_number("HOSTINT_TEST_CASES", 2_000) / 20;
    let (mut known, mut all, mut widths) = (0, 0, Vec::new());
    for round in 0..rounds {
        let sentence = format!("HOSTINT_TEST_SEED={seed}, round {round}");
        let count = random.pick(&[2, 3, 5]);
        let mut told = Told::new(&mut random, QUIET, count);
        for host in 1..count {
            let paths = any_paths(&mut random);
            told.link(&mut random, host - 1, host, paths);
        }
        if count > 2 {
            let paths = any_paths(&mut random);
            told.link(&mut random, 0, count - 1, paths);
        }
        let until = 5 * SECOND + below(&mut random, 5 * SECOND);
        told.tell(&mut random, until);
        let differences = told.differences();
        assert!(differences.false_stamps.is_empty(), "{sentence}");
        for from in 0..count {
            for to in 0..count {
                let at = until - 6 * SECOND + below(&mut random, 6 * SECOND);
                all += 1;
                let Some(found) = told.difference(from, to, at) else {
                    continue;
                };
                known += 1;
                let ahead = told.ahead(from, to, at);
                assert!(
                    found.bound.contains(ahead),
                    "{sentence}: {ahead} in {found:?}"
                );
                assert!(found.bound.contains(found.estimate_ns), "{sentence}");
                widths.push(found.bound.width_ns() / 2);
            }
        }
    }
    widths.sort_unstable();
    println!(
        "{known} of {all} differences are known and hold; half width median {} ns, 95 % {} ns",
        widths[widths.len() / 2],
        widths[widths.len() * 95 / 100]
    );
    assert!(known * 10 > all * 9, "{known} of {all}");
}

#[test]
fn few_estimates_are_off_by_more_than_their_stated_error() {
    let (mut random, _) = Random::from_env();
    let (mut likely, mut all, mut errors, mut stated) = (0, 0, Vec::new(), Vec::new());
    for _ in 0..env_number("HOSTINT_TEST_CASES", 2_000) / 20 {
        let count = random.pick(&[2, 3, 5]);
        let mut told = Told::of((0..count).map(|_| Host::walking(&mut random)).collect());
        for from in 0..count {
            for to in 0..from {
                let least = 5_000 + below(&mut random, 25_000);
                let mut path = || Path {
                    least,
                    empty: random.pick(&[0.7, 0.3, 0.1]),
                    mean_ns: random.pick(&[20_000.0, 200_000.0]),
                };
                let paths = [path(), path()];
                told.link(&mut random, from, to, paths);
            }
        }
        let until = 8 * SECOND + below(&mut random, 2 * SECOND);
        told.tell(&mut random, until);
        for (from, to) in (0..count).flat_map(|from| (0..from).map(move |to| (from, to))) {
            let at = until - 3 * SECOND + below(&mut random, 3 * SECOND);
            if let Some(found) = told.difference(from, to, at) {
                let off = (found.estimate_ns - told.ahead(from, to, at)).abs();
                all += 1;
                likely += i32::from(off <= found.error_ns);
                errors.push(off);
                stated.push(found.error_ns);
            }
        }
    }
    errors.sort_unstable();
    stated.sort_unstable();
    let (middle, most) = (all as usize / 2, all as usize * 95 / 100);
    println!(
        "{likely} of {all} estimates are within the stated error; off by {} ns, 95 % {} ns, stated {} ns, 95 % {} ns",
        errors[middle], errors[most], stated[middle], stated[most]
    );
    assert!(likely * 100 >= all * 90, "{likely} of {all}");
}

#[test]
fn what_is_not_known_is_not_told() {
    let (mut random, _) = Random::from_env();
    let path = Path {
        least: 10_000,
        empty: 0.7,
        mean_ns: 20_000.0,
    };
    let known = |told: &Told, from: usize, to: usize| {
        told.difference(from, to, told.until - SECOND).is_some()
    };
    let mut told = Told::new(&mut random, QUIET, 3);
    told.link(&mut random, 0, 1, [path; 2]);
    told.tell(&mut random, 8 * SECOND);
    assert!(known(&told, 0, 1) && known(&told, 1, 0));
    assert!(!known(&told, 0, 2), "no packet goes there");
    assert!(!known(&told, 0, 9), "nobody has this number");
    let now = collected(told.until);
    let again = Statement {
        instance: 2,
        ..Statement::default()
    };
    told.clocks.note_readings(0, again, [], now);
    assert!(!known(&told, 0, 1), "the host started again");

    let mut told = Told::new(&mut random, QUIET, 2);
    told.link(&mut random, 0, 1, [path; 2]);
    told.tell(&mut random, 8 * SECOND);
    told.clocks.settle(collected(told.until) + 6_000_000_000);
    assert!(!known(&told, 0, 1), "they are silent");

    let mut told = Told::new(&mut random, QUIET, 2);
    told.link(&mut random, 0, 1, [path; 2]);
    told.packets
        .retain(|(_, _, _, stamps)| matches!(stamps, StampedPacket::Wrapped { .. }));
    told.tell(&mut random, 8 * SECOND);
    assert!(
        !known(&told, 0, 1),
        "nothing tells which multiple of 2^32 ns is lacking"
    );
}

#[test]
fn a_false_stamp_is_named() {
    let (mut random, _) = Random::from_env();
    let path = Path {
        least: 10_000,
        empty: 0.7,
        mean_ns: 20_000.0,
    };
    let mut told = Told::new(&mut random, QUIET, 3);
    for host in 1..3 {
        told.link(&mut random, host - 1, host, [path; 2]);
    }
    // Host 2 stamps a packet of host 1 before it was sent.
    let sent = Stamp::Raw(told.hosts[1].raw(7 * SECOND));
    let arrived = Stamp::Raw(told.hosts[2].raw(6 * SECOND));
    let stamps = StampedPacket::Whole { sent, arrived };
    told.packets.push((6 * SECOND, 1, 2, stamps));
    told.tell(&mut random, 8 * SECOND);
    let differences = told.differences();
    let mut named: Vec<u32> = differences.false_stamps.concat();
    named.sort_unstable();
    named.dedup();
    assert_eq!(named, [1, 2]);
    assert!(told.difference(0, 1, 7 * SECOND).is_some());
    assert_eq!(told.difference(1, 2, 7 * SECOND), None);
}

#[test]
fn hosts_whose_crystals_are_proved_to_be_worse_than_specified_are_unknown() {
    let path = Path {
        least: 10_000,
        empty: 0.7,
        mean_ns: 20_000.0,
    };
    for seed in 1..20 {
        for (ppb, expected) in [([50_000, -50_000], true), ([100_000, -100_000], false)] {
            let mut random = Random::seeded(seed);
            let hosts = ppb.map(|crystal_ppb| {
                let habits = Habits {
                    crystal_ppb,
                    is_steady: true,
                    ..QUIET
                };
                Host::new(&mut random, habits)
            });
            let mut told = Told::of(hosts.to_vec());
            told.link(&mut random, 0, 1, [path; 2]);
            told.tell(&mut random, 9 * SECOND);
            let differences = told.differences();
            let found = told.difference(0, 1, 8 * SECOND);
            let sentence = format!("seed {seed}, {ppb:?}");
            assert_eq!(found.is_some(), expected, "{sentence}");
            assert_eq!(differences.false_stamps.is_empty(), expected, "{sentence}");
        }
    }
}
