//! Counts of flows that come in bursts and pause, told as the programs of source and sink tell them: some packets of a flow
//! are told only with its next one, and not by both ends at the same time.

use hostint::model::{AddressPair, Encapsulation, LeaseCounts, PathProof};
use hostint_testing::random::{Random, env_number};

use crate::network::{MS, Network, PAIR, Path, Sink};
use crate::proof::configured;

/// The index of vxlan-gpe in counts by encapsulation.
const FORM: usize = 2;
/// A flow's packets are told at the source if the last time is this long ago (LOOK_AGAIN_NS), and at the sink (ALLOWED_NS).
const SOURCE_TELLS_MS: u64 = 250;
const SINK_TELLS_MS: u64 = 250;
/// After an answer that counted new packets, each packet that arrives is counted at once from this time on (LEASE_TOLD_NS).
const COUNTED_MS: u64 = 250;
/// An answer that counted new packets vouches for the lease for this time.
const VOUCH_MS: u64 = 1_000;
/// Turns are of 2^25 ns.
const TURN_SHIFT: u64 = 25;
/// A missing packet is declared lost by the first packet of its flow after this time.
const DECLARED_MS: u64 = 200;
/// The daemon reads the kernel's counts this often.
const SCAN_MS: u64 = 100;
const FLOWS: usize = 16;

#[derive(Default)]
struct Told {
    packets: u32,
    told: u32,
    until_ms: u64,
}

impl Told {
    /// Returns the packets to be told now, if it is time to tell them.
    fn take(&mut self, now_ms: u64, term_ms: u64) -> Option<u32> {
        let untold = self.packets - self.told;
        if now_ms < self.until_ms && untold <= self.told >> 5 {
            return None;
        }
        self.until_ms = now_ms + term_ms;
        self.told = self.packets;
        Some(untold)
    }
}

#[derive(Default)]
struct Flow {
    source: Told,
    sink: Told,
    /// The times of missing packets.
    missing: Vec<u64>,
    /// Packets that are still to be sent in this exchange, and the time of the next one.
    left: u32,
    next_ms: u64,
}

/// Flows of a pair, some of whose packets are lost, and none eaten.
struct Traffic {
    flows: Vec<Flow>,
    tagged: u64,
    /// The turns in which packets were tagged that the sink would have counted at once, since this vouch.
    turns: u32,
    vouched_ns: u64,
    loss: f64,
    random: Random,
}

impl Traffic {
    fn new(loss: f64, seed: u64) -> Self {
        Self {
            flows: (0..=FLOWS).map(|_| Flow::default()).collect(),
            tagged: 0,
            turns: 0,
            vouched_ns: 0,
            loss,
            random: Random::seeded(seed),
        }
    }

    fn send(&mut self, at: usize, now_ms: u64, network: &mut Network) {
        self.look(at, now_ms, network);
        let flow = &mut self.flows[at];
        flow.source.packets += 1;
        if flow.source.packets == 1 {
            self.tagged += 1;
            flow.source.told = 1;
        }
        if self.random.chance(self.loss) {
            flow.missing.push(now_ms);
            return;
        }
        flow.sink.packets += 1;
        network.sink.stripped[FORM] += flow.sink.take(now_ms, SINK_TELLS_MS).unwrap_or(0);
        let awaited = flow.missing.len();
        flow.missing.retain(|sent| now_ms < sent + DECLARED_MS);
        network.sink.lost += u32::try_from(awaited - flow.missing.len()).unwrap();
    }

    /// The flow looks at its lease, if it is time (note_look).
    fn look(&mut self, at: usize, now_ms: u64, network: &Network) {
        let Some(untold) = self.flows[at].source.take(now_ms, SOURCE_TELLS_MS) else {
            return;
        };
        self.tagged += u64::from(untold);
        self.renew(network);
        let vouched_ns = self.vouched_ns;
        let now_ns = network.now;
        let unseen_ns = vouched_ns.saturating_sub((VOUCH_MS - COUNTED_MS) * MS);
        let most_ms = if now_ns < unseen_ns {
            (unseen_ns - now_ns) / MS
        } else {
            self.turns |= 1 << (now_ns >> TURN_SHIFT & 15);
            (1 << TURN_SHIFT) / MS
        };
        let flow = &mut self.flows[at].source;
        flow.until_ms = flow.until_ms.min(now_ms + most_ms);
    }

    /// Answers that counted new packets begin the turns anew.
    fn renew(&mut self, network: &Network) {
        let vouched_ns = proof_of(network).vouched_ns;
        if vouched_ns != self.vouched_ns {
            self.vouched_ns = vouched_ns;
            self.turns = 0;
        }
    }

    fn counts(&mut self, network: &Network) -> LeaseCounts {
        self.renew(network);
        LeaseCounts {
            tagged: [0, 0, self.tagged],
            fallen: 0,
            unseen_turns: self.turns,
        }
    }

    /// A flow is a trickle; all others have exchanges, whose next one begins when the last one of them is at its end. A flow
    /// whose packet is lost may wait for its timeout.
    fn tick(&mut self, now_ms: u64, network: &mut Network) {
        if now_ms.is_multiple_of(20) {
            self.send(FLOWS, now_ms, network);
        }
        if self.flows.iter().all(|flow| flow.left == 0) {
            for flow in &mut self.flows[..FLOWS] {
                flow.left = 15 + self.random.u32() % 15;
                flow.next_ms = now_ms + 10;
            }
        }
        for at in 0..FLOWS {
            let flow = &self.flows[at];
            if flow.left == 0 || now_ms < flow.next_ms {
                continue;
            }
            for _ in 0..flow.left.min(5) {
                self.flows[at].left -= 1;
                self.send(at, now_ms, network);
            }
            if self.random.chance(self.loss) {
                let timeout_ms = 200 << (self.random.u32() % 4);
                self.flows[at].next_ms = now_ms + timeout_ms;
            }
        }
    }
}

fn proof_of(network: &Network) -> PathProof {
    network.keeper.lease(&PAIR).expect("it is kept").proof
}

fn is_open(network: &Network) -> bool {
    proof_of(network).ways.has(Encapsulation::VxlanGpe)
}

/// The daemon reads the kernel's counts of a pair whose sink counted none of many packets.
fn look_at_silent(network: &mut Network, traffic: &mut Traffic) {
    let updates = std::mem::take(&mut network.updates);
    if updates.iter().any(|one| one.silent && one.pair == PAIR) {
        let counts = traffic.counts(network);
        network.note_counts(counts);
    }
}

#[test]
fn flows_that_pause_close_no_form() {
    for (name, loss) in [("no loss", 0.0), ("5 % loss", 0.05), ("20 % loss", 0.2)] {
        for seed in 0..env_number("HOSTINT_TEST_CASES", 20) {
            let mut network =
                Network::new(configured(None), Path::default(), Sink::default(), seed);
            network.prove(5000).expect("it is proved");
            let mut traffic = Traffic::new(loss, seed);
            let begun = network.now;
            // The counts begin anew in the midst of traffic when the path was proved again.
            network.keeper.doubt_paths(|_| true, begun);
            let mut standing_still = 0;
            for now_ms in (0..120_000).step_by(10) {
                // Sometimes the whole machine stands still.
                if traffic.random.chance(0.002) {
                    standing_still = traffic.random.u32() % 30;
                }
                if standing_still > 0 {
                    standing_still -= 1;
                } else {
                    traffic.tick(now_ms, &mut network);
                }
                if now_ms % SCAN_MS == 0 {
                    let counts = traffic.counts(&network);
                    network.note_counts(counts);
                }
                network.pass(10);
                look_at_silent(&mut network, &mut traffic);
                assert!(
                    is_open(&network),
                    "{name}, seed {seed}: closed after {now_ms} ms"
                );
            }
        }
    }
}

/// Other pairs, which have a packet a second each.
fn others(count: u16) -> Vec<AddressPair> {
    let pair = |n: u16| {
        let [high, low] = n.to_be_bytes();
        AddressPair {
            dest: [203, 0, 113 + high, low].into(),
            ..PAIR
        }
    };
    (0..count).map(pair).collect()
}

#[test]
fn a_tunnel_that_a_path_begins_to_eat_is_left_within_a_second() {
    struct Case {
        name: &'static str,
        other_pairs: u16,
        /// Time between two packets of the flow.
        every_ms: u64,
        loss: f64,
        /// The flow pauses for this time when the path begins to eat.
        pause_ms: u64,
    }
    let case = |name, other_pairs, every_ms, loss, pause_ms| Case {
        name,
        other_pairs,
        every_ms,
        loss,
        pause_ms,
    };
    let cases = [
        case("1,000 packets a second", 0, 1, 0.0, 0),
        case("100 packets a second", 0, 10, 0.0, 0),
        case("40 packets a second", 0, 25, 0.0, 0),
        case("5 % are lost", 0, 1, 0.05, 0),
        case("20 % are lost", 0, 5, 0.2, 0),
        case("a pause of 3 s", 0, 1, 0.0, 3_000),
        case("256 other pairs", 256, 1, 0.0, 0),
        case("1,000 other pairs", 999, 1, 0.0, 0),
        case("1,000 other pairs, 100 packets a second", 999, 10, 0.0, 0),
    ];
    for case in cases {
        let name = case.name;
        let pairs = others(case.other_pairs);
        let scan_ms = if pairs.len() > 256 { 1_000 } else { SCAN_MS };
        let mut latest_ms = 0;
        // A thousand pairs take their time.
        let cases = env_number("HOSTINT_TEST_CASES", 6);
        for seed in 0..cases.div_ceil(1 + u64::from(case.other_pairs) / 100) {
            let mut network =
                Network::new(configured(None), Path::default(), Sink::default(), seed);
            network.prove(5000).expect("it is proved");
            let known = proof_of(&network);
            let begun = network.now;
            for pair in &pairs {
                network.keeper.want(*pair, true, network.now);
                network.keeper.adopt(pair, &known);
            }
            let mut traffic = Traffic::new(case.loss, seed);
            let eaten_ms = 20_000 + u64::from(traffic.random.u32() % 1_000);
            let sends_again_ms = eaten_ms + case.pause_ms;
            let mut last_ms = 0;
            for now_ms in 0..sends_again_ms + 3_000 {
                if now_ms == eaten_ms {
                    traffic.loss = 1.0;
                }
                let sends = !(eaten_ms..sends_again_ms).contains(&now_ms);
                let looks = now_ms >= traffic.flows[0].source.until_ms;
                // A flow sees that its form was given up when it looks at its lease.
                if sends && now_ms % case.every_ms == 0 && (is_open(&network) || !looks) {
                    traffic.send(0, now_ms, &mut network);
                    last_ms = now_ms;
                }
                if now_ms % scan_ms == 0 {
                    let counts = traffic.counts(&network);
                    network.note_counts(counts);
                    for pair in &pairs {
                        network.keeper.want(*pair, true, network.now);
                    }
                    assert_eq!(network.keeper.forget_unwanted(network.now), []);
                }
                if now_ms % 5 == 0 {
                    network.pass(5);
                    look_at_silent(&mut network, &mut traffic);
                }
                assert!(
                    is_open(&network) || now_ms >= eaten_ms,
                    "{name}, seed {seed}: closed after {now_ms} ms"
                );
            }
            latest_ms = latest_ms.max(last_ms - sends_again_ms);
            // In the first seconds all pairs are asked at once.
            let since = begun + 5_000 * MS;
            let asked = network.asked.iter().filter(|(at, _)| *at >= since);
            let a_second = asked.count() as u64 * 1_000 * MS / (network.now - since);
            assert!(a_second <= 1_310, "{name}: {a_second} questions a second");
        }
        println!("{name}: the last packet leaves after {latest_ms} ms");
        assert!(latest_ms <= 1_000, "{name}: {latest_ms} ms");
    }
}
