//! Publishes what the decoder knows on the board, and logs it at the end.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::collector::Collector;
use super::wall;
use crate::collector::{ClockCounts, HostDrops, HostQueues};
use crate::daemon::duty::Duty;
use crate::model::{
    CollectStatus, ExporterHealth, HostSeen, NameOrigin, NodeId, NodeNames, port_names,
};
use crate::os::log;
use crate::store::StoreCounts;

/// The number of exporters whose health is shown.
const MOST_EXPORTERS: usize = 1_000;

/// The number of pairs of interfaces of hosts that metrics have.
const MOST_PASSAGES: usize = 64;

/// The number of segments of paths that metrics have.
const MOST_SEGMENTS: usize = 500;

/// The number of pairs, with their classes, whose coverage is shown.
const MOST_PAIRS: usize = 1_000;

/// The number of sums of hosts' drops that are shown.
const MOST_DROPS: usize = 1_000;
/// The number of sums of hosts' connections that are shown: six for each host.
const MOST_TCP: usize = 6_000;
/// The most pairs in INT-MX.
const MOST_MX_PAIRS: usize = 256;

impl Collector {
    /// At most `most` exporters, with the names that the user chose or that they tell, or else those of DNS.
    pub fn exporters(&mut self, most: usize) -> Vec<ExporterHealth> {
        let mut health = self.hub.ledgers.exporters.health(most, wall::now_ns());
        for one in &mut health {
            let chosen = one.node.and_then(|node| self.plan.config.names.get(&node));
            if let Some(name) = chosen {
                one.name = Some(name.clone());
                one.name_origin = Some(NameOrigin::Given);
                one.name_contested = false;
            }
        }
        if let Some(names) = &mut self.reverse_names {
            names.fill_in(&mut health, &self.hub.ledgers.exporters, Instant::now());
        }
        health
    }

    /// The names of nodes that no other claims, and those that the user gave; and the names of interfaces.
    pub fn names_of(&self, health: &[ExporterHealth]) -> NodeNames {
        let reported = health.iter().filter(|one| !one.name_contested);
        let reported = reported.filter_map(|one| one.node.zip(one.name.clone()));
        let given = self.plan.config.names.iter();
        let nodes = reported.chain(given.map(|(node, name)| (*node, name.clone())));
        let ports = health.iter();
        let ports = ports.filter_map(|one| Some((one.node?, &one.interfaces)));
        nodes.collect::<NodeNames>().with_ports(port_names(ports))
    }

    /// Shows what the decoder knows.
    pub fn publish(&mut self) {
        let now_ns = wall::now_ns();
        self.hub.ledgers.exporters.forget_old_identities(now_ns);
        let health = self.exporters(MOST_EXPORTERS);
        let names = self.names_of(&health);
        self.hub.taker.set_names(names);
        let segments = self.hub.ledgers.segments.rows(MOST_SEGMENTS);
        let exporters = &self.hub.ledgers.exporters;
        let sums = exporters.counts();
        let hosts = exporters.hosts(now_ns);
        let traffic = self.hub.ledgers.traffic.clone();
        let hops = self.hub.ledgers.hops.rows(MOST_PASSAGES);
        let tcp = self.hub.ledgers.connections.rows(MOST_TCP, now_ns);
        let mx_pairs = self.hub.ledgers.mx.pairs(MOST_MX_PAIRS);
        let takers = &self.hub.taker;
        let lines = takers.lines.output().counts();
        let mut status = self.board.lock();
        status.undecodable = sums.not_decoded;
        status.undecodable_last = exporters.last_undecodable();
        (status.decoded, status.reports) = (sums.decoded, sums.reports);
        status.reports_refused = sums.refused;
        (status.reports_with_quirk, status.int_unread) = (sums.quirks, sums.int_unread);
        status.reports_lost = sums.numbers.lost;
        status.reports_duplicate = sums.numbers.duplicates;
        status.reports_unnumbered = sums.numbers.unnumbered;
        let summaries = self.hub.ledgers.increments.counts();
        status.summaries_incomplete = summaries.incomplete;
        status.summaries_repeated = summaries.repeated;
        status.summaries_untracked = summaries.no_room;
        let mx = self.hub.ledgers.mx.counts();
        (status.mx_joined, status.mx_incomplete) = (mx.joined, mx.incomplete);
        status.mx_without_sink = mx.without_sink;
        status.mx_pairs = mx_pairs;
        publish_drops(&self.hub.ledgers.drops, &mut status);
        publish_queues(&self.hub.ledgers.queues, &mut status);
        publish_clocks(self.hub.ledgers.clocks.counts(), &mut status);
        status.lines = lines.lines;
        status.lines_lost = lines.lost;
        if let Some(keeper) = &takers.history {
            publish_store(keeper.counts(), &mut status);
        }
        status.engines = self
            .engines
            .statuses()
            .chain(self.pushed.statuses())
            .collect();
        status.hosts_known = hosts.known;
        status.hosts_reporting = hosts.reporting;
        status.last_report_ns = hosts.last_report_ns;
        status.exporters_total = sums.exporters;
        status.exporters_forgotten = sums.forgotten;
        status.exporters_untracked = sums.untracked;
        status.exporters = health;
        status.coverage = self.hub.ledgers.coverage.rows(MOST_PAIRS);
        status.segments = segments;
        status.traffic = traffic;
        status.hops = hops;
        status.tcp = tcp;
        status.connections_untracked = self.hub.ledgers.connections.untracked();
    }
}

fn publish_store(counts: &StoreCounts, status: &mut CollectStatus) {
    status.stored = counts.stored();
    status.rolled_up_only = counts.rolled_up_only();
    status.store_drops = counts.drops();
    status.told_drops = counts.told_drops();
}

fn publish_drops(drops: &HostDrops, status: &mut CollectStatus) {
    status.drops = drops.rows(MOST_DROPS);
    status.drop_sums = drops.by_reason();
    status.drop_counts_untracked = drops.untracked();
}

fn publish_queues(queues: &HostQueues, status: &mut CollectStatus) {
    status.queues = queues.rows();
    status.queue_reports_untracked = queues.untracked();
}

fn publish_clocks(clocks: &ClockCounts, status: &mut CollectStatus) {
    if clocks.contradicting != status.clock_contradicting {
        say_contradiction(&clocks.contradicting);
    }
    status.clocks_telling = clocks.reporting;
    status.clocks_known = clocks.known;
    status.clock_contradictions = clocks.contradictions;
    status.clock_contradicting.clone_from(&clocks.contradicting);
}

fn say_contradiction(nodes: &[NodeId]) {
    let nodes: Vec<String> = nodes.iter().map(NodeId::to_string).collect();
    log::warning(format_args!(
        "the clocks of nodes {} contradict each other, so latencies between them are not corrected: a stamp is false, or \
         a crystal drifts by more than 100 ppm",
        nodes.join(", ")
    ));
}

/// What the store keeps of these exporters.
pub fn hosts_of(exporters: Vec<ExporterHealth>) -> Vec<HostSeen> {
    let hosts = exporters.into_iter().map(|one| HostSeen {
        node: one.node,
        address: one.exporter,
        name: one.name,
        name_contested: one.name_contested,
        interfaces: one.interfaces,
        last_ns: one.last_seen_ns,
        silent_after_ns: one.silent_after_ns,
    });
    hosts.collect()
}

/// The duty to publish once a second, and what is known at the end.
pub struct PublishBoard;

impl Duty<Collector> for PublishBoard {
    fn task(&self) -> &'static str {
        "show the state"
    }

    fn period(&self, _daemon: &Collector) -> Duration {
        Duration::from_secs(1)
    }

    fn turn(&mut self, collector: &mut Collector, _now: Instant) -> Result<()> {
        collector.publish();
        Ok(())
    }

    fn finish(&mut self, collector: &mut Collector) -> Result<()> {
        collector.publish();
        collector.summarize();
        Ok(())
    }
}
