//! A collector: its counts, its engines, the hosts that it knows, and what it sums for metrics.

mod batch;
mod collect_status;
mod collector_state;
mod engine_status;
pub mod hosts;
pub mod metrics;
mod mx_pairs;
mod pair_traffic;
mod reported_totals;

pub use batch::is_whole_batch;
pub use collect_status::{COLLECT_SCHEMA, CollectStatus, ExporterHealth, NameOrigin};
pub use collector_state::CollectorState;
pub use engine_status::{EngineStatus, EngineUnit};
pub use hosts::{HostSeen, HostsReporting, SilentHost};
pub use mx_pairs::{MxMissingHop, MxPairRow};
pub use pair_traffic::{CorrectedTraffic, MOST_METRIC_CLASSES, MOST_METRIC_PAIRS, PairTraffic};
pub use reported_totals::ReportedTotals;
