//! The watchlist: its rules are compiled, and stored in the kernel.

mod classes;
mod compile;
mod list;
mod places;

pub use compile::{CompiledWatchlist, TooComplex, compile};
pub use list::{Watchlist, adopt, make_room};
pub(super) use list::{room_for, size_watchlist, watchlist_of};
pub use places::WatchPlace;
