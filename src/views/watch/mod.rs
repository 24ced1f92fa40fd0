//! `hostint status --watch`: refreshes and keys become a state, and the state becomes a screen.

mod appearance;
mod area;
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
mod key_press;
mod keys;
mod paths;
mod peers;
mod plot;
mod postcard_rates;
mod postcards;
mod rates;
mod snapshot;
mod state;
mod tab;
mod table;
mod waterfall;
mod words;

pub use appearance::Appearance;
pub use columns::FlowColumn;
pub use histogram::{quantile, window};
pub use key_press::KeyPress;
pub use keys::Act;
pub use paths::SentPaths;
pub use rates::Rates;
pub use snapshot::HostSnapshot;
pub use state::Watch;
