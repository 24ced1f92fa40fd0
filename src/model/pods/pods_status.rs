//! How far a collector knows the pods of a cluster.

use serde::Serialize;

/// What the API server said so far.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct PodsStatus {
    /// The pods that are there.
    pub named: u64,
    /// The last time at which the server said something; 0: never.
    pub told_ns: u64,
    /// Why it cannot be asked, if it cannot.
    pub trouble: Option<String>,
}
