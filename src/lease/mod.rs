//! Keeps leases: when which sink is asked, and what its answers mean.

mod keeper;
mod nodes;
mod offsets;
mod verdict;

pub use keeper::{Asked, Keeper, Received, Taken};
pub use verdict::{Ours, Tagging};
