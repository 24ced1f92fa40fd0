//! Keeps leases: when which sink is asked, and what its answers mean.

mod keeper;
mod nodes;

pub use keeper::{Asked, Keeper, Ours, Received, Tagging};
