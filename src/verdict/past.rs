//! What a history has of the past: what is usual at an hour of the day, and the last hours.

use std::collections::HashMap;

use crate::model::{HOUR_NS, LatencyHistogram, NodeId, UsualFigures};

/// The days whose same hour is looked at.
pub const DAYS: u64 = 7;

/// A pair of nodes, source and sink.
pub type SourceToSink = (NodeId, NodeId);

/// What is usual for a pair at an hour of the day.
#[derive(Clone, Copy, Debug, Default)]
pub struct HourUsual {
    pub figures: UsualFigures,
    /// The share of packets that are slower than the slowest usual ones.
    pub above: f64,
}

impl HourUsual {
    /// True if a whole week of days says so.
    pub fn is_of_a_week(&self) -> bool {
        u64::from(self.figures.days) >= DAYS
    }
}

/// What the last hours had of a pair.
#[derive(Clone, Debug, Default)]
pub struct LastHours {
    pub sent: u64,
    pub lost: u64,
    pub hours: u32,
    /// The latencies without the difference of the clocks.
    pub latency: LatencyHistogram,
}

/// What a history has of the past.
#[derive(Debug, Default)]
pub struct KnownPast {
    /// The begins of hours, and what is usual then.
    pub hours: Vec<(u64, HashMap<SourceToSink, HourUsual>)>,
    pub last: HashMap<SourceToSink, LastHours>,
}

/// The begin of the hour of a time.
pub fn hour_of(time_ns: u64) -> u64 {
    time_ns - time_ns % HOUR_NS
}
