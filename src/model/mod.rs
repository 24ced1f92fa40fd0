//! The nouns of hostint: pure values, without I/O and without clocks.
//!
//! Each folder names its own nouns, and all of them are found here: `crate::model::Prefix`.

mod basics;
mod clocks;
mod collector;
mod flows;
mod history;
mod host;
mod latency;
mod leases;
mod packets;
mod paths;
mod pods;
mod postcards;
mod reports;
mod tcp;
mod verdict;
mod watchlist;

pub use basics::*;
pub use clocks::*;
pub use collector::*;
pub use flows::*;
pub use history::*;
pub use host::*;
pub use latency::*;
pub use leases::*;
pub use packets::*;
pub use paths::*;
pub use pods::*;
pub use postcards::*;
pub use reports::*;
pub use tcp::*;
pub use verdict::*;
pub use watchlist::*;
