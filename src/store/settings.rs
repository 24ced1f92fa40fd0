//! The settings of a store.

use std::path::PathBuf;

use super::clock::ReadClock;
use super::retention::StoreLimits;

/// The settings of a store.
#[derive(Clone, Debug)]
pub struct StoreSettings {
    pub path: PathBuf,
    pub limits: StoreLimits,
    /// The most bytes of reports that wait to be written.
    pub queue_bytes: usize,
    /// The most flows that are tracked at a time.
    pub most_flows: usize,
    /// Reports come from a file: they wait for the store, and their own times decide which rows are old, but none that is
    /// ahead of the clock.
    pub from_file: bool,
    pub clock: ReadClock,
}
