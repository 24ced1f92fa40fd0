//! The growth of a host's counters in the last minute, by which old troubles are told from present ones.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What each counter grew by. Counters that did not grow are left out.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct RecentCounts {
    /// The time that this is the growth of.
    pub seconds: u64,
    pub source: BTreeMap<String, u64>,
    pub sink: BTreeMap<String, u64>,
    /// Those of the daemon itself.
    pub daemon: BTreeMap<String, u64>,
}
