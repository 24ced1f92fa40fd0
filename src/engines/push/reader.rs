//! The thread that reads metrics, time and again, and has them encoded for all receivers.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Instant;

use super::queue::Queue;
use super::{Push, Times};
use crate::engines::clock::now_ns;
use crate::model::metrics::{MetricFamily, Snapshot};

/// It rests for so many times as long as reading took: reading costs a tenth of the time at most.
const REST: u32 = 10;

/// Snapshots that follow each other differ by so much at least: receivers tell time in milliseconds.
const STEP_NS: u64 = 1_000_000;

pub(super) struct Reader<F> {
    pub(super) read: F,
    pub(super) times: Times,
    pub(super) ways: Vec<(Arc<dyn Push>, Filled)>,
    pub(super) tell: fn(&str),
    /// Told when the end has come; closed when nobody cares any more.
    pub(super) end: Receiver<()>,
    /// Closed when the thread ends, whatever ends it.
    pub(super) _ending: Sender<()>,
}

/// Closed when nobody fills it any more.
pub(super) struct Filled(pub(super) Arc<Queue>);

impl Drop for Filled {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl<F: FnMut() -> Result<Vec<MetricFamily>, String>> Reader<F> {
    /// Reads at once, in each interval, and at the end if that is told.
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
                    // Clocks are set back; the samples of a series never go back in time.
                    before_ns = now_ns().max(before_ns + STEP_NS);
                    self.put(&Snapshot {
                        time_ns: before_ns,
                        since_ns: self.times.since_ns,
                        families,
                    });
                }
                Err(why) => {
                    if !std::mem::replace(&mut failed, true) {
                        (self.tell)(&format!("no metrics are pushed: {why}"));
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
                Err(why) => (self.tell)(&format!("{}: {why}", push.name())),
            }
        }
    }
}
