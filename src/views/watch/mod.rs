//! `hostint status --watch`: refreshes and keys become a state, and the state becomes a screen.

mod appearance;
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
mod paths;
mod peers;
mod plot;
mod postcards;
mod state;
mod table;
mod waterfall;
mod words;

pub use appearance::Appearance;
pub use columns::FlowColumn;
pub use flows::Rates;
pub use histogram::{quantile, window};
pub use keys::{Act, KeyPress};
pub use paths::SentPaths;
pub use state::{HostSnapshot, Watch};
