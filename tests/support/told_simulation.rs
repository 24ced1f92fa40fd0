//! The datagrams with which hosts tell coverage and the packets that came by: made as daemons make them, and by the formulas
//! of hostint-sizing(7).

use hostint::model::coverage::{CoverageReport, MissedReason, PairEnd};
use hostint::model::crossing_tally::{BLOCKS, BLOCKS_TOLD, CrossingTally};
use hostint::model::crossings::{
    BLOCK_NS, CrossingCounts, CrossingFlow, CrossingPlace, CrossingReport,
};
use hostint::model::missed_tally::{ALL_TOLD_TURNS, MissedTally};
use hostint::model::{NodeId, Volume};
use hostint::wire::{report_coverage, report_crossings};

use crate::random::Random;

const IP_AND_UDP_BYTES: usize = 28;
const COVERAGE_PERIOD_S: u64 = 10;
const CROSSINGS_PERIOD_S: u64 = 2;
const BEGIN_NS: u64 = 1_700_000_000_000_000_000;

/// What a host sends in a second, as IP packets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Told {
    pub datagrams: f64,
    pub bytes: f64,
}

impl Told {
    pub fn mbits(&self) -> f64 {
        8.0 * self.bytes / 1e6
    }

    fn add(&mut self, datagram: &[u8]) {
        self.datagrams += 1.0;
        self.bytes += (datagram.len() + IP_AND_UDP_BYTES) as f64;
    }

    fn per(self, seconds: u64) -> Self {
        Self {
            datagrams: self.datagrams / seconds as f64,
            bytes: self.bytes / seconds as f64,
        }
    }
}

/// The pairs of a host with other nodes, by class.
#[derive(Clone, Copy, Debug)]
pub struct CoverageRules {
    pub name: &'static str,
    /// Pairs and classes that had packets in the last 30 s.
    pub active: u32,
    /// Those that had some before.
    pub silent: u32,
    /// The reasons that packets of each are counted by, "tagged" among them.
    pub reasons: u32,
    pub class: &'static str,
}

/// What a source, a sink or a router counts as it comes by.
#[derive(Clone, Copy, Debug)]
pub struct CrossingRules {
    pub name: &'static str,
    /// Sources times destinations that had packets in the last 140 s.
    pub flows: u32,
    /// The records of each.
    pub places: u32,
}

/// A host with ten peers, one with many of which most are silent, and one whose packets go untagged by several reasons.
pub const COVERED: [CoverageRules; 3] = [
    CoverageRules {
        name: "10 peers, 3 classes",
        active: 30,
        silent: 0,
        reasons: 2,
        class: "storage",
    },
    CoverageRules {
        name: "1,000 peers, 100 with packets",
        active: 100,
        silent: 900,
        reasons: 2,
        class: "",
    },
    CoverageRules {
        name: "300 peers, by 5 reasons",
        active: 300,
        silent: 0,
        reasons: 5,
        class: "database",
    },
];

/// A source or sink with ten peers, and routers with few and many pairs.
pub const CROSSED: [CrossingRules; 3] = [
    CrossingRules {
        name: "host with 10 peers",
        flows: 20,
        places: 1,
    },
    CrossingRules {
        name: "router, 100 pairs",
        flows: 100,
        places: 2,
    },
    CrossingRules {
        name: "router, 1,000 pairs, queues",
        flows: 1000,
        places: 3,
    },
];

impl CoverageRules {
    fn pair_bytes(&self) -> f64 {
        f64::from(8 + self.class.len() as u32 + 17 * self.reasons)
    }

    /// The formula of hostint-sizing(7).
    pub fn formula(&self) -> Told {
        let usual = f64::from(self.active);
        let all = f64::from(self.active + self.silent);
        let turns = ALL_TOLD_TURNS as f64;
        let mean = |of: &dyn Fn(f64) -> f64| ((turns - 1.0) * of(usual) + of(all)) / turns;
        let datagrams = mean(&|pairs| (pairs * self.pair_bytes() / 1185.0).ceil());
        let bytes = 60.0 * datagrams + mean(&|pairs| pairs * self.pair_bytes());
        Told { datagrams, bytes }.per(COVERAGE_PERIOD_S)
    }

    /// The datagrams of a host in each of the last turns.
    pub fn datagrams(&self, turns: u64, random: &mut Random) -> Vec<Vec<u8>> {
        let mut tally = MissedTally::<u32>::default();
        let further = u64::from(2 * self.reasons - 1);
        let known = self.active + self.silent;
        let reasons = Vec::from_iter((0..known).map(|_| 1 + random.below(further as usize) as u64));
        let none = vec![Volume::default(); 2 * self.reasons as usize];
        let mut counts = vec![none; known as usize];
        let mut sent = Vec::new();
        // All that was told thrice is told; whatever follows is as in any later minute.
        let first = 1 + ALL_TOLD_TURNS;
        for turn in 0..first + turns {
            for (pair, (counts, reasons)) in (0..).zip(counts.iter_mut().zip(&reasons)) {
                // Each third of the active pairs has packets in each third turn: all are told in each.
                let grows = match pair < self.active {
                    true => (turn + u64::from(pair)).is_multiple_of(3),
                    false => turn == 1,
                };
                if grows || turn == 1 {
                    let counts = counts.iter_mut().take(*reasons as usize);
                    counts.for_each(|count| {
                        let packets = 1 + random.below(1000) as u64;
                        count.add(Volume::of(packets, 1_000 * packets));
                    });
                }
                let class = (!self.class.is_empty()).then(|| self.class.to_owned());
                let subject = || (PairEnd::ToSink(Some(NodeId(pair))), class);
                tally.add(pair, counts, || 1, MissedReason::Source, subject);
            }
            let missed = tally.end_turn();
            if turn < first || missed.is_empty() {
                continue;
            }
            let report = CoverageReport {
                node: NodeId(9),
                period_s: COVERAGE_PERIOD_S as u16,
                epoch_ns: BEGIN_NS,
                missed,
            };
            for part in report_coverage::parts(&report) {
                let mut datagram = Vec::new();
                report_coverage::emit(&part, 1_700_000_000 + 10 * turn as u32, &mut datagram);
                sent.push(datagram);
            }
        }
        sent
    }

    pub fn simulate(&self, hosts: u64, seed: u64) -> Told {
        let mut random = Random::seeded(seed);
        let mut told = Told::default();
        let turns = 2 * ALL_TOLD_TURNS;
        for _ in 0..hosts {
            let sent = self.datagrams(turns, &mut random);
            sent.iter().for_each(|datagram| told.add(datagram));
        }
        told.per(hosts * turns * COVERAGE_PERIOD_S)
    }
}

impl CrossingRules {
    /// The formula of hostint-sizing(7).
    pub fn formula(&self) -> Told {
        let records = f64::from(self.flows * self.places);
        let places = f64::from(self.places);
        let fit = places * (25.0 / places).floor();
        let datagrams = (records / fit).ceil();
        let bytes = 84.0 * datagrams + 46.0 * records;
        Told { datagrams, bytes }.per(CROSSINGS_PERIOD_S)
    }

    /// The datagrams of a host in each of the last turns.
    pub fn datagrams(&self, turns: u64, random: &mut Random) -> Vec<Vec<u8>> {
        let mut tally = CrossingTally::<(u32, u32, u32)>::default();
        let mut records: Vec<_> = (0..self.flows)
            .flat_map(|flow| (0..self.places).map(move |place| (flow, 1 + place, place)))
            .map(|key| (key, [0_u64; BLOCKS as usize]))
            .collect();
        // Before that, not all blocks are known.
        let first = 2 * BLOCKS;
        let mut sent = Vec::new();
        for turn in 0..first + turns {
            let told_ns = BEGIN_NS + turn * CROSSINGS_PERIOD_S * 1_000_000_000;
            let block = told_ns / BLOCK_NS;
            for (_, counts) in &mut records {
                // Now and then is enough: a record is told for two minutes after its last packet.
                if turn == 1 || random.one_in(20) {
                    counts[(block % BLOCKS) as usize] += 1 + random.below(100_000) as u64;
                }
            }
            let news = tally.look(told_ns, &records, false, |_| Some(0));
            if turn < first || news.counts.is_empty() {
                continue;
            }
            let counts = news.counts.into_iter();
            let report = CrossingReport {
                node: NodeId(9),
                told_ns,
                first_block: news.first_block,
                blocks: BLOCKS_TOLD,
                counts: counts
                    .map(|((flow, place, port), packets)| CrossingCounts {
                        flow: CrossingFlow {
                            source: NodeId(1 + flow / 32),
                            dest: flow,
                        },
                        place: CrossingPlace::of_number(place as u8).unwrap(),
                        port: port as u16,
                        packets,
                        ttl: None,
                    })
                    .collect(),
                covered: None,
            };
            for part in report_crossings::parts(&report) {
                let mut datagram = Vec::new();
                report_crossings::emit(&part, &mut datagram);
                sent.push(datagram);
            }
        }
        sent
    }

    pub fn simulate(&self, hosts: u64, seed: u64) -> Told {
        let mut random = Random::seeded(seed);
        let mut told = Told::default();
        const TURNS: u64 = 20;
        for _ in 0..hosts {
            let sent = self.datagrams(TURNS, &mut random);
            sent.iter().for_each(|datagram| told.add(datagram));
        }
        told.per(hosts * TURNS * CROSSINGS_PERIOD_S)
    }
}
