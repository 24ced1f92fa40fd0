//! Sums of latencies without the difference of the two clocks, as it was known when the packets were counted.

use serde::Serialize;

use crate::model::LatencyHistogram;

/// Sums over the packets for which the clocks were known. They can be merged in any order.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ClockSums {
    pub packets: u64,
    /// The sum of the latencies as they are estimated.
    pub latency_ns: i64,
    /// The sum of the errors that most such estimates do not exceed.
    pub error_ns: u64,
    /// The sum of the true latencies is less than that by this at most, and more by `more_ns`.
    pub less_ns: u64,
    pub more_ns: u64,
}

impl ClockSums {
    pub fn merge(&mut self, other: &Self) {
        self.latency_ns = self.latency_ns.saturating_add(other.latency_ns);
        for (sum, more) in [
            (&mut self.packets, other.packets),
            (&mut self.error_ns, other.error_ns),
            (&mut self.less_ns, other.less_ns),
            (&mut self.more_ns, other.more_ns),
        ] {
            *sum = sum.saturating_add(more);
        }
    }

    /// By how much the sink's clock is ahead of the source's, and the error of that, if it is known of all packets whose
    /// latencies were stamped so.
    pub fn clocks_ns(&self, stamped: &LatencyHistogram) -> Option<(i64, u64)> {
        if self.packets == 0 || self.packets != stamped.samples() {
            return None;
        }
        let packets = i64::try_from(self.packets).unwrap_or(i64::MAX);
        let ahead_ns = stamped.sum_ns().saturating_sub(self.latency_ns) / packets;
        Some((ahead_ns, self.error_ns / self.packets))
    }

    /// The mean of these packets; `None` if the clocks were unknown for all.
    pub fn mean(&self) -> Option<CorrectedMean> {
        if self.packets == 0 {
            return None;
        }
        let of = |sum: u64| i64::try_from(sum.div_ceil(self.packets)).unwrap_or(i64::MAX);
        let packets = i64::try_from(self.packets).unwrap_or(i64::MAX);
        let mean = self.latency_ns.div_euclid(packets);
        // No packet takes a negative time.
        let low = mean.saturating_sub(of(self.less_ns)).max(0);
        let high = mean.saturating_add(of(self.more_ns)).max(low);
        Some(CorrectedMean {
            packets: self.packets,
            mean_ns: mean.clamp(low, high),
            error_ns: of(self.error_ns).unsigned_abs(),
            bound_ns: [low, high],
        })
    }
}

/// A mean latency without the difference of the clocks.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct CorrectedMean {
    /// The packets for which the clocks were known.
    pub packets: u64,
    /// The best estimate.
    pub mean_ns: i64,
    /// The error of most estimates is no greater.
    pub error_ns: u64,
    /// The least and the greatest that the true mean can be.
    pub bound_ns: [i64; 2],
}
