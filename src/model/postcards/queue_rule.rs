//! What is asked of a queue: when an episode begins and ends, and how many of its packets are reported.

use serde::{Deserialize, Serialize};

use crate::model::name_pattern::{covers, is_pattern};

/// The measure of a trigger and a reset.
#[derive(
    Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd, Deserialize, Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum QueueMeasure {
    /// The nanoseconds that a packet was in the queue.
    #[default]
    Time,
    /// The bytes in the queue.
    Bytes,
}

impl QueueMeasure {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Bytes => "bytes",
        }
    }
}

/// When an episode begins and ends, and the packets of it that are reported.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Deserialize, Serialize)]
pub struct QueueLimits {
    pub measure: QueueMeasure,
    /// An episode begins with a packet that has as much or more.
    pub trigger: u64,
    /// It ends below this.
    pub reset: u64,
    /// At most as many of its packets are reported.
    pub quota: u32,
}

/// The queues of some interfaces, and what is asked of them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct QueueRule {
    /// The name of an interface, or a pattern of names.
    pub dev: String,
    /// The number of a tx queue; `None`: all that have no rule of their own.
    pub queue: Option<u32>,
    pub limits: QueueLimits,
}

impl QueueRule {
    pub fn covers(&self, name: &str) -> bool {
        covers(&self.dev, name)
    }

    pub fn names_one(&self) -> bool {
        !is_pattern(&self.dev)
    }
}
