//! Gathers what reports add within ten seconds, for the verdict.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::pair_reach::ReachGatherer;
use crate::model::coverage::{CoverageGrowth, TAGGED};
use crate::model::drop_totals_report::DropSum;
use crate::model::{
    CellCounts, CellGrowth, CellId, DropPosition, ExporterHealth, FLOW_PARTS, FlowHash, HostInSlot,
    Limit, Measured, NodeId, PathGrowth, SegmentKind, Summary, SummarySubject, TcpGrowth,
    VERDICT_SLOT_NS, VerdictSlot,
};

/// A host that reported drops within this time would report others.
const DROPS_NS: u64 = 130_000_000_000;
/// The most pairs' classes, and hosts, that are judged. Packets of others are counted nowhere here.
const MOST_CELLS: usize = 65_536;
const MOST_HOSTS: usize = 4_096;
/// The most reasons of drops of a host.
const MOST_REASONS: usize = 64;
/// Packets to a host that are fewer than this share of the usual ones mean that it is not reached.
const UNREACHED: f64 = 0.2;
/// The weight of a period in the usual number of packets to a host.
const WEIGHT: f64 = 0.1;

/// A sum of times, and of how many.
#[derive(Clone, Copy, Debug, Default)]
struct MeanTime {
    sum_ns: i64,
    samples: u64,
}

impl MeanTime {
    fn add(&mut self, sum_ns: i64, samples: u64) {
        self.sum_ns = self.sum_ns.saturating_add(sum_ns);
        self.samples = self.samples.saturating_add(samples);
    }

    fn mean_ns(self) -> Option<u64> {
        let samples = i64::try_from(self.samples).unwrap_or(i64::MAX);
        (samples > 0).then(|| (self.sum_ns / samples).max(0).unsigned_abs())
    }
}

/// What is added of a host in the present slot.
#[derive(Debug, Default)]
struct HostGrowth {
    reports_drops: bool,
    dropped: [u64; 2],
    between: u64,
    reasons: BTreeMap<String, u64>,
    queue: MeanTime,
    read: MeanTime,
    answer: MeanTime,
    /// Microseconds in which receivers limited the senders here, and all.
    limited_us: (u64, u64),
    /// Packets that its watchlist asks for, and those of them that were not tagged.
    wanted: u64,
    missed: u64,
}

/// What is remembered of a host.
#[derive(Debug, Default)]
struct RememberedHost {
    /// When it reported drops last.
    drops_ns: Option<u64>,
    restarts: u64,
    /// How often its clock was set.
    clock_steps: u64,
    was_source: bool,
    /// The usual packets to it of a period, and those of the last one, by the reports of sources.
    usual_to: Option<f64>,
    last_to: f64,
}

/// What was gathered since the last slot.
#[derive(Debug, Default)]
pub struct SlotGatherer {
    /// When the present slot began; `None`: before the first report.
    begun_ns: Option<u64>,
    cells: BTreeMap<CellId, CellGrowth>,
    hosts: HashMap<NodeId, HostGrowth>,
    known: HashMap<NodeId, RememberedHost>,
    reach: ReachGatherer,
    /// Reports received and lost when the present slot began.
    before: (u64, u64),
}

impl SlotGatherer {
    /// True if the present slot is over at this time.
    pub fn is_due(&mut self, now_ns: u64) -> bool {
        let begin_ns = now_ns - now_ns % VERDICT_SLOT_NS;
        let begun_ns = *self.begun_ns.get_or_insert(begin_ns);
        // A clock that is set back begins anew.
        if now_ns < begun_ns {
            self.begun_ns = Some(begin_ns);
        }
        now_ns >= begun_ns + VERDICT_SLOT_NS
    }

    /// Adds the packets of a class, or of a flow of this class, from a source node.
    pub fn add_summary(&mut self, summary: &Summary, class: Option<&str>, added: &Measured) {
        let class = match &summary.subject {
            SummarySubject::Group { class } => class.as_deref(),
            SummarySubject::Flow { .. } => class,
        };
        let id = CellId {
            source: summary.source_node,
            sink: summary.sink_node,
            class: class.map(Box::from),
        };
        if self.cells.len() >= MOST_CELLS && !self.cells.contains_key(&id) {
            return;
        }
        let cell = self.cells.entry(id).or_default();
        let counts = CellCounts {
            sent: added.sent(),
            lost: added.missing(),
        };
        if let SummarySubject::Flow { flow, .. } = &summary.subject {
            let part = &mut cell.parts[FlowHash::of(flow).0 as usize % FLOW_PARTS];
            part.sent += counts.sent;
            part.lost += counts.lost;
            cell.flows += 1;
            return;
        }
        cell.counts.sent += counts.sent;
        cell.counts.lost += counts.lost;
        cell.latency.merge(&added.latency);
        if let Some(clocks_ns) = added.corrected.clocks_ns(&added.latency) {
            cell.clocks_ns = Some(clocks_ns);
        }
    }

    /// What is added of a host; `None`: there is no room for more of them.
    fn host(&mut self, node: NodeId) -> Option<&mut HostGrowth> {
        let has_room = self.hosts.len() < MOST_HOSTS || self.hosts.contains_key(&node);
        has_room.then(|| self.hosts.entry(node).or_default())
    }

    /// Adds what a host dropped.
    pub fn add_drops(&mut self, node: NodeId, added: &[DropSum]) {
        let Some(host) = self.host(node) else {
            return;
        };
        host.reports_drops = true;
        for sum in added.iter().filter(|sum| !sum.subject.ignored) {
            let packets = sum.count.segments.max(sum.count.packets);
            let dropped = match sum.subject.position {
                DropPosition::BehindTag => &mut host.dropped[0],
                DropPosition::BeforeStrip => &mut host.dropped[1],
                DropPosition::Between => &mut host.between,
                _ => continue,
            };
            *dropped = dropped.saturating_add(packets);
            let place = sum.subject.place.as_deref();
            let at = place.map_or(String::new(), |place| format!(" at {place}"));
            let reason = format!("{}{at}", sum.subject.reason.label());
            if host.reasons.len() < MOST_REASONS || host.reasons.contains_key(&reason) {
                let known = host.reasons.entry(reason).or_default();
                *known = known.saturating_add(packets);
            }
        }
    }

    /// Adds how long packets waited in the hosts at the ends of a path.
    pub fn add_path(&mut self, growth: &PathGrowth) {
        let segments = growth.path.segments();
        for time in &growth.times {
            let place = usize::from(time.place).checked_sub(1);
            let Some(segment) = place.and_then(|place| segments.get(place)) else {
                continue;
            };
            let (sum_ns, samples) = (time.latency.sum_ns(), time.latency.samples());
            let of: fn(&mut HostGrowth) -> &mut MeanTime = match segment.kind {
                SegmentKind::Read => |host| &mut host.read,
                SegmentKind::Answer => |host| &mut host.answer,
                SegmentKind::Queue if segment.from.node == growth.path.source.node => {
                    |host| &mut host.queue
                }
                _ => continue,
            };
            if let Some(host) = self.host(segment.from.node) {
                of(host).add(sum_ns, samples);
            }
        }
    }

    /// Adds what limited a connection of a host.
    pub fn add_connection(&mut self, node: NodeId, growth: &TcpGrowth) {
        let Some(host) = self.host(node) else {
            return;
        };
        let all: u64 = Limit::ALL
            .into_iter()
            .map(|limit| growth.times.of(limit))
            .sum();
        let (limited, sum) = &mut host.limited_us;
        *limited = limited.saturating_add(growth.times.of(Limit::Receiver));
        *sum = sum.saturating_add(all);
    }

    /// Says of which hosts of a slot the clock was set in it, by how often it ever was.
    pub fn see_clocks(&mut self, slot: &mut VerdictSlot, steps: impl Fn(NodeId) -> u64) {
        for (node, host) in &mut slot.hosts {
            let known = self.known.entry(*node).or_default();
            let steps = steps(*node);
            host.clock_set = steps > known.clock_steps;
            known.clock_steps = steps;
        }
    }

    fn add_coverage(&mut self, grown: &[CoverageGrowth]) {
        let mut to = HashMap::<NodeId, f64>::new();
        for one in grown {
            let packets = one.packets.max(0);
            let Some(reason) = one.reason else {
                continue;
            };
            if let Some(host) = self.host(one.source) {
                host.wanted += packets.unsigned_abs();
                if reason != TAGGED {
                    host.missed += packets.unsigned_abs();
                }
            }
            if let Some(sink) = one.sink {
                *to.entry(sink).or_default() += packets as f64;
            }
        }
        for (sink, packets) in to {
            let known = self.known.entry(sink).or_default();
            let usual = known.usual_to.get_or_insert(packets);
            known.last_to = packets;
            if packets > UNREACHED * *usual {
                *usual += WEIGHT * (packets - *usual);
            }
        }
    }

    /// Ends the present slot. `reports` are those received, and lost, since the collector started.
    pub fn take(
        &mut self,
        now_ns: u64,
        exporters: &[ExporterHealth],
        grown: &[CoverageGrowth],
        reports: (u64, u64),
    ) -> VerdictSlot {
        self.add_coverage(grown);
        self.begun_ns = Some(now_ns - now_ns % VERDICT_SLOT_NS);
        let mut cells = std::mem::take(&mut self.cells);
        join_flows(&mut cells);
        let (received, lost) = (
            reports.0.saturating_sub(self.before.0),
            reports.1.saturating_sub(self.before.1),
        );
        self.before = reports;
        let sources: HashSet<NodeId> = cells.keys().map(|id| id.source).collect();
        let mut slot = VerdictSlot {
            end_ns: now_ns - now_ns % VERDICT_SLOT_NS,
            cells,
            hosts: BTreeMap::new(),
            reach: self.reach.take(grown),
            limits: Vec::new(),
            reports_lost: lost as f64 / (received + lost).max(1) as f64,
        };
        let mut grown = std::mem::take(&mut self.hosts);
        let restarts = see_exporters(&mut slot, exporters);
        for (node, host) in &mut slot.hosts {
            let known = self.known.entry(*node).or_default();
            let restarts = restarts.get(node).copied().unwrap_or(0);
            host.restarted = restarts > known.restarts;
            known.restarts = restarts;
            let sends = sources.contains(node);
            known.was_source |= sends;
            let unreached = known
                .usual_to
                .is_some_and(|usual| known.last_to <= UNREACHED * usual);
            host.is_gone = !host.reports && !sends && (known.was_source || unreached);
            let grown = grown.remove(node).unwrap_or_default();
            if grown.reports_drops {
                known.drops_ns = Some(now_ns);
            }
            let reports_drops = known
                .drops_ns
                .is_some_and(|last_ns| now_ns.saturating_sub(last_ns) < DROPS_NS);
            fill(host, grown, reports_drops);
        }
        self.known.retain(|node, _| slot.hosts.contains_key(node));
        self.reach.retain(&slot.hosts);
        slot
    }
}

/// Adds what is known of hosts by their reports, and returns how many times each began anew.
fn see_exporters(slot: &mut VerdictSlot, exporters: &[ExporterHealth]) -> HashMap<NodeId, u64> {
    let mut restarts = HashMap::<NodeId, u64>::new();
    for exporter in exporters {
        let Some(node) = exporter.node else {
            continue;
        };
        if slot.hosts.len() >= MOST_HOSTS && !slot.hosts.contains_key(&node) {
            continue;
        }
        let host = slot.hosts.entry(node).or_default();
        host.reports |= exporter.reporting;
        host.heard_ns = host.heard_ns.max(exporter.last_seen_ns);
        for (label, value) in &exporter.labels {
            host.labels
                .entry(label.clone())
                .or_insert_with(|| value.clone());
        }
        *restarts.entry(node).or_default() += exporter.restarts;
    }
    restarts
}

/// Adds to a host what it reported in the slot.
fn fill(host: &mut HostInSlot, grown: HostGrowth, reports_drops: bool) {
    host.dropped = reports_drops.then_some(grown.dropped);
    host.dropped_between = grown.between;
    let most = grown
        .reasons
        .into_iter()
        .max_by_key(|(_, packets)| *packets);
    host.drop_reason = most.map(|(reason, _)| reason);
    host.queue_ns = grown.queue.mean_ns();
    host.read_ns = grown.read.mean_ns();
    host.answer_ns = grown.answer.mean_ns();
    let share = |part: u64, all: u64| (all > 0).then(|| part as f64 / all as f64);
    host.receiver_limited = share(grown.limited_us.0, grown.limited_us.1);
    host.covered = share(grown.wanted.saturating_sub(grown.missed), grown.wanted);
}

/// The parts of flows whose class the sink does not report apart, or the collector does not know, are those of the pair's
/// other packets, or of its only class.
fn join_flows(cells: &mut BTreeMap<CellId, CellGrowth>) {
    let alone = cells
        .iter()
        .filter(|(_, cell)| cell.counts.sent == 0 && cell.flows > 0);
    let alone: Vec<CellId> = alone.map(|(id, _)| id.clone()).collect();
    for id in alone {
        let Some(flows) = cells.remove(&id) else {
            continue;
        };
        let without_class = CellId { class: None, ..id };
        let of_pair = |other: &&CellId| {
            (other.source, other.sink) == (without_class.source, without_class.sink)
        };
        let from = cells.range(&without_class..).map(|(id, _)| id);
        let mut own = from.take_while(of_pair);
        let joined = match (own.next(), own.next()) {
            (Some(only), None) => only.clone(),
            _ => without_class,
        };
        let Some(cell) = cells.get_mut(&joined) else {
            continue;
        };
        cell.flows += flows.flows;
        for (part, more) in cell.parts.iter_mut().zip(flows.parts) {
            part.sent += more.sent;
            part.lost += more.lost;
        }
    }
}
