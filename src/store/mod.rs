//! The collector's history: reports and roll-ups in one SQLite file.

mod clock;
mod coded;
mod file;
mod flows;
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

pub use file::{SCHEMA_VERSION, StoreError};
pub use keeper::{Keeper, StoreCounts};
pub use numbers::Numbers;
pub use reader::{Decode, Evidence, Reader};
pub use retention::Limits;
pub use writer::{Opened, Settings, Store};
