//! The keeper: it takes reports from the decoding thread and hands them to the writer in batches.

use std::sync::Arc;

use super::batch::{QueuedReport, ReportBatch, ReportRows};
use super::clock::ReadClock;
use super::counts::StoreCounts;
use super::fifo::StoreFifo;
use crate::model::coverage::CoverageGrowth;
use crate::model::crossings::PathCrossed;
use crate::model::{
    Arrival, ConnectionReport, DropCount, DropSum, FlowPassage, HostDrop, HostSeen, Measured,
    NetworkEvent, NetworkVerdict, NodeId, PassedPath, PathGrowth, PodPeriod, QueueEpisode, Report,
    ReportFacts, TcpGrowth, is_whole_batch,
};

/// A thread's way to hand reports to the store. Each thread has its own.
#[derive(Debug)]
pub struct StoreKeeper {
    batch: ReportBatch,
    queue: Arc<StoreFifo>,
    counts: Arc<StoreCounts>,
    /// Reports wait for the writer if they come from a file. Those from a socket are dropped.
    patient: bool,
    clock: ReadClock,
    class: Option<Arc<str>>,
}

impl StoreKeeper {
    pub(super) fn new(
        queue: Arc<StoreFifo>,
        counts: Arc<StoreCounts>,
        patient: bool,
        clock: ReadClock,
    ) -> Self {
        Self {
            batch: ReportBatch::default(),
            queue,
            counts,
            patient,
            clock,
            class: None,
        }
    }

    /// Takes a report, which is number `part`, from 0, of the datagram or JSON line `evidence`. A summary comes with the
    /// packets that it adds to those that earlier ones told of.
    pub fn keep(
        &mut self,
        report: &Report,
        part: usize,
        arrival: Option<Arrival>,
        class: Option<&str>,
        measured: Option<&Measured>,
        evidence: &[u8],
    ) {
        let observed = ReportFacts::new(report, arrival, || (self.clock)().now_ns);
        self.take(observed, part, class, measured, evidence);
    }

    /// Takes a report that was reduced to the observed values already.
    pub fn take(
        &mut self,
        observed: ReportFacts,
        part: usize,
        class: Option<&str>,
        measured: Option<&Measured>,
        evidence: &[u8],
    ) {
        let (reports, bytes) = (self.batch.entries.len(), self.batch.evidence.len());
        if part == 0 && is_whole_batch(reports, bytes) {
            self.flush();
        }
        if self.class.as_deref() != class {
            self.class = class.map(Arc::from);
        }
        let batch = &mut self.batch;
        let range = match batch.entries.last() {
            Some(last) if part > 0 => last.evidence.clone(),
            _ => {
                let begin = batch.evidence.len();
                batch.evidence.extend_from_slice(evidence);
                begin..batch.evidence.len()
            }
        };
        batch.entries.push(QueuedReport {
            observed,
            class: self.class.clone(),
            measured: measured.cloned().map(Box::new),
            path: None,
            rows: ReportRows::default(),
            part: part as u32,
            evidence: range,
        });
    }

    /// Adds the packet's way to the report that was taken last.
    pub fn add_path(&mut self, passed: PassedPath<'_>) {
        if let Some(last) = self.batch.entries.last_mut() {
            last.path = Some(self.batch.paths.push(passed));
        }
    }

    /// Returns the counts of all reports that were handed to the store.
    pub fn counts(&self) -> &StoreCounts {
        &self.counts
    }

    /// Hands on what is known of hosts. The store has it within [`HOSTS_LAG_NS`](super::HOSTS_LAG_NS).
    pub fn see_hosts(&self, hosts: Vec<HostSeen>) {
        self.queue.put_hosts(hosts);
    }

    /// Hands on what has changed of pods, and when their API server said something last. The store has it as soon as hosts.
    pub fn see_pods(&self, changed: Vec<PodPeriod>, current_ns: u64) {
        self.queue.put_pods(changed, current_ns);
    }

    /// Hands on what was said of the network.
    pub fn see_verdict(&self, verdict: NetworkVerdict) {
        self.queue.put_verdict(verdict);
    }

    /// Hands on an event. Returns false if too many wait.
    pub fn see_event(&self, event: NetworkEvent) -> bool {
        self.queue.put_event(event)
    }

    /// Hands on coverage. The store has it within [`HOSTS_LAG_NS`](super::HOSTS_LAG_NS).
    pub fn add_coverage(&self, grown: Vec<CoverageGrowth>) {
        self.counts.dropped_reported(self.queue.put_coverage(grown));
    }

    /// Hands on packets of a flow that a host dropped.
    pub fn drop_flow(&self, node: NodeId, drop: &HostDrop, count: DropCount, time_ns: u64) {
        self.queue
            .put_host_records(|waiting| waiting.drops.add_flow(node, drop, count, time_ns));
    }

    /// Hands on what the sums of a host add.
    pub fn drop_sums(&self, node: NodeId, added: &[DropSum], time_ns: u64) {
        self.queue
            .put_host_records(|waiting| waiting.drops.add_sums(node, added, time_ns));
    }

    /// Hands on the state of a connection, and what it adds to earlier ones.
    pub fn see_connection(&self, report: &ConnectionReport, growth: &TcpGrowth, time_ns: u64) {
        self.queue
            .put_host_records(|waiting| waiting.connections.add(report, growth, time_ns));
    }

    /// Hands on what a host told of a flow that it forwards.
    pub fn see_hop(&self, node: NodeId, hop: &FlowPassage, time_ns: u64) {
        self.queue
            .put_host_records(|waiting| waiting.hops.add(node, hop, time_ns));
    }

    /// Hands on what a host told of an episode of a queue.
    pub fn see_episode(&self, node: NodeId, episode: &QueueEpisode, time_ns: u64) {
        self.queue
            .put_host_records(|waiting| waiting.queues.add(node, episode, time_ns));
    }

    /// Hands on the times of all packets of a path.
    pub fn grow_path(&self, growth: &PathGrowth, time_ns: u64) {
        if !self.queue.put_path(growth, time_ns) {
            self.counts.dropped_reported(1);
        }
    }

    /// Hands on the packets of a path that came by the ends of segments.
    pub fn cross_path(&self, crossed: &PathCrossed, time_ns: u64) {
        if !self.queue.put_crossed(crossed, time_ns) {
            self.counts.dropped_reported(1);
        }
    }

    /// Hands on the present batch.
    pub fn flush(&mut self) {
        if self.batch.entries.is_empty() {
            return;
        }
        let batch = self.batch.take();
        let reports = batch.entries.len() as u64;
        if !self.queue.put(batch, self.patient) {
            self.counts.dropped(reports);
        }
    }
}

impl Clone for StoreKeeper {
    /// Returns an empty keeper for another thread.
    fn clone(&self) -> Self {
        Self::new(
            self.queue.clone(),
            self.counts.clone(),
            self.patient,
            self.clock,
        )
    }
}

impl Drop for StoreKeeper {
    fn drop(&mut self) {
        self.flush();
    }
}
