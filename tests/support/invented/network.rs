//! What does not change: hosts in racks, racks in zones, links, pairs that talk, and the nature of each.

use super::{Draws, pairs};

/// Equal ways between two racks, each over a spine of its own.
pub const WAYS: usize = 4;

/// What is asked of an invented network.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub hosts: usize,
    pub racks: usize,
    pub seed: u64,
    /// Sinks report flows one by one.
    pub flows: bool,
    /// The collector knows by how much clocks differ.
    pub clocks: bool,
}

pub struct InventedHost {
    pub rack: usize,
    pub zone: usize,
    /// It reports what it drops, what waits in its queues, and what limits its connections.
    pub reports_drops: bool,
    pub reports_coverage: bool,
    /// The share of time in which its receivers usually limit their senders.
    pub receiver_limited: f64,
    /// By how much its clock is ahead, and what the collector does not know of that.
    pub ahead_ns: i64,
    pub clock_error_ns: u64,
    pub clock_known: bool,
}

/// Flows of a cell that share fate: one way, one part.
pub struct Strand {
    /// `None`: inside a rack.
    pub way: Option<usize>,
    pub part: usize,
    /// The share of the cell's packets.
    pub share: f64,
    pub flows: u32,
    /// The sink reports these flows one by one.
    pub reported: bool,
}

/// The packets of a class from one host to another.
pub struct InventedCell {
    pub source: usize,
    pub sink: usize,
    pub class: Option<&'static str>,
    pub packets_s: f64,
    pub median_ns: f64,
    pub steepness: f64,
    pub strands: Vec<Strand>,
}

/// The nature of a link: what it loses always, how often it has bursts, and how long they make packets wait.
#[derive(Clone, Copy, Debug)]
pub struct LinkNature {
    pub loss: f64,
    pub bursts: f64,
    pub wait_ns: f64,
}

pub struct InventedNetwork {
    pub shape: Shape,
    pub hosts: Vec<InventedHost>,
    pub cells: Vec<InventedCell>,
    pub links: Vec<LinkNature>,
}

impl InventedNetwork {
    pub fn new(shape: Shape) -> Self {
        let mut draws = Draws::seeded(shape.seed);
        let hosts: Vec<InventedHost> = (0..shape.hosts)
            .map(|number| host(number, shape, &mut draws))
            .collect();
        let links = 2 * shape.hosts + 2 * shape.racks * WAYS;
        let links = (0..links).map(|_| link(&mut draws)).collect();
        let cells = pairs::cells(shape, &hosts, &mut draws);
        Self {
            shape,
            hosts,
            cells,
            links,
        }
    }

    pub fn host_out(&self, host: usize) -> usize {
        host
    }

    pub fn host_in(&self, host: usize) -> usize {
        self.shape.hosts + host
    }

    pub fn rack_out(&self, rack: usize, way: usize) -> usize {
        2 * self.shape.hosts + rack * WAYS + way
    }

    pub fn rack_in(&self, rack: usize, way: usize) -> usize {
        self.rack_out(rack, way) + self.shape.racks * WAYS
    }

    /// The links of a strand; two of them if it stays in its rack.
    pub fn path(&self, cell: &InventedCell, way: Option<usize>) -> ([usize; 4], usize) {
        let ends = [self.host_out(cell.source), self.host_in(cell.sink)];
        let Some(way) = way else {
            return ([ends[0], ends[1], 0, 0], 2);
        };
        let [from, to] = [cell.source, cell.sink].map(|host| self.hosts[host].rack);
        let between = [self.rack_out(from, way), self.rack_in(to, way)];
        ([ends[0], between[0], between[1], ends[1]], 4)
    }

    /// True if the cell's packets leave their rack.
    pub fn is_far(&self, cell: &InventedCell) -> bool {
        self.hosts[cell.source].rack != self.hosts[cell.sink].rack
    }

    /// The cells with this property.
    pub fn cells_that<'a>(
        &'a self,
        is: impl Fn(&InventedCell) -> bool + 'a,
    ) -> impl Iterator<Item = usize> + 'a {
        let numbered = self.cells.iter().enumerate();
        numbered.filter(move |(_, cell)| is(cell)).map(|(at, _)| at)
    }
}

fn host(number: usize, shape: Shape, draws: &mut Draws) -> InventedHost {
    let rack = number * shape.racks / shape.hosts;
    // PTP, a good NTP server near by, and one far away.
    let spread = [2_000.0, 20_000.0, 150_000.0][draws.weighted(&[0.4, 0.35, 0.25])];
    let errors = [1_000, 3_000, 10_000, 40_000];
    InventedHost {
        rack,
        zone: rack / 2,
        reports_drops: draws.chance(0.8),
        reports_coverage: draws.chance(0.9),
        receiver_limited: (draws.pareto(2.0) * 0.04).min(0.5),
        ahead_ns: (draws.normal() * spread) as i64,
        clock_error_ns: errors[draws.weighted(&[0.3, 0.4, 0.2, 0.1])],
        clock_known: draws.chance(0.97) && shape.clocks,
    }
}

fn link(draws: &mut Draws) -> LinkNature {
    LinkNature {
        loss: 10_f64.powf(draws.between(-7.0, -4.7)),
        bursts: (0.004 * (draws.pareto(1.2) + 0.3)).min(0.08),
        wait_ns: draws.lognormal(250_000.0, 0.6),
    }
}
