//! The counters that a status shows.

use serde::{Deserialize, Serialize};

use crate::model::interned_name::{self, InternedName};

/// One counter of the kernel programs.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct CounterStatus {
    #[serde(deserialize_with = "interned_name::one")]
    pub name: InternedName,
    #[serde(deserialize_with = "interned_name::one")]
    pub text: InternedName,
    pub packets: u64,
    pub bytes: u64,
}

/// One counter of the daemon.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct DaemonCounter {
    #[serde(deserialize_with = "interned_name::one")]
    pub name: InternedName,
    #[serde(deserialize_with = "interned_name::one")]
    pub text: InternedName,
    pub value: u64,
}
