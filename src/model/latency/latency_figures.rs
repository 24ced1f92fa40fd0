//! The figures of a histogram of latencies.

use serde::Serialize;

use crate::model::LatencyHistogram;

/// Latency figures. Quantiles are upper bounds of their histogram slots; `None` if they are among negative latencies
/// that share one slot.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct LatencyFigures {
    pub samples: u64,
    pub min_ns: i64,
    pub mean_ns: i64,
    pub p50_ns: Option<i64>,
    pub p90_ns: Option<i64>,
    pub p99_ns: Option<i64>,
    pub max_ns: i64,
    /// p99 - p50
    pub jitter_ns: Option<i64>,
}

impl LatencyFigures {
    /// The same latencies if their mean were this one: without the difference of two clocks.
    pub fn shifted_to(self, mean_ns: i64) -> Self {
        let ahead_ns = self.mean_ns.saturating_sub(mean_ns);
        // No packet takes a negative time.
        let shifted = |ns: i64| ns.saturating_sub(ahead_ns).max(0);
        Self {
            samples: self.samples,
            min_ns: shifted(self.min_ns),
            mean_ns,
            p50_ns: self.p50_ns.map(shifted),
            p90_ns: self.p90_ns.map(shifted),
            p99_ns: self.p99_ns.map(shifted),
            max_ns: shifted(self.max_ns),
            jitter_ns: self.jitter_ns,
        }
    }
}

impl LatencyHistogram {
    /// `None` if there are no values.
    pub fn figures(&self) -> Option<LatencyFigures> {
        if self.is_empty() {
            return None;
        }
        let (p50_ns, p99_ns) = (self.quantile(0.5), self.quantile(0.99));
        Some(LatencyFigures {
            samples: self.samples,
            min_ns: self.min,
            mean_ns: (self.sum / i128::from(self.samples.max(1))) as i64,
            p50_ns,
            p90_ns: self.quantile(0.9),
            p99_ns,
            max_ns: self.max,
            jitter_ns: p99_ns.zip(p50_ns).map(|(p99, p50)| p99.saturating_sub(p50)),
        })
    }
}
