//! The counts of deliveries to one engine or receiver, shared by threads.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::clock::now_ns;
use crate::model::{EngineStatus, EngineUnit};

#[derive(Debug)]
pub(super) struct DeliveryCounts {
    engine: &'static str,
    destination: String,
    unit: EngineUnit,
    taken: AtomicU64,
    delivered: AtomicU64,
    queue_drops: AtomicU64,
    refused: AtomicU64,
    abandoned: AtomicU64,
    retries: AtomicU64,
    /// The memory of the reports that wait, including the parcel that is being delivered.
    bytes: AtomicUsize,
    complaint: Mutex<Option<Complaint>>,
}

/// The reason why nothing can be delivered, and the time when that began.
#[derive(Clone, Debug)]
pub(super) struct Complaint {
    pub(super) why: String,
    pub(super) since: Instant,
    since_ns: u64,
}

impl DeliveryCounts {
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

    /// Counts reports as waiting if they fit into `most` bytes or nothing else waits. Returns false if they do not.
    pub(super) fn take(&self, reports: usize, bytes: usize, most: usize) -> bool {
        let waiting = self.bytes.load(Relaxed);
        if waiting > 0 && waiting + bytes > most {
            return false;
        }
        self.taken.fetch_add(reports as u64, Relaxed);
        self.bytes.fetch_add(bytes, Relaxed);
        true
    }

    /// Counts waiting reports as dropped, to make room.
    pub(super) fn evicted(&self, reports: usize, bytes: usize) {
        self.queue_drops.fetch_add(reports as u64, Relaxed);
        self.bytes.fetch_sub(bytes, Relaxed);
    }

    pub(super) fn dropped(&self, reports: usize) {
        self.taken.fetch_add(reports as u64, Relaxed);
        self.queue_drops.fetch_add(reports as u64, Relaxed);
    }

    /// Counts a parcel that the engine has taken, but for the reports that it refused.
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

    /// Counts all waiting reports as abandoned: they will never be delivered.
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

    /// Records a complaint. Returns true if there was none before.
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

    /// Ends the complaint and returns it, if there was one.
    pub(super) fn content(&self) -> Option<Complaint> {
        self.lock().take()
    }

    pub(super) fn complaint(&self) -> Option<Complaint> {
        self.lock().clone()
    }

    pub(super) fn status(&self) -> EngineStatus {
        let complaint = self.complaint();
        // The outcomes are read first, so that reports that are taken meanwhile count as waiting.
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
