//! A simulated network of many hosts, packet by packet, and the number of reports that hostint-sizing(7) expects of it.
//!
//! Needs random and report_rules beside it.

use crate::random::Random;
use crate::report_rules::{Flow, Rules, Told};

const SECOND: f64 = 1e9;

/// Latencies in the middle of buckets, in ns: a flow's latency moves from one to a neighbour.
const LEVELS: [i64; 5] = [7_000, 14_000, 28_000, 49_000, 85_000];

/// What comes in at each host.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    pub name: &'static str,
    /// Flows that begin in a second.
    pub new_flows: f64,
    /// How long one lasts, in seconds: the mean of an exponential distribution.
    pub duration: f64,
    /// Packets that each flow sends in a second.
    pub packets: f64,
    /// Bytes of each of them.
    pub bytes: u64,
    /// How often in a second the latency of a flow moves to another bucket.
    pub moves: f64,
    /// The share of packets that is lost, one by one.
    pub loss: f64,
}

/// Three networks, in the order of the manual's table.
pub const PROFILES: [Profile; 3] = [
    Profile {
        name: "few long flows",
        new_flows: 20.0 / 3600.0,
        duration: 3600.0,
        packets: 100.0,
        bytes: 900,
        moves: 0.02,
        loss: 1e-4,
    },
    Profile {
        name: "many short RPC flows",
        new_flows: 100.0,
        duration: 0.05,
        packets: 200.0,
        bytes: 400,
        moves: 0.02,
        loss: 1e-4,
    },
    Profile {
        name: "storage",
        new_flows: 10.0 / 600.0,
        duration: 600.0,
        packets: 400.0,
        bytes: 4000,
        moves: 0.5,
        loss: 1e-3,
    },
];

/// Reports of one host in a second.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reports {
    pub latency: f64,
    pub losses: f64,
}

impl Reports {
    pub fn all(&self) -> f64 {
        self.latency + self.losses
    }
}

impl Profile {
    /// The formulas of hostint-sizing(7).
    pub fn formula(&self, rules: &Rules) -> Reports {
        let period = rules.report_period_ns as f64 / SECOND + 0.5 / self.packets;
        let timeout = rules.loss_timeout_ns as f64 / SECOND;
        let (moves, duration) = (self.moves, self.duration);
        let of_a_flow =
            (1.0 + moves * duration) / (1.0 - (-(moves + 1.0 / duration) * period).exp());
        // A flow that brings too few bytes is not told: so many packets more than the first does it take.
        let more = rules.report_bytes.div_ceil(self.bytes) - 1;
        let paying = (-(more as f64) / (self.packets * duration)).exp();
        let gaps = self.packets * self.loss;
        Reports {
            latency: self.new_flows * paying * of_a_flow,
            losses: self.new_flows * duration * gaps / (1.0 + gaps * timeout),
        }
    }
}

/// What a simulation counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counted {
    pub hosts: u64,
    pub seconds: u64,
    pub packets: u64,
    pub lost: u64,
    pub latency_reports: u64,
    pub loss_reports: u64,
    /// Numbers that reports of losses told.
    pub lost_reported: u64,
}

impl Counted {
    /// Of one host in a second.
    pub fn reports(&self) -> Reports {
        let host_seconds = (self.hosts * self.seconds) as f64;
        Reports {
            latency: self.latency_reports as f64 / host_seconds,
            losses: self.loss_reports as f64 / host_seconds,
        }
    }

    fn add(&mut self, told: Told) {
        self.latency_reports += told.latency;
        self.loss_reports += told.losses;
        self.lost_reported += told.lost;
    }
}

fn exponential(random: &mut Random, mean: f64) -> f64 {
    let uniform = (random.next() >> 11) as f64 / (1_u64 << 53) as f64;
    -mean * (1.0 - uniform).ln()
}

/// Packet by packet, host by host. It begins in the middle: as many flows as there are on average are there already.
pub fn simulate(profile: &Profile, rules: &Rules, hosts: u64, seconds: u64, seed: u64) -> Counted {
    let mut random = Random::seeded(seed);
    let end = seconds as f64 * SECOND;
    let mut counted = Counted {
        hosts,
        seconds,
        ..Counted::default()
    };
    for _ in 0..hosts {
        // How long a flow lasts does not depend on how old it is.
        for _ in 0..(profile.new_flows * profile.duration).round() as u64 {
            let over = exponential(&mut random, profile.duration * SECOND);
            let over = over.min(end);
            follow(profile, rules, true, 0.0, over, &mut random, &mut counted);
        }
        let mut begins = exponential(&mut random, SECOND / profile.new_flows);
        while begins < end {
            let over = begins + exponential(&mut random, profile.duration * SECOND);
            follow(
                profile,
                rules,
                false,
                begins,
                over.min(end),
                &mut random,
                &mut counted,
            );
            begins += exponential(&mut random, SECOND / profile.new_flows);
        }
    }
    counted
}

/// One flow, from its beginning or from the simulation's to its end or the simulation's.
fn follow(
    profile: &Profile,
    rules: &Rules,
    was_there: bool,
    from: f64,
    to: f64,
    random: &mut Random,
    counted: &mut Counted,
) {
    // Times begin at an hour, so that what was before has room.
    let clock = |ns: f64| ns as u64 + 3_600_000_000_000;
    let mut level = random.below(LEVELS.len());
    let mut now = from;
    let mut flow = Flow::default();
    let interval = SECOND / profile.packets;
    if was_there {
        let age = random.below(rules.report_period_ns as usize) as u64;
        flow = Flow::announced(LEVELS[level], clock(now) - age, rules);
        now += interval * random.below(1000) as f64 / 1000.0;
    }
    let mut moves = now + exponential(random, SECOND / profile.moves);
    let mut missing = 0;
    while now < to {
        while moves < now {
            level = match level {
                0 => 1,
                last if last + 1 == LEVELS.len() => last - 1,
                inner if random.one_in(2) => inner + 1,
                inner => inner - 1,
            };
            moves += exponential(random, SECOND / profile.moves);
        }
        counted.packets += 1;
        if random.chance(profile.loss) {
            counted.lost += 1;
            missing += 1;
        } else {
            // A tenth to either side.
            let jitter = 900 + (random.u32() % 201) as i64;
            let latency = LEVELS[level] * jitter / 1000;
            counted.add(flow.packet(rules, clock(now), latency, profile.bytes, missing));
            missing = 0;
        }
        now += interval * (500 + random.u32() % 1001) as f64 / 1000.0;
    }
    for periods in 1..=2 {
        let later = clock(now) + periods * rules.loss_timeout_ns;
        counted.add(flow.sweep(rules, later));
    }
}
