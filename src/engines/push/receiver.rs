//! A receiver of metrics: what it is given, and how often.

use std::time::Duration;

use crate::engines::{Accepted, Trouble};
use crate::model::EngineUnit;
use crate::model::metrics::Snapshot;

/// A receiver of metrics.
pub trait Push: Send + Sync {
    /// Returns its kind, for logs and counts.
    fn name(&self) -> &'static str;

    /// Returns its address, without secrets.
    fn destination(&self) -> String;

    /// Returns the unit of its counts.
    fn unit(&self) -> EngineUnit;

    /// Encodes a snapshot for sending.
    ///
    /// # Errors
    /// The snapshot cannot be encoded.
    fn encode(&self, snapshot: &Snapshot) -> Result<Encoded, String>;

    /// Delivers a snapshot, as [`crate::engines::Engine::deliver`] delivers reports.
    ///
    /// # Errors
    /// The receiver does not have the snapshot.
    fn deliver(&self, body: &[u8]) -> Result<Accepted, Trouble>;

    /// Returns the pause that the receiver asks for after [`Trouble::Later`].
    fn rest(&self) -> Duration;
}

/// A snapshot, ready to be sent.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Encoded {
    pub body: Vec<u8>,
    /// The number of points or samples in it.
    pub units: usize,
}

/// The most bytes and snapshots that wait for a receiver.
#[derive(Clone, Copy, Debug)]
pub struct PushLimits {
    pub bytes: usize,
    pub snapshots: usize,
}

/// The times of metrics.
#[derive(Clone, Copy, Debug)]
pub struct PushTimes {
    pub interval: Duration,
    /// The beginning of their counts, ns since the Unix epoch.
    pub since_ns: u64,
}
