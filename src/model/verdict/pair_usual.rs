//! What is usual for the packets from one node to another, and whether figures are more than that.

use std::collections::HashMap;

use serde::Serialize;

use crate::model::{Figures, NodeId};

/// Latencies of fewer packets are not compared.
const LEAST_PACKETS: u64 = 500;
/// By how many lost packets more than usual is chance: this, and this number of times the root of the usual ones.
const CHANCE: (f64, f64) = (3.0, 4.0);

/// The usual of all classes of a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PairUsual {
    /// The usual share of lost packets, and the greatest that is not more than usual.
    pub loss: f64,
    pub most_loss: f64,
    /// The same of the p99 of latencies, ns; `None`: they are not judged.
    pub p99_ns: Option<(i64, i64)>,
    /// Latencies are without the difference of the clocks.
    pub is_corrected: bool,
}

/// What is usual by source and sink.
pub type PairUsuals = HashMap<(NodeId, NodeId), PairUsual>;

/// A pair's figures beside what is usual.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BesideUsual {
    pub loss: f64,
    /// More was lost than usual.
    pub more_lost: bool,
    /// `None`: latencies cannot be compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_ns: Option<i64>,
    /// The p99 is greater than usual.
    pub slower: bool,
}

impl PairUsual {
    /// Adds another class.
    pub fn join(&mut self, other: &Self) {
        self.loss = self.loss.max(other.loss);
        self.most_loss = self.most_loss.max(other.most_loss);
        let both = self.p99_ns.zip(other.p99_ns);
        let both = both.filter(|_| self.is_corrected == other.is_corrected);
        self.p99_ns = both.map(|(own, other)| own.max(other));
    }

    /// Compares figures of all packets; `None`: they are those of reports.
    pub fn compare(&self, figures: &Figures) -> Option<BesideUsual> {
        let shown = figures.shown();
        if shown.of_reports.is_some() {
            return None;
        }
        let expected = self.most_loss * shown.packets as f64;
        let latency = (shown.latency).filter(|latency| latency.samples >= LEAST_PACKETS);
        let is_corrected = (figures.measured).is_some_and(|of| of.corrected_latency().is_some());
        let usual = self.p99_ns.filter(|_| is_corrected == self.is_corrected);
        let p99_ns = latency.and_then(|latency| latency.p99_ns).zip(usual);
        Some(BesideUsual {
            loss: self.loss,
            more_lost: shown.lost as f64 > expected + CHANCE.0 + CHANCE.1 * expected.sqrt(),
            p99_ns: p99_ns.map(|(_, (usual_ns, _))| usual_ns),
            slower: p99_ns.is_some_and(|(now_ns, (_, most_ns))| now_ns > most_ns),
        })
    }
}
