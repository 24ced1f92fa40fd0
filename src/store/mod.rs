//! The collector's history: reports and roll-ups in one SQLite file.

mod clock;
mod coded;
mod file;
mod flows;
mod followed;
mod gather;
mod ids;
mod keeper;
mod numbers;
mod period;
mod place;
mod plan;
mod queue;
mod reader;
mod retention;
mod rollups;
mod single;
mod sums;
mod totals;
mod writer;

pub use coded::{exporter_bytes, exporter_of};
pub use file::{SCHEMA_VERSION, StoreError};
pub use ids::{name_bytes, name_of};
pub use keeper::{Keeper, StoreCounts};
pub use numbers::Numbers;
pub use reader::{Decode, Evidence, Reader};
pub use retention::Limits;
pub use writer::{Opened, Settings, Store};
