//! The watchlist: rules, compiled for the kernel half, and live there.

mod classes;
mod compile;
mod list;
mod places;

pub use compile::{CompiledWatchlist, TooComplex, WatchPlace, compile};
pub use list::{MAPS, Watchlist, adopt};
