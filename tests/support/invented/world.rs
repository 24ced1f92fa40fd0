//! An invented network in operation: each slot is drawn as its hosts would report it.

use std::collections::{BTreeMap, BTreeSet};

use hostint::model::{
    CellCounts, CellGrowth, CellId, HostInSlot, NodeId, NodePair, PairReach, VerdictSlot,
};

use super::harm::Wait;
use super::latency::{LatencyCounts, LatencyTable};
use super::network::{InventedCell, WAYS};
use super::weather::Weather;
use super::{Draws, Harm, InventedNetwork};

pub const SLOT_S: u64 = 10;
pub const SLOT_NS: u64 = SLOT_S * 1_000_000_000;
/// A midnight of an invented year.
const MIDNIGHT_NS: u64 = 1_767_571_200_000_000_000;
/// Clocks are steered this often, in slots.
const STEERED: u64 = 60;

pub struct InventedWorld {
    pub network: InventedNetwork,
    draws: Draws,
    weather: Weather,
    tables: Vec<LatencyTable>,
    counts: LatencyCounts,
    ahead_ns: Vec<i64>,
    /// What sinks counted and could not report yet.
    unreported: BTreeMap<CellId, CellGrowth>,
    midnight_ns: u64,
    first_slot: u64,
    slot: u64,
    /// Packets that the hosts of this slot dropped, as source and as sink.
    dropped: Vec<[u64; 2]>,
}

/// A host's clock in a slot.
#[derive(Clone, Copy, Debug, Default)]
pub struct InventedClock {
    /// By how much the clock that stamps packets is ahead, and the clock that the host reports.
    pub ahead_ns: i64,
    pub believed_ns: i64,
    pub error_ns: u64,
    pub is_known: bool,
}

/// The packets of a cell that go one way, or stay in their rack.
#[derive(Default)]
struct WayFate {
    arrived: u64,
    /// The share that is always lost, and the share that the incident adds.
    usual_loss: f64,
    added_loss: f64,
    waits: [Wait; 9],
}

impl InventedWorld {
    pub fn new(network: InventedNetwork, seed: u64, begin_hour: u64) -> Self {
        let mut draws = Draws::seeded(seed ^ 0x5eed);
        Self {
            weather: Weather::new(&network, &mut draws),
            tables: network
                .cells
                .iter()
                .map(|_| LatencyTable::default())
                .collect(),
            counts: LatencyCounts::default(),
            ahead_ns: network.hosts.iter().map(|host| host.ahead_ns).collect(),
            unreported: BTreeMap::new(),
            midnight_ns: MIDNIGHT_NS,
            first_slot: begin_hour * 360,
            slot: 0,
            dropped: Vec::new(),
            draws,
            network,
        }
    }

    /// Sets the date: a midnight, ns since the Unix epoch.
    #[must_use]
    pub fn on_day(mut self, midnight_ns: u64) -> Self {
        self.midnight_ns = midnight_ns;
        self
    }

    /// When a slot begins, ns since the Unix epoch.
    pub fn begins_ns(&self, slot: u64) -> u64 {
        self.midnight_ns + (self.first_slot + slot) * SLOT_NS
    }

    pub fn node(host: usize) -> NodeId {
        NodeId(host as u32 + 1)
    }

    /// Draws the next slot.
    pub fn slot(&mut self, harm: &Harm) -> VerdictSlot {
        let hour = (self.first_slot + self.slot) as f64 / 360.0 % 24.0;
        let Self {
            weather,
            network,
            draws,
            ..
        } = self;
        weather.turn(network, hour, draws);
        self.steer();
        self.dropped = vec![[0; 2]; self.network.hosts.len()];
        let missing: Vec<bool> = (0..self.network.hosts.len())
            .map(|_| self.draws.chance(1e-4) || self.draws.chance(harm.reports_lost))
            .collect();
        let mut cells = BTreeMap::new();
        for at in 0..self.network.cells.len() {
            let sink = self.network.cells[at].sink;
            let Some((id, growth)) = self.cell(at, harm).filter(|_| !harm.cut[at]) else {
                continue;
            };
            match (harm.hosts[sink].silent, missing[sink]) {
                (true, _) => {}
                (_, true) => add(&mut self.unreported, id, growth),
                _ => add(&mut cells, id, growth),
            }
        }
        self.catch_up(&missing, harm, &mut cells);
        let hosts: BTreeMap<_, _> = (0..missing.len())
            .map(|at| (Self::node(at), self.host(at, missing[at], harm)))
            .collect();
        let reach = self.reach(&hosts, harm);
        self.slot += 1;
        let lost = missing.iter().filter(|one| **one).count();
        VerdictSlot {
            end_ns: self.begins_ns(self.slot),
            cells,
            hosts,
            reach,
            reports_lost: lost as f64 / missing.len() as f64,
            limits: Vec::new(),
        }
    }

    /// Totals are sent again and again: a report says what those before it said that were lost.
    fn catch_up(
        &mut self,
        missing: &[bool],
        harm: &Harm,
        cells: &mut BTreeMap<CellId, CellGrowth>,
    ) {
        let reports = |id: &CellId| {
            let sink = id.sink.0 as usize - 1;
            !missing[sink] && !harm.hosts[sink].silent
        };
        let (come, stay) = std::mem::take(&mut self.unreported)
            .into_iter()
            .partition::<BTreeMap<_, _>, _>(|(id, _)| reports(id));
        self.unreported = stay;
        come.into_iter()
            .for_each(|(id, growth)| add(cells, id, growth));
    }

    /// What sources report of their leases.
    fn reach(
        &self,
        hosts: &BTreeMap<NodeId, HostInSlot>,
        harm: &Harm,
    ) -> BTreeMap<NodePair, PairReach> {
        let mut reach = BTreeMap::<NodePair, (PairReach, BTreeSet<NodeId>)>::new();
        for (at, cell) in self.network.cells.iter().enumerate() {
            let [source, sink] = [cell.source, cell.sink].map(Self::node);
            if hosts[&source].covered.is_none() {
                continue;
            }
            let pair = reach.entry(NodePair::of(source, sink)).or_default();
            pair.0.reached |= !harm.cut[at] && !harm.hosts[cell.sink].gone;
            pair.1.insert(source);
        }
        let known = reach.into_iter().map(|(pair, (mut known, sources))| {
            known.both_ways = sources.len() == 2;
            (pair, known)
        });
        known.collect()
    }

    fn steer(&mut self) {
        for (at, host) in self.network.hosts.iter().enumerate() {
            if (self.slot + 7 * at as u64).is_multiple_of(STEERED) {
                let step = self.draws.normal() * host.clock_error_ns as f64 * 0.5;
                self.ahead_ns[at] += step as i64;
            }
        }
    }

    /// The clocks of the last slot, in which there was this harm.
    pub fn clocks(&self, harm: &Harm) -> BTreeMap<NodeId, InventedClock> {
        let hosts = self.network.hosts.iter().enumerate();
        let clocks = hosts.map(|(at, host)| {
            let clock = InventedClock {
                ahead_ns: self.ahead_ns[at] + harm.hosts[at].clock_ns,
                believed_ns: self.ahead_ns[at] + harm.hosts[at].clock_known_ns,
                error_ns: host.clock_error_ns,
                is_known: host.clock_known,
            };
            (Self::node(at), clock)
        });
        clocks.collect()
    }

    /// By how much a host's clock is ahead, and what the collector believes.
    fn clock(&self, at: usize, harm: &Harm) -> (i64, i64) {
        let (host, harm) = (&self.network.hosts[at], &harm.hosts[at]);
        let turn = (self.slot as f64 + 97.0 * at as f64) / 240.0;
        let off = turn.sin() * host.clock_error_ns as f64 * 0.4;
        let ahead = self.ahead_ns[at];
        (
            ahead + harm.clock_ns,
            ahead + harm.clock_known_ns + off as i64,
        )
    }

    fn cell(&mut self, at: usize, harm: &Harm) -> Option<(CellId, CellGrowth)> {
        let (source, sink) = (self.network.cells[at].source, self.network.cells[at].sink);
        if harm.hosts[source].gone || harm.hosts[sink].gone {
            return None;
        }
        let mut ways = self.ways(at, harm);
        let mut growth = self.packets(at, harm, &mut ways);
        if growth.counts.sent == 0 {
            return None;
        }
        let [from, to] = [source, sink].map(|host| self.clock(host, harm));
        let shift = to.0 - from.0 + harm.longer_ns[at];
        let cell = &self.network.cells[at];
        let load = self.weather.load_step();
        let median = cell.median_ns * (1.0 + 0.04 * (f64::from(load) / 20.0 - 1.0));
        let table = &mut self.tables[at];
        table.set(median, cell.steepness, load, shift);
        let mut at_once = 0;
        for way in &ways {
            let mut left = way.arrived;
            for (share, wait_ns) in way.waits.into_iter().filter(|one| one.0 > 0.0) {
                let waiting = self.draws.binomial(left, share);
                table.draw_waiting(waiting, wait_ns, &mut self.draws, &mut self.counts);
                left -= waiting;
            }
            at_once += left;
        }
        table.draw(at_once, &mut self.draws, &mut self.counts);
        growth.latency = table.histogram(&mut self.counts);
        let known = [source, sink].map(|host| &self.network.hosts[host]);
        if known.iter().all(|host| host.clock_known) {
            let error = known[0].clock_error_ns + known[1].clock_error_ns;
            growth.clocks_ns = Some((to.1 - from.1, error));
        }
        let id = CellId {
            source: Self::node(source),
            sink: Self::node(sink),
            class: cell.class.map(Box::from),
        };
        Some((id, growth))
    }

    /// For each way (one, if packets stay in their rack) the usual loss of its links, that of the incident, and the waits.
    fn ways(&self, at: usize, harm: &Harm) -> Vec<WayFate> {
        let cell = &self.network.cells[at];
        let of_way = |way: Option<usize>| {
            let (links, count) = self.network.path(cell, way);
            let mut fate = WayFate::default();
            fate.waits[8] = harm.wait[at];
            let mut kept = 1.0;
            for (number, link) in links.into_iter().take(count).enumerate() {
                let burst = self.weather.bursts[link];
                fate.usual_loss += self.network.links[link].loss + burst.share * burst.loss;
                kept *= 1.0 - harm.link_loss[link].clamp(0.0, 1.0);
                fate.waits[number] = (burst.share, burst.wait_ns);
                fate.waits[4 + number] = harm.link_wait[link];
            }
            fate.added_loss = 1.0 - kept;
            fate
        };
        let far = self.network.is_far(cell);
        let ways = if far { WAYS } else { 1 };
        (0..ways).map(|way| of_way(far.then_some(way))).collect()
    }

    /// What was sent and lost; and notes what arrived of each way.
    fn packets(&mut self, at: usize, harm: &Harm, ways: &mut [WayFate]) -> CellGrowth {
        let Self {
            network,
            draws,
            weather,
            dropped,
            ..
        } = self;
        let cell: &InventedCell = &network.cells[at];
        let load = weather.load * weather.host_load[cell.source].exp();
        let measured = 1.0 - harm.hosts[cell.source].uncovered;
        let packets = cell.packets_s * SLOT_S as f64 * load * harm.traffic[at] * measured;
        let own = [
            harm.hosts[cell.source].own_drops[0],
            harm.hosts[cell.sink].own_drops[1],
        ];
        let mut growth = CellGrowth::default();
        for strand in &cell.strands {
            let way = &mut ways[strand.way.unwrap_or(0)];
            let is_lossy = harm.lossy_parts[at] >> strand.part & 1 == 1;
            let own_loss = if is_lossy { harm.loss[at] } else { 0.0 };
            let added = 1.0 - (1.0 - way.added_loss) * (1.0 - own_loss.clamp(0.0, 1.0));
            let sent = draws.poisson(packets * strand.share);
            let lost = draws.binomial(sent, 1.0 - (1.0 - way.usual_loss) * (1.0 - added));
            let counts = CellCounts { sent, lost };
            sum(&mut growth.counts, counts);
            way.arrived += sent - lost;
            if strand.reported && sent > 0 {
                sum(&mut growth.parts[strand.part], counts);
                growth.flows += strand.flows;
            }
            let by_incident = added / (added + way.usual_loss).max(1e-12);
            for (side, end) in [cell.source, cell.sink].into_iter().enumerate() {
                dropped[end][side] += draws.binomial(lost, own[side] * by_incident);
            }
        }
        growth
    }

    fn host(&mut self, at: usize, missing: bool, harm: &Harm) -> HostInSlot {
        let (host, harm, draws) = (&self.network.hosts[at], &harm.hosts[at], &mut self.draws);
        let away = harm.silent || harm.gone;
        let rare = |draws: &mut Draws, usual: f64| {
            let spike = if draws.chance(1e-3) {
                draws.exponential(3e6)
            } else {
                0.0
            };
            draws.exponential(usual) + spike
        };
        let stray = [0, 1].map(|side| draws.poisson(0.02) + harm.other_drops[side]);
        let dropped = [0, 1].map(|side| self.dropped[at][side] + stray[side]);
        let queue = rare(draws, 15_000.0) + harm.queue_ns;
        let read = rare(draws, 20_000.0);
        // An application takes 2 ms to answer, and longer when it reads late.
        let answer = 100.0 * read + harm.answer_ns;
        let read = read + harm.read_ns;
        let limited = host.receiver_limited + 0.015 * draws.normal() + harm.receiver_limited;
        let covered = (0.985 + 0.004 * draws.normal()).min(1.0) - harm.uncovered;
        let says = host.reports_drops && !away && !missing;
        let labels = [
            ("rack", format!("r{}", host.rack + 1)),
            ("zone", format!("z{}", host.zone + 1)),
        ];
        let labels = labels.map(|(label, value)| (label.to_string(), value));
        HostInSlot {
            labels: BTreeMap::from(labels),
            reports: !away && !missing,
            heard_ns: 0,
            is_gone: harm.gone,
            restarted: harm.restarted,
            clock_set: harm.clock_set,
            dropped: says.then_some(dropped),
            drop_reason: (says && dropped != [0; 2]).then(|| "NETFILTER_DROP".to_string()),
            dropped_between: 0,
            queue_ns: says.then_some(queue as u64),
            read_ns: says.then_some(read as u64),
            answer_ns: says.then_some(answer as u64),
            receiver_limited: says.then(|| limited.clamp(0.0, 1.0)),
            covered: (host.reports_coverage && !away && !missing).then(|| covered.max(0.0)),
        }
    }
}

fn sum(into: &mut CellCounts, more: CellCounts) {
    into.sent += more.sent;
    into.lost += more.lost;
}

fn add(cells: &mut BTreeMap<CellId, CellGrowth>, id: CellId, more: CellGrowth) {
    let Some(known) = cells.get_mut(&id) else {
        cells.insert(id, more);
        return;
    };
    sum(&mut known.counts, more.counts);
    known.latency.merge(&more.latency);
    known.flows = known.flows.max(more.flows);
    for (into, more) in known.parts.iter_mut().zip(more.parts) {
        sum(into, more);
    }
}
