//! What the hub knows besides the reports that it hands on: exporters, and what reports add up to.

use super::clocks::NodeClocks;
use super::mx_join::MxJoin;
use super::segments::Segments;
use super::{
    Coverage, CrossingLedger, Exporters, HostConnections, HostDrops, HostPassages, HostQueues,
    Increments, OptionHops,
};
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
