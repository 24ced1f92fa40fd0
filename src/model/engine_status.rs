//! What became of reports that a collector hands on to an engine: a message broker, a database, another collector.

use serde::Serialize;

/// What an engine's counts count.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EngineUnit {
    #[default]
    Reports,
    /// Data points of OTLP: a value of a metric, or a histogram.
    Points,
    /// Samples of Prometheus: a value of a series, of which a histogram has many.
    Samples,
}

impl EngineUnit {
    pub fn name(self) -> &'static str {
        match self {
            Self::Reports => "reports",
            Self::Points => "points",
            Self::Samples => "samples",
        }
    }
}

/// Counts since the collector began. Every report (or what else `unit` says) that was to go to the engine is in exactly
/// one of `delivered`, `queue_drops`, `refused`, `abandoned` and `waiting`.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct EngineStatus {
    /// Its kind, as in the option that names it: `kafka`.
    pub engine: &'static str,
    pub destination: String,
    pub unit: EngineUnit,
    /// Reports that the engine has acknowledged.
    pub delivered: u64,
    /// Reports that found the queue to it full.
    pub queue_drops: u64,
    /// Reports that it does not want, however often they come.
    pub refused: u64,
    /// Reports that were still to be delivered when the collector ended.
    pub abandoned: u64,
    /// Reports that wait for it.
    pub waiting: u64,
    /// Deliveries that failed and were tried again.
    pub retries: u64,
    /// Why nothing can be delivered at present.
    pub trouble: Option<String>,
    /// When that began, ns since the Unix epoch.
    pub trouble_since_ns: Option<u64>,
}

impl EngineStatus {
    /// Reports that it will never have.
    pub fn lost(&self) -> u64 {
        self.queue_drops + self.refused + self.abandoned
    }
}
