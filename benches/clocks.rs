//! What clocks cost a collector: `cargo bench --bench clocks`. Simulated nodes tell each second what they know of their
//! peers; the figures are CPU time of one thread.

use hostint::clocks::{ClockDifferences, HostClocks, Reading, Stamp, StampedPacket, Statement};
use hostint::os::clock;

const SECOND: i128 = 1_000_000_000;
/// The time that is simulated before the differences are computed.
const SECONDS: i128 = 17;
const ROUNDS: usize = 5;
/// Nodes, and the peers of each.
const SIZES: [(u32, u32); 6] = [
    (10, 6),
    (32, 6),
    (128, 6),
    (128, 40),
    (1_000, 6),
    (2_000, 10),
];

/// The raw clock of a node; the clock that stamps is an hour ahead of it.
fn raw(node: u32, t: i128) -> i128 {
    t + i128::from(node) * 7_000_000_007 + t * i128::from(node % 50) / 1_000_000
}

fn stamps(node: u32, t: i128) -> i128 {
    raw(node, t) + 3_600 * SECOND
}

/// A latency between two nodes: queues make it longer now and then.
fn latency(from: u32, to: u32, t: i128) -> i128 {
    10_000 + (i128::from(from) * 31 + i128::from(to) * 17 + t / 1_000) % 9_000
}

fn tell(clocks: &mut HostClocks, (nodes, peers): (u32, u32), second: i128) {
    let now_ns = (second * SECOND) as u64;
    for node in 0..nodes {
        let reading = |ago: i128| Reading {
            raw_ns: raw(node, (second - ago) * SECOND),
            took_ns: 100,
            clock_ns: stamps(node, (second - ago) * SECOND),
            steered_ppb: (0, 0),
            is_after_set: false,
        };
        let said = Statement::default();
        clocks.note_readings(node, said, [3, 2, 1, 0].map(reading), now_ns);
        for peer in (1..=peers / 2).flat_map(|far| [node + far, node + nodes - far]) {
            let peer = peer % nodes;
            for half in [0, SECOND / 2] {
                let sent = (second - 1) * SECOND + half + i128::from(node) * 1_000;
                let arrived = stamps(node, sent + latency(peer, node, sent));
                let packet = StampedPacket::Wrapped {
                    arrived_ns: arrived,
                    latency_ns: (arrived - stamps(peer, sent)) as i32,
                };
                clocks.note_packet(peer, node, packet, now_ns);
            }
            let asked = (second - 1) * SECOND + SECOND / 3;
            let answered = asked + latency(node, peer, asked);
            let received = answered + latency(peer, node, answered);
            let by = Stamp::Clock(stamps(peer, answered));
            let (sent, arrived) = (
                Stamp::Raw(raw(node, asked)),
                Stamp::Raw(raw(node, received)),
            );
            let question = StampedPacket::Whole { sent, arrived: by };
            let answer = StampedPacket::Whole { sent: by, arrived };
            clocks.note_packet(node, peer, question, now_ns);
            clocks.note_packet(peer, node, answer, now_ns);
        }
    }
}

fn median(mut times: Vec<u64>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2] as f64 / 1e6
}

fn main() {
    println!("| nodes | peers of each | evidence of a second | differences | nodes known |");
    println!("|---|---|---|---|---|");
    for (nodes, peers) in SIZES {
        let mut clocks = HostClocks::default();
        let mut spent = Vec::new();
        for second in 4..4 + SECONDS {
            let begin = clock::thread_cpu_ns();
            tell(&mut clocks, (nodes, peers), second);
            clocks.settle((second * SECOND) as u64);
            spent.push(clock::thread_cpu_ns() - begin);
        }
        let now_ns = ((3 + SECONDS) * SECOND) as u64;
        let mut known = 0;
        let computed = (0..ROUNDS).map(|_| {
            let begin = clock::thread_cpu_ns();
            known = ClockDifferences::compute(&clocks, now_ns).known_hosts();
            clock::thread_cpu_ns() - begin
        });
        let computed = median(computed.collect());
        let told = median(spent);
        println!("| {nodes} | {peers} | {told:.1} ms | {computed:.1} ms | {known} |");
    }
}
