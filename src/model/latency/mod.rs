//! Distributions of latencies: histograms, their resolution and their bytes.

mod latency_code;
mod latency_figures;
pub(super) mod latency_histogram;
mod latency_resolution;
mod wide_slots;

pub use latency_code::{BadHistogram, DistributionRecord};
pub use latency_figures::LatencyFigures;
pub use latency_histogram::{LatencyHistogram, SlotRange};
pub use latency_resolution::LatencyResolution;
pub use wide_slots::WideSlots;
