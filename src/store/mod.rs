//! The collector's history: reports and roll-ups in one SQLite file.

/// What a collector sees of hosts is in its store after this time at most, if the disk keeps up.
pub const HOSTS_LAG_NS: u64 = 20_000_000_000;

mod bases;
mod batch;
mod beside_int;
mod bounds;
mod clock;
mod coding;
mod connection_answers;
mod connections;
mod counts;
mod coverage;
mod drop_answers;
mod drops;
mod evidence;
mod file;
mod flows;
mod gathered_paths;
mod gatherer;
mod hops;
mod hosts;
mod ids;
mod insertion;
mod keeper;
mod numbers;
mod path_losses;
mod path_queues;
mod path_tails;
mod paths;
mod period;
mod plan;
mod queue;
mod reader;
mod retention;
mod rollups;
mod rows;
mod schema;
mod single_reports;
mod sums;
mod told;
mod totals;
mod tracked_flows;
mod writer;

pub use coding::{exporter_bytes, exporter_of};
pub use counts::StoreCounts;
pub use evidence::{Decode, Evidence};
pub use file::StoreError;
pub use hosts::called;
pub use ids::{name_bytes, name_of};
pub use keeper::StoreKeeper;
pub use numbers::SequenceNumbers;
pub use reader::HistoryReader;
pub use retention::StoreLimits;
pub use schema::SCHEMA_VERSION;
pub use writer::{OpenedStore, Store, StoreSettings};
