//! Whom an incident befalls: hosts, racks and pairs of which something can be known.

use std::collections::BTreeSet;

use hostint_testing::invented::{Draws, InventedNetwork, WAYS};

/// The other ends of a host's cells, those that send to it and those that it sends to.
fn peers(network: &InventedNetwork, host: usize) -> [BTreeSet<usize>; 2] {
    let cells = || network.cells.iter();
    let into = cells()
        .filter(|cell| cell.sink == host)
        .map(|cell| cell.source);
    let out = cells()
        .filter(|cell| cell.source == host)
        .map(|cell| cell.sink);
    [into.collect(), out.collect()]
}

fn racks_of(network: &InventedNetwork, hosts: &BTreeSet<usize>) -> usize {
    let racks = hosts.iter().map(|host| network.hosts[*host].rack);
    BTreeSet::from_iter(racks).len()
}

/// The least of the packets per second to the host and from it.
fn packets(network: &InventedNetwork, host: usize) -> f64 {
    let sum = |is: fn(&(usize, usize), usize) -> bool| -> f64 {
        let ends = |one: &usize| (network.cells[*one].source, network.cells[*one].sink);
        let at = 0..network.cells.len();
        at.filter(|one| is(&ends(one), host))
            .map(|one| network.cells[one].packets_s)
            .sum()
    };
    sum(|ends, host| ends.0 == host).min(sum(|ends, host| ends.1 == host))
}

fn quantile(mut values: Vec<f64>, share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * share) as usize]
}

/// A host with traffic to and from several others, in more racks than one.
pub fn host(network: &InventedNetwork, draws: &mut Draws) -> usize {
    let all = 0..network.hosts.len();
    let border = quantile(
        all.clone().map(|host| packets(network, host)).collect(),
        0.5,
    );
    let is_good = |host: &usize| {
        let [into, out] = peers(network, *host);
        let apart = racks_of(network, &into).min(racks_of(network, &out));
        into.len().min(out.len()) >= 4.min(network.hosts.len() / 2)
            && apart >= 2
            && packets(network, *host) >= border
    };
    let good: Vec<usize> = all.clone().filter(is_good).collect();
    match good.is_empty() {
        true => all
            .max_by_key(|host| peers(network, *host)[0].len())
            .unwrap(),
        false => draws.pick(&good),
    }
}

/// The verdict does not name the losses of fewer flows.
const LEAST_FLOWS: u32 = 3;

/// A pair whose ends have other peers.
pub fn pair(network: &InventedNetwork, draws: &mut Draws) -> (usize, usize) {
    let plain = network.cells_that(|cell| cell.class.is_none());
    let plain: Vec<usize> = plain.collect();
    let rates = plain.iter().map(|at| network.cells[*at].packets_s);
    let border = quantile(rates.collect(), 0.6);
    let is_good = |at: &usize| {
        let cell = &network.cells[*at];
        let enough =
            peers(network, cell.source)[1].len() >= 3 && peers(network, cell.sink)[0].len() >= 3;
        let flows: u32 = cell.strands.iter().map(|strand| strand.flows).sum();
        enough && flows >= LEAST_FLOWS && cell.packets_s >= border
    };
    let good: Vec<usize> = plain.iter().copied().filter(is_good).collect();
    let cell = &network.cells[draws.pick(if good.is_empty() { &plain } else { &good })];
    (cell.source, cell.sink)
}

/// A rack of which several hosts have traffic with others, in both directions.
pub fn rack(network: &InventedNetwork, draws: &mut Draws) -> usize {
    let is_good = |rack: &usize| {
        let in_rack = |host: usize| network.hosts[host].rack == *rack;
        let out = network.cells_that(|cell| in_rack(cell.source) && network.is_far(cell));
        let sources: BTreeSet<usize> = out.map(|at| network.cells[at].source).collect();
        let into = network.cells_that(|cell| in_rack(cell.sink) && network.is_far(cell));
        let sinks: BTreeSet<usize> = into.map(|at| network.cells[at].sink).collect();
        sources.len().min(sinks.len()) >= 2
    };
    let good: Vec<usize> = (0..network.shape.racks).filter(is_good).collect();
    draws.pick(&good)
}

/// A way of a rack that carries much: rack, way.
pub fn way(network: &InventedNetwork, is_out: bool, draws: &mut Draws) -> (usize, usize) {
    let racks = network.shape.racks;
    let mut rates = vec![0.0; racks * WAYS];
    for cell in &network.cells {
        let end = if is_out { cell.source } else { cell.sink };
        for strand in &cell.strands {
            if let Some(way) = strand.way {
                let at = network.hosts[end].rack * WAYS + way;
                rates[at] += cell.packets_s * strand.share;
            }
        }
    }
    let border = quantile(rates.clone(), 1.0 - 1.0 / WAYS as f64);
    let good: Vec<usize> = (0..rates.len()).filter(|at| rates[*at] >= border).collect();
    let chosen = draws.pick(&good);
    (chosen / WAYS, chosen % WAYS)
}

/// Two racks with several pairs from one to the other.
pub fn racks(network: &InventedNetwork, draws: &mut Draws) -> (usize, usize) {
    let count = network.shape.racks;
    let is_good = |at: &usize| {
        let (from, to) = (at / count, at % count);
        let of = |host: usize| network.hosts[host].rack;
        let cells = network.cells_that(|cell| of(cell.source) == from && of(cell.sink) == to);
        let pairs = cells.map(|at| (network.cells[at].source, network.cells[at].sink));
        let pairs: BTreeSet<(usize, usize)> = pairs.collect();
        let ends = BTreeSet::from_iter(pairs.iter().map(|one| one.0)).len();
        let other_ends = BTreeSet::from_iter(pairs.iter().map(|one| one.1)).len();
        from != to && pairs.len() >= 3 && ends.min(other_ends) >= 2
    };
    let good: Vec<usize> = (0..count * count).filter(is_good).collect();
    let chosen = draws.pick(&good);
    (chosen / count, chosen % count)
}

/// A host and a class other than "none" of which it sends, or is sent, several cells, besides those of other classes.
pub fn class_at(
    network: &InventedNetwork,
    is_out: bool,
    draws: &mut Draws,
) -> (usize, Option<&'static str>) {
    let mut good = Vec::new();
    for host in 0..network.hosts.len() {
        for class in [Some("storage"), Some("voice")] {
            let cells = network.cells_that(|cell| {
                cell.class == class && host == if is_out { cell.source } else { cell.sink }
            });
            let rates: Vec<f64> = cells.map(|at| network.cells[at].packets_s).collect();
            if rates.len() >= 3 && rates.iter().sum::<f64>() > 50.0 {
                good.push((host, class));
            }
        }
    }
    draws.pick(&good)
}
