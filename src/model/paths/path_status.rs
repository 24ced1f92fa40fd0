//! The paths over transit hops on which packets came to a sink, as `hostint status` shows them.

use serde::{Deserialize, Serialize};

use crate::model::{NodePort, PassageTimes, Path, PathHop};

/// A path, and the times of all its packets since the sink knows it.
#[derive(Clone, Debug, Eq, PartialEq, Deserialize, Serialize)]
pub struct PathStatus {
    pub source: NodePort,
    /// In the order of the way.
    pub hops: Vec<PathHop>,
    pub sink: NodePort,
    /// Arrival of the first and of the last packet, in ns since the Unix epoch.
    pub first_ns: u64,
    pub last_ns: u64,
    /// From source to sink, by the stamps of two clocks.
    pub whole: PassageTimes,
    /// Of each segment in the order of the way; without packets where no hop told its time.
    pub segments: Vec<PassageTimes>,
}

impl PathStatus {
    pub fn path(&self) -> Path {
        Path {
            source: self.source,
            hops: self.hops.clone(),
            sink: self.sink,
        }
    }
}
