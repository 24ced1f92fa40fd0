//! The state of an engine, to which a collector hands its reports: a message broker, a database, another collector.

use serde::Serialize;

/// The unit that an engine counts in.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EngineUnit {
    #[default]
    Reports,
    /// OTLP data points: a metric's value, or a histogram.
    Points,
}

impl EngineUnit {
    pub fn name(self) -> &'static str {
        match self {
            Self::Reports => "reports",
            Self::Points => "points",
        }
    }
}

/// Counts since the collector started. Every report (or other `unit`) that was to go to the engine is in exactly one of
/// `delivered`, `queue_drops`, `refused`, `abandoned` and `waiting`.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct EngineStatus {
    /// The engine's kind, named like its option: `kafka`.
    pub engine: &'static str,
    pub destination: String,
    pub unit: EngineUnit,
    /// Reports that the engine has acknowledged.
    pub delivered: u64,
    /// Reports dropped because the queue to the engine was full.
    pub queue_drops: u64,
    /// Reports that the engine refuses however often they are sent.
    pub refused: u64,
    /// Reports still undelivered when the collector ended.
    pub abandoned: u64,
    /// Reports that wait for delivery.
    pub waiting: u64,
    /// Deliveries that failed and were repeated.
    pub retries: u64,
    /// Why the last delivery failed, if it did.
    pub trouble: Option<String>,
    /// The time of the first failure of this outage, ns since the Unix epoch.
    pub trouble_since_ns: Option<u64>,
}

impl EngineStatus {
    /// Reports that the engine will never get.
    pub fn lost(&self) -> u64 {
        self.queue_drops + self.refused + self.abandoned
    }
}
