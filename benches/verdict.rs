//! CPU time of the verdict in each ten seconds, without an incident and while one is explained:
//! `cargo bench --locked --bench verdict`.

use std::collections::BTreeSet;

use hostint::model::VerdictState;
use hostint::os::clock;
use hostint::verdict::VerdictEngine;
use hostint_testing::invented::{Harm, InventedNetwork, InventedWorld, Shape};

/// Hosts, and racks.
const SIZES: [(usize, usize); 2] = [(100, 10), (1_000, 40)];
/// Slots until the incident, and of it.
const BEFORE: u64 = 60;
const DURING: u64 = 30;

fn bench((hosts, racks): (usize, usize)) {
    let network = InventedNetwork::new(Shape {
        hosts,
        racks,
        seed: 1,
        flows: true,
        clocks: true,
    });
    let pairs: BTreeSet<_> = (network.cells.iter())
        .map(|cell| (cell.source, cell.sink))
        .collect();
    let cells = network.cells.len();
    let none = Harm::none(&network);
    let mut harm = Harm::none(&network);
    harm.link_loss[network.host_in(1)] = 0.05;
    harm.link_loss[network.rack_out(0, 1)] = 0.02;
    let mut world = InventedWorld::new(network, 2, 10);
    let mut engine = VerdictEngine::default();
    let mut spent_ms = |harm: &Harm| {
        let slot = world.slot(harm);
        let before = clock::thread_cpu_ns();
        let state = engine.slot(&slot).state;
        ((clock::thread_cpu_ns() - before) as f64 / 1e6, state)
    };
    let mut quiet: Vec<f64> = (0..BEFORE).map(|_| spent_ms(&none).0).collect();
    let quiet = quiet.split_off(BEFORE as usize / 2);
    let during: Vec<_> = (0..DURING).map(|_| spent_ms(&harm)).collect();
    let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
    let most = |all: &[f64]| all.iter().copied().fold(0.0, f64::max);
    let busy: Vec<f64> = during.iter().map(|(ms, _)| *ms).collect();
    let named = during
        .iter()
        .filter(|(_, state)| *state == VerdictState::Degraded);
    println!(
        "{hosts:>5} hosts, {:>6} pairs, {cells:>6} cells: quiet {:.1} ms (at most {:.1}), with two causes {:.1} ms (at most {:.1}; \
         degraded in {} of {DURING} slots)",
        pairs.len(),
        mean(&quiet),
        most(&quiet),
        mean(&busy),
        most(&busy),
        named.count()
    );
}

fn main() {
    SIZES.into_iter().for_each(bench);
}
