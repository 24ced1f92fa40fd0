//! The clock of a host, as its status shows it.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::model::interned_name::{self, InternedName};

/// The clock that stamps packets.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ClockStatus {
    /// `tai`: the kernel's TAI clock; `realtime`: its monotonic clock plus an offset.
    #[serde(deserialize_with = "interned_name::one")]
    pub source: InternedName,
    /// The offset that is added to that clock's reading to get the time since the Unix epoch.
    pub offset_ns: i64,
    /// The kernel reports that its clock is synchronised to UTC.
    pub synchronised: bool,
    /// The clock is off by no more than this, according to the operator or the time daemon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated_error_ns: Option<NonZeroU32>,
}
