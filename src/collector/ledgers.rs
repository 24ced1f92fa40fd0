//! What the hub knows besides the reports that it hands on: exporters, and what reports add up to.

use super::clocks::NodeClocks;
use super::coverage::Coverage;
use super::crossings::CrossingLedger;
use super::exporters::Exporters;
use super::host_connections::HostConnections;
use super::host_drops::HostDrops;
use super::host_passages::HostPassages;
use super::host_queues::HostQueues;
use super::increments::Increments;
use super::mx_join::MxJoin;
use super::option_hops::OptionHops;
use super::segments::Segments;
use super::slot_gatherer::SlotGatherer;
use crate::model::coverage::CoverageGrowth;
use crate::model::{
    Arrival, Body, ExporterHealth, Measured, PairTraffic, Report, SummarySubject, VerdictSlot,
};

/// The most sums of coverage that are kept each ten seconds: those with most packets.
const MOST_KEPT: usize = 1_000;

/// A ledger for each subject of reports.
#[derive(Debug, Default)]
pub struct Ledgers {
    pub exporters: Exporters,
    pub increments: Increments,
    pub coverage: Coverage,
    /// The sums of the classes of each pair.
    pub traffic: PairTraffic,
    pub drops: HostDrops,
    pub hops: HostPassages,
    pub queues: HostQueues,
    pub connections: HostConnections,
    pub clocks: NodeClocks,
    pub segments: Segments,
    pub crossings: CrossingLedger,
    pub option_hops: OptionHops,
    /// The packets in INT-MX.
    pub mx: MxJoin,
    /// What came since the last ten seconds were judged.
    pub slot: SlotGatherer,
}

impl Ledgers {
    /// Leaves packets out that hosts counted before this time: an earlier run of the collector may have counted them.
    pub fn start_at(&mut self, started_ns: u64) {
        self.increments.start_at(started_ns);
        self.coverage.start_at(started_ns);
        self.drops.start_at(started_ns);
        self.queues.start_at(started_ns);
        self.connections.start_at(started_ns);
    }

    /// Adds the packets that a summary adds to those that earlier ones reported, without the difference of the clocks as
    /// far as it was known until `until_ns`. Summaries of flows are about packets that those of classes have, too.
    pub fn add_measured(
        &mut self,
        report: &Report,
        measured: &mut Measured,
        class: Option<&str>,
        (arrival, until_ns): (Arrival, u64),
    ) {
        let observation = &report.observation;
        self.coverage
            .measured(report, measured, arrival.received_ns);
        (self.clocks).correct_measured(observation, measured, until_ns);
        let Body::Summary(summary) = &observation.body else {
            return;
        };
        if let SummarySubject::Group { class } = &summary.subject {
            let pair = (summary.source_node, summary.sink_node);
            self.traffic.add(pair, class.as_deref(), measured);
        }
        self.slot.add_summary(summary, class, measured);
    }

    /// Ends the slot of ten seconds. The coverage that it has is for the history, too.
    pub fn take_slot(
        &mut self,
        now_ns: u64,
        exporters: &[ExporterHealth],
    ) -> (VerdictSlot, Vec<CoverageGrowth>) {
        let grown = self.coverage.take_growth(MOST_KEPT);
        let sums = self.exporters.counts();
        let reports = (sums.reports, sums.numbers.lost);
        let mut slot = self.slot.take(now_ns, exporters, &grown, reports);
        let clocks = &self.clocks;
        (self.slot).see_clocks(&mut slot, |node| clocks.steps(node));
        (slot, grown)
    }
}
