//! The watchlist: its rules are compiled, and stored in the kernel.

mod classes;
mod compile;
mod list;
mod places;

pub use compile::{CompiledWatchlist, TooComplex, compile};
pub(super) use list::watchlist_of;
pub use list::{Watchlist, adopt};
pub use places::WatchPlace;
