//! Leases: when each sink is asked for one, and whether its answers grant it.

mod keeper;
mod nodes;
mod offsets;
mod peer;
mod verdict;

pub use keeper::{AnswerTime, LeaseKeeper, LeaseUpdate, OutgoingQuestion};
pub use verdict::{OwnTagging, Tagging};
