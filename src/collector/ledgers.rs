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
use crate::model::PairTraffic;

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
}
