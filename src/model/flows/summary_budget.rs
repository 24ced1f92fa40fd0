//! The budget of a sink's summaries: how often they come, and how many at most.

use serde::{Deserialize, Serialize};

/// What the sink's daemon may spend on summaries.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Deserialize, Serialize)]
pub struct SummaryBudget {
    /// 0: there are no summaries, or there is no collector for them.
    pub period_ns: u64,
    /// The last period, which is longer if source nodes and classes are more than it has room for; 0 before the first.
    pub last_period_ns: u64,
    /// The most summaries in a second.
    pub most_per_s: u32,
}
