//! The FIFO of snapshots that wait for a receiver of metrics, oldest first.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::receiver::{Encoded, PushLimits};
use crate::engines::counts::DeliveryCounts;

pub(super) struct SnapshotFifo {
    counts: Arc<DeliveryCounts>,
    limits: PushLimits,
    waiting: Mutex<Waiting>,
    news: Condvar,
}

#[derive(Default)]
struct Waiting {
    snapshots: VecDeque<Encoded>,
    bytes: usize,
    closed: bool,
}

impl SnapshotFifo {
    pub(super) fn new(counts: Arc<DeliveryCounts>, limits: PushLimits) -> Self {
        Self {
            counts,
            limits,
            waiting: Mutex::default(),
            news: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a snapshot. If there is no room, the oldest ones are dropped, which a receiver might find too old anyway.
    pub(super) fn put(&self, snapshot: Encoded) {
        let mut waiting = self.lock();
        self.counts
            .take(snapshot.units, snapshot.body.len(), usize::MAX);
        waiting.bytes += snapshot.body.len();
        waiting.snapshots.push_back(snapshot);
        let PushLimits { bytes, snapshots } = self.limits;
        while waiting.snapshots.len() > 1
            && (waiting.bytes > bytes || waiting.snapshots.len() > snapshots)
        {
            if let Some(oldest) = waiting.snapshots.pop_front() {
                waiting.bytes -= oldest.body.len();
                self.counts.evicted(oldest.units, oldest.body.len());
            }
        }
        self.news.notify_one();
    }

    /// Closes the queue: no more snapshots will come.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.news.notify_one();
    }

    /// Waits for the next snapshot. Returns `None` once the queue is closed and empty.
    pub(super) fn next(&self) -> Option<Encoded> {
        let mut waiting = self.lock();
        loop {
            if let Some(oldest) = waiting.snapshots.pop_front() {
                waiting.bytes -= oldest.body.len();
                return Some(oldest);
            }
            if waiting.closed {
                return None;
            }
            waiting = self
                .news
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}
