//! The thread that reads metrics in intervals and encodes them for all receivers.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Instant;

use super::fifo::SnapshotFifo;
use super::receiver::{Push, PushTimes};
use crate::engines::clock::now_ns;
use crate::model::metrics::{MetricFamily, Snapshot};

/// The thread rests for this many times the time that reading took, so that reading takes a tenth of the time at most.
const REST: u32 = 10;

/// The least time between two snapshots: receivers count time in milliseconds.
const STEP_NS: u64 = 1_000_000;

pub(super) struct MetricsReader<F> {
    pub(super) read: F,
    pub(super) times: PushTimes,
    pub(super) ways: Vec<(Arc<dyn Push>, QueueInput)>,
    pub(super) warn: fn(&str),
    /// Receives a message at the end. It is closed if the metrics are not needed any more.
    pub(super) end: Receiver<()>,
    /// Closed when the thread ends, even by a panic.
    pub(super) _ending: Sender<()>,
}

/// The filling end of a queue. Dropping it closes the queue.
pub(super) struct QueueInput(pub(super) Arc<SnapshotFifo>);

impl Drop for QueueInput {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl<F: FnMut() -> Result<Vec<MetricFamily>, String>> MetricsReader<F> {
    /// Reads at once, in each interval, and once more when the end is announced.
    pub(super) fn run(mut self) {
        let (mut due, mut before_ns, mut failed) = (Instant::now(), 0, false);
        loop {
            let left = due.saturating_duration_since(Instant::now());
            let end = self.end.recv_timeout(left);
            if end == Err(RecvTimeoutError::Disconnected) {
                return;
            }
            let begin = Instant::now();
            match (self.read)() {
                Ok(families) => {
                    failed = false;
                    // A clock may be set back, but the samples of a series must not go back in time.
                    before_ns = now_ns().max(before_ns + STEP_NS);
                    self.put(&Snapshot {
                        time_ns: before_ns,
                        since_ns: self.times.since_ns,
                        families,
                    });
                }
                Err(why) => {
                    if !std::mem::replace(&mut failed, true) {
                        (self.warn)(&format!("no metrics are pushed: {why}"));
                    }
                }
            }
            if end.is_ok() {
                return;
            }
            due = (begin + self.times.interval).max(Instant::now() + begin.elapsed() * REST);
        }
    }

    fn put(&self, snapshot: &Snapshot) {
        for (push, queue) in &self.ways {
            match push.encode(snapshot) {
                Ok(encoded) => queue.0.put(encoded),
                Err(why) => (self.warn)(&format!("{}: {why}", push.name())),
            }
        }
    }
}
