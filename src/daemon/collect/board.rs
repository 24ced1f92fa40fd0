//! The board of a collector: what it has received, lost and kept, where other threads can see it.

use std::sync::{Mutex, PoisonError};

use super::wall;
use crate::collector::ReceptionCounts;
use crate::model::{COLLECT_SCHEMA, CollectStatus};

/// The status as it was published last, but for the counts of the receiving threads, which are those of now: the
/// decoder may be held up.
pub struct Board {
    reception: ReceptionCounts,
    published: Mutex<CollectStatus>,
}

impl Board {
    pub fn new(reception: ReceptionCounts) -> Self {
        Self {
            reception,
            published: Mutex::new(CollectStatus {
                schema: COLLECT_SCHEMA,
                started_ns: wall::now_ns(),
                ..CollectStatus::default()
            }),
        }
    }

    pub fn status(&self) -> CollectStatus {
        let mut status = self.lock().clone();
        let counts = self.reception.get();
        status.datagrams = counts.datagrams;
        status.bytes = counts.bytes;
        status.socket_drops = counts.socket_drops;
        status.receive_errors = counts.errors;
        status.probes = counts.probes;
        status.probes_unanswered = counts.probes_unanswered;
        status.queue_drops = counts.queue_drops;
        status
    }

    pub fn lock(&self) -> std::sync::MutexGuard<'_, CollectStatus> {
        self.published
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
