//! What the hub knows besides the reports that it hands on, and what takes these.

use super::ReportHub;
use crate::collector::mx_join::MxCounts;
use crate::collector::{
    Coverage, Exporters, HostConnections, HostDrops, HostHops, HostQueues, Increments, NodeClocks,
};
use crate::model::{DropReasons, MxPairRow, PairTraffic, SegmentTally};

impl<T> ReportHub<T> {
    pub fn taker(&self) -> &T {
        &self.taker
    }

    pub fn taker_mut(&mut self) -> &mut T {
        &mut self.taker
    }

    /// The names of drop reasons.
    pub fn reasons(&self) -> &DropReasons {
        &self.reasons
    }

    pub fn exporters_mut(&mut self) -> &mut Exporters {
        &mut self.exporters
    }

    pub fn exporters(&self) -> &Exporters {
        &self.exporters
    }

    pub fn coverage_mut(&mut self) -> &mut Coverage {
        &mut self.coverage
    }

    pub fn coverage(&self) -> &Coverage {
        &self.coverage
    }

    pub fn traffic(&self) -> &PairTraffic {
        &self.traffic
    }

    pub fn drops(&self) -> &HostDrops {
        &self.drops
    }

    pub fn hops(&self) -> &HostHops {
        &self.hops
    }

    pub fn queues(&self) -> &HostQueues {
        &self.queues
    }

    pub fn connections(&self) -> &HostConnections {
        &self.connections
    }

    pub fn clocks(&self) -> &NodeClocks {
        &self.clocks
    }

    /// At most `most` segments of paths, those with most packets first.
    pub fn segment_rows(&mut self, most: usize) -> Vec<SegmentTally> {
        self.segments.rows(most)
    }

    /// How packets in INT-MX fared by pair, those with most reports that lack a hop first.
    pub fn mx_pairs(&self, most: usize) -> Vec<MxPairRow> {
        self.mx.pairs(most)
    }

    /// How packets in INT-MX fared.
    pub fn mx_counts(&self) -> MxCounts {
        self.mx.counts()
    }

    pub fn increments(&self) -> &Increments {
        &self.increments
    }
}
