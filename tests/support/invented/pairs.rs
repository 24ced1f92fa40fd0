//! Which hosts talk, how much, in which classes, and by which flows.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use hostint::model::FLOW_PARTS;

use super::Draws;
use super::network::{InventedCell, InventedHost, Shape, Strand, WAYS};

/// A class, how likely a pair has packets of it, and how many.
const CLASSES: [(Option<&str>, f64, f64); 3] = [
    (None, 1.0, 1.0),
    (Some("storage"), 0.35, 0.4),
    (Some("voice"), 0.2, 0.1),
];
/// The flows of a cell that its sink reports one by one; the others are too small.
const REPORTED_FLOWS: usize = 24;

pub fn cells(shape: Shape, hosts: &[InventedHost], draws: &mut Draws) -> Vec<InventedCell> {
    let mut cells = Vec::new();
    for (source, sink) in talking(shape.hosts, draws) {
        let is_far = hosts[source].rack != hosts[sink].rack;
        let packets_s = draws.lognormal(25.0, 1.5).min(20_000.0);
        let median_us = draws.lognormal(28.0, 0.35) + if is_far { 15.0 } else { 0.0 };
        let steepness = draws.between(4.0, 9.0);
        for (class, likely, share) in CLASSES {
            if class.is_some() && !draws.chance(likely) {
                continue;
            }
            cells.push(InventedCell {
                source,
                sink,
                class,
                packets_s: packets_s * share * draws.between(0.5, 1.5),
                median_ns: median_us * 1_000.0 * draws.between(0.97, 1.03),
                steepness,
                strands: strands(is_far, shape.flows, draws),
            });
        }
    }
    cells
}

/// Ordered pairs; some hosts are much more popular than others, and who asks is answered.
fn talking(hosts: usize, draws: &mut Draws) -> BTreeSet<(usize, usize)> {
    let popular: Vec<f64> = (0..hosts).map(|_| draws.pareto(1.3) + 0.2).collect();
    let mut pairs = BTreeSet::new();
    for from in 0..hosts {
        let wished = 3 + (draws.pareto(1.5) * 2.0) as usize;
        let most = (hosts * 3 / 5).max(3).min(hosts - 1);
        let mut weights = popular.clone();
        weights[from] = 0.0;
        for _ in 0..wished.min(most) {
            let to = draws.weighted(&weights);
            weights[to] = 0.0;
            pairs.extend([(from, to), (to, from)]);
        }
    }
    pairs
}

fn strands(is_far: bool, flows_reported: bool, draws: &mut Draws) -> Vec<Strand> {
    let count = 1 + (draws.lognormal(9.0, 0.9) as usize).min(300);
    let mut weights: Vec<f64> = (0..count).map(|_| draws.pareto(1.3) + 0.1).collect();
    weights.sort_by(|a, b| b.total_cmp(a));
    let all: f64 = weights.iter().sum();
    let mut found: BTreeMap<(Option<usize>, usize, bool), Strand> = BTreeMap::new();
    for (number, weight) in weights.into_iter().enumerate() {
        let way = is_far.then(|| draws.below(WAYS));
        let part = draws.below(FLOW_PARTS);
        let reported = flows_reported && number < REPORTED_FLOWS;
        let strand = found.entry((way, part, reported)).or_insert(Strand {
            way,
            part,
            share: 0.0,
            flows: 0,
            reported,
        });
        strand.share += weight / all;
        strand.flows += 1;
    }
    // By way, so that the packets of a way can be counted together.
    found.into_values().collect()
}
