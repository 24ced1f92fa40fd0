//! What became of what goes to an engine, where all threads see it.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::clock::now_ns;
use crate::model::{EngineStatus, EngineUnit};

#[derive(Debug)]
pub(super) struct Counts {
    engine: &'static str,
    destination: String,
    unit: EngineUnit,
    taken: AtomicU64,
    delivered: AtomicU64,
    queue_drops: AtomicU64,
    refused: AtomicU64,
    abandoned: AtomicU64,
    retries: AtomicU64,
    /// Memory of what waits, the parcel in the engine's hands included.
    bytes: AtomicUsize,
    complaint: Mutex<Option<Complaint>>,
}

/// Why nothing can be delivered, and since when.
#[derive(Clone, Debug)]
pub(super) struct Complaint {
    pub(super) why: String,
    pub(super) since: Instant,
    since_ns: u64,
}

impl Counts {
    pub(super) fn new(engine: &'static str, destination: String, unit: EngineUnit) -> Self {
        Self {
            engine,
            destination,
            unit,
            taken: AtomicU64::new(0),
            delivered: AtomicU64::new(0),
            queue_drops: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            abandoned: AtomicU64::new(0),
            retries: AtomicU64::new(0),
            bytes: AtomicUsize::new(0),
            complaint: Mutex::new(None),
        }
    }

    pub(super) fn name(&self) -> String {
        format!("{} {}", self.engine, self.destination)
    }

    /// Takes reports in, if `most` bytes have room for them, or nothing else waits.
    pub(super) fn take(&self, reports: usize, bytes: usize, most: usize) -> bool {
        let waiting = self.bytes.load(Relaxed);
        if waiting > 0 && waiting + bytes > most {
            return false;
        }
        self.taken.fetch_add(reports as u64, Relaxed);
        self.bytes.fetch_add(bytes, Relaxed);
        true
    }

    /// Gives up what was taken, to make room.
    pub(super) fn evicted(&self, reports: usize, bytes: usize) {
        self.queue_drops.fetch_add(reports as u64, Relaxed);
        self.bytes.fetch_sub(bytes, Relaxed);
    }

    pub(super) fn dropped(&self, reports: usize) {
        self.taken.fetch_add(reports as u64, Relaxed);
        self.queue_drops.fetch_add(reports as u64, Relaxed);
    }

    /// The engine is done with a parcel, of which it refuses some reports.
    pub(super) fn done(&self, reports: usize, refused: usize, bytes: usize) {
        let refused = refused.min(reports);
        self.delivered
            .fetch_add((reports - refused) as u64, Relaxed);
        self.refused.fetch_add(refused as u64, Relaxed);
        self.bytes.fetch_sub(bytes, Relaxed);
    }

    pub(super) fn abandoned(&self, reports: usize, bytes: usize) {
        self.abandoned.fetch_add(reports as u64, Relaxed);
        self.bytes.fetch_sub(bytes, Relaxed);
    }

    /// What waits will never be delivered.
    pub(super) fn abandon_all(&self) {
        let waiting = self.status().waiting;
        self.abandoned.fetch_add(waiting, Relaxed);
    }

    pub(super) fn retried(&self) {
        self.retries.fetch_add(1, Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Option<Complaint>> {
        self.complaint
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn unit(&self) -> EngineUnit {
        self.unit
    }

    /// True if all was well before.
    pub(super) fn complain(&self, why: &str) -> bool {
        let mut complaint = self.lock();
        let new = complaint.is_none();
        let begun = complaint.get_or_insert_with(|| Complaint {
            why: String::new(),
            since: Instant::now(),
            since_ns: now_ns(),
        });
        why.clone_into(&mut begun.why);
        new
    }

    /// All is well; what was wrong before, if anything.
    pub(super) fn content(&self) -> Option<Complaint> {
        self.lock().take()
    }

    pub(super) fn complaint(&self) -> Option<Complaint> {
        self.lock().clone()
    }

    pub(super) fn status(&self) -> EngineStatus {
        let complaint = self.complaint();
        // Outcomes first: what is taken meanwhile waits.
        let delivered = self.delivered.load(Relaxed);
        let queue_drops = self.queue_drops.load(Relaxed);
        let refused = self.refused.load(Relaxed);
        let abandoned = self.abandoned.load(Relaxed);
        let gone = delivered + queue_drops + refused + abandoned;
        EngineStatus {
            engine: self.engine,
            destination: self.destination.clone(),
            unit: self.unit,
            delivered,
            queue_drops,
            refused,
            abandoned,
            waiting: self.taken.load(Relaxed).saturating_sub(gone),
            retries: self.retries.load(Relaxed),
            trouble: complaint.as_ref().map(|complaint| complaint.why.clone()),
            trouble_since_ns: complaint.map(|complaint| complaint.since_ns),
        }
    }
}
