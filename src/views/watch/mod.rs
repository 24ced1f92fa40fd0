//! `hostint status --watch`: refreshes and keys become a state, and the state becomes a screen.

mod columns;
mod counters;
mod cursor;
mod detail;
mod draw;
mod filter;
mod flows;
mod header;
mod histogram;
mod history;
mod keys;
mod look;
mod peers;
mod plot;
mod state;
mod table;
mod words;

pub use columns::Column;
pub use flows::Rates;
pub use histogram::{quantile, window};
pub use keys::{Act, Key};
pub use look::Look;
pub use state::{Snapshot, Watch};
