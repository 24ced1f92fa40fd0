//! The outlet of the feed to one engine: its queue, and what happens to reports when that is full.

use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread;

use super::counts::DeliveryCounts;
use super::delivery_thread::{LOOK, is_out_of_patience};
use super::parcel::FedBatch;

/// Reports of a file wait for an engine, those of a socket are dropped.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Patience {
    Drop,
    Wait,
}

/// The queue to one engine.
pub(super) struct Outlet {
    pub(super) queue: Sender<Arc<FedBatch>>,
    pub(super) counts: Arc<DeliveryCounts>,
    pub(super) most_bytes: usize,
    pub(super) patience: Patience,
}

impl Outlet {
    /// Queues a batch. If the queue is full, drops the batch or waits for room.
    pub(super) fn put(&self, batch: &Arc<FedBatch>) {
        let reports = batch.entries.len();
        while !self.counts.take(reports, batch.bytes, self.most_bytes) {
            if self.patience == Patience::Drop || is_out_of_patience(&self.counts) {
                return self.counts.dropped(reports);
            }
            thread::sleep(LOOK);
        }
        if self.queue.send(Arc::clone(batch)).is_err() {
            // The engine's thread has ended, which only a panic explains.
            self.counts.abandoned(reports, batch.bytes);
        }
    }
}
