//! Counts of flows that come in bursts and pause, told as the programs of source and sink tell them: some packets of a flow
//! are told only with its next one, and not by both ends at the same time.

use hostint::model::Encapsulation;
use hostint_testing::random::{Random, env_number};

use crate::network::{Network, PAIR, Path, Sink};
use crate::proof::configured;

/// The index of vxlan-gpe in counts by encapsulation.
const FORM: usize = 2;
/// A flow's packets are told at the source if the last time is this long ago (LOOK_AGAIN_NS), and at the sink.
const SOURCE_TELLS_MS: u64 = 250;
const SINK_TELLS_MS: u64 = 500;
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
    /// Returns the packets to be told now.
    fn take(&mut self, now_ms: u64, term_ms: u64) -> u32 {
        let untold = self.packets - self.told;
        if now_ms < self.until_ms && untold <= self.told >> 5 {
            return 0;
        }
        self.until_ms = now_ms + term_ms;
        self.told = self.packets;
        untold
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
    loss: f64,
    random: Random,
}

impl Traffic {
    fn new(loss: f64, seed: u64) -> Self {
        Self {
            flows: (0..=FLOWS).map(|_| Flow::default()).collect(),
            tagged: 0,
            loss,
            random: Random::seeded(seed),
        }
    }

    fn send(&mut self, at: usize, now_ms: u64, network: &mut Network) {
        let flow = &mut self.flows[at];
        self.tagged += u64::from(flow.source.take(now_ms, SOURCE_TELLS_MS));
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
        network.sink.stripped[FORM] += flow.sink.take(now_ms, SINK_TELLS_MS);
        let awaited = flow.missing.len();
        flow.missing.retain(|sent| now_ms < sent + DECLARED_MS);
        network.sink.lost += u32::try_from(awaited - flow.missing.len()).unwrap();
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

fn is_open(network: &Network) -> bool {
    let lease = network.keeper.lease(&PAIR).expect("it is kept");
    lease.proof.ways.has(Encapsulation::VxlanGpe)
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
                    network.note_counts(([0, 0, traffic.tagged], 0));
                }
                network.pass(10);
                assert!(
                    is_open(&network),
                    "{name}, seed {seed}: closed after {now_ms} ms"
                );
            }
        }
    }
}
