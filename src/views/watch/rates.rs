//! The figures of a flow over one interval.

/// A flow's rates between two refreshes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    pub packets_s: f64,
    pub lost_s: f64,
    /// The share of sent packets that were lost; `None` if none was sent.
    pub loss: Option<f64>,
    pub p50_ns: Option<i64>,
    pub p99_ns: Option<i64>,
}
