//! A place that is named as a cause.

use super::likelihood::{Border, PacketSums};
use super::places::RELEASE;
use crate::model::CauseMetric;

/// How a place explains bad packets.
#[derive(Clone, Debug)]
pub struct Explanation {
    pub place: usize,
    /// Only some flows there are bad.
    pub some_flows: bool,
    /// How much more likely the packets are with it than without, as a logarithm.
    pub gain: f64,
    /// What it adds to the share of lost, and of slow packets.
    pub loss: f64,
    pub slow: f64,
    /// The cells that it explains, and those of them that show it themselves.
    pub cells: Vec<usize>,
    pub own: Vec<usize>,
    /// Other places that explain as much, or nearly, with what they lack.
    pub others: Vec<(usize, f64)>,
}

impl Explanation {
    /// What a cell's packets say for it.
    pub fn gain_of(&self, packets: &PacketSums, border: &Border) -> f64 {
        let mut gain = 0.0;
        if self.loss > 0.0 {
            gain += packets.loss_gain(border, self.loss);
        }
        if self.slow > 0.0 {
            gain += packets.slow_gain(border, self.slow);
        }
        gain
    }

    pub fn metrics(&self) -> Vec<CauseMetric> {
        let of = [
            (self.loss > 0.0, CauseMetric::Loss),
            (self.slow > 0.0, CauseMetric::Latency),
        ];
        let found = of.into_iter().filter(|(is_bad, _)| *is_bad);
        found.map(|(_, metric)| metric).collect()
    }
}

/// A cause stays named until its evidence is less.
pub fn is_over(evidence: f64) -> bool {
    evidence < RELEASE
}
