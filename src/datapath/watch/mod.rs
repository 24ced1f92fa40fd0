//! The watchlist: rules, compiled for the kernel half, and live there.

mod classes;
mod compile;
mod list;
mod places;

pub use compile::{CompiledWatchlist, TooComplex, compile};
pub use list::{Watchlist, adopt};
pub use places::WatchPlace;
