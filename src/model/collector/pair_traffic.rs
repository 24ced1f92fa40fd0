//! The traffic of pairs of nodes and of classes, as a collector sums it, for its metrics.

use std::collections::BTreeMap;

use crate::model::{ClockSums, Measured, NodeId, Traffic, power_of};

/// The most pairs and classes with sums of their own; all others share one sum of each. A pair has some 30 series.
pub const MOST_METRIC_PAIRS: usize = 1024;
pub const MOST_METRIC_CLASSES: usize = 256;

/// All packets that sinks told of since the collector started.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PairTraffic {
    /// By source and sink.
    pub pairs: BTreeMap<(NodeId, NodeId), Traffic>,
    /// Of these pairs, the packets for which the clocks were known.
    pub corrected: BTreeMap<(NodeId, NodeId), CorrectedTraffic>,
    pub other_pairs: Option<Traffic>,
    pub classes: BTreeMap<Box<str>, Traffic>,
    pub other_classes: Option<Traffic>,
}

/// Sums of latencies without the difference of the clocks. They only grow.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct CorrectedTraffic {
    pub packets: u64,
    pub latency_ns: u64,
    pub error_ns: u64,
    /// The true sum is no less than the first, and no more than the second.
    pub bound_ns: [u64; 2],
}

impl CorrectedTraffic {
    fn add(&mut self, added: &ClockSums) {
        let latency_ns = added.latency_ns.max(0).unsigned_abs();
        let [low_ns, high_ns] = &mut self.bound_ns;
        for (sum, more) in [
            (&mut self.packets, added.packets),
            (&mut self.latency_ns, latency_ns),
            (&mut self.error_ns, added.error_ns),
            (low_ns, latency_ns.saturating_sub(added.less_ns)),
            (high_ns, latency_ns.saturating_add(added.more_ns)),
        ] {
            *sum = sum.saturating_add(more);
        }
    }
}

impl PairTraffic {
    /// Adds the packets of a class, or of flows without one, from a source node.
    pub fn add(&mut self, pair: (NodeId, NodeId), class: Option<&str>, added: &Measured) {
        let has_room = self.pairs.len() < MOST_METRIC_PAIRS || self.pairs.contains_key(&pair);
        let sums = match has_room {
            true => self.pairs.entry(pair).or_default(),
            false => self.other_pairs.get_or_insert_default(),
        };
        sums.add_measured(added);
        if has_room && added.corrected.packets > 0 {
            self.corrected
                .entry(pair)
                .or_default()
                .add(&added.corrected);
        }
        let Some(class) = class else {
            return;
        };
        let known = self.classes.contains_key(class);
        let sums = match known || self.classes.len() < MOST_METRIC_CLASSES {
            true => self.classes.entry(class.into()).or_default(),
            false => self.other_classes.get_or_insert_default(),
        };
        sums.add_measured(added);
    }
}

impl Traffic {
    fn add_measured(&mut self, added: &Measured) {
        self.packets += added.packets;
        self.bytes += added.bytes;
        self.lost += added.lost;
        self.recovered += added.recovered;
        self.reordered += added.reordered;
        self.duplicates += added.duplicates;
        self.latency_sum_ns += u64::try_from(added.latency.sum_ns()).unwrap_or(0);
        for (bound_ns, count) in added.latency.counts() {
            self.histogram[power_of(bound_ns)] += count;
        }
    }
}
