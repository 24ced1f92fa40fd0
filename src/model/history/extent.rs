//! The extent of a store.

use serde::Serialize;

/// The extent of a store.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct Extent {
    /// Times of the oldest and the newest report; 0 if there are none.
    pub first_ns: u64,
    pub last_ns: u64,
    /// Reports that are kept singly.
    pub reports: u64,
    pub flows: u64,
    pub bytes: u64,
    /// Reports that are only in the roll-ups, because there was no time to write them singly.
    pub rolled_up_only: u64,
    /// The approximate time of the last report that is only in the roll-ups; 0 if there is none.
    pub rolled_up_only_ns: u64,
}
