//! A host as one refresh found it.

use std::time::Duration;

use super::paths::SentPaths;
use crate::model::{FlowStatus, HostStatus, PathStatus};

/// The state of a host at one time.
#[derive(Clone, Debug)]
pub struct HostSnapshot {
    pub status: HostStatus,
    /// A time by a clock that never steps.
    pub at: Duration,
    /// The time since the Unix epoch.
    pub wall_ns: u64,
    /// What a history says of the paths that were [asked for](super::Watch::asked_paths).
    pub told: Option<SentPaths>,
}

/// The paths to its sink.
pub fn paths_of(status: &HostStatus) -> &[PathStatus] {
    status.sink.as_ref().map_or(&[], |sink| &sink.paths)
}

/// The flows of its sink.
pub fn flows_of(status: &HostStatus) -> &[FlowStatus] {
    status.sink.as_ref().map_or(&[], |sink| &sink.flows)
}
