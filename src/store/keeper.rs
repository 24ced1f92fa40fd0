//! Takes reports where they are decoded, and hands them on to the writer in batches.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::clock;
use super::queue::Queue;
use crate::model::{Arrival, Report, ReportFacts};

/// A batch this long is handed on.
const REPORTS: usize = 1024;
const BYTES: usize = 256 << 10;

/// What became of reports that were to be stored: each of them is in one of the first three.
#[derive(Debug, Default)]
pub struct StoreCounts {
    stored: AtomicU64,
    rolled_up_only: AtomicU64,
    drops: AtomicU64,
    unnamed: AtomicU64,
}

impl StoreCounts {
    /// Reports that are in the store.
    pub fn stored(&self) -> u64 {
        self.stored.load(Ordering::Relaxed)
    }

    /// Reports that are in the store's roll-ups only, because there was no time to write them by themselves.
    pub fn rolled_up_only(&self) -> u64 {
        self.rolled_up_only.load(Ordering::Relaxed)
    }

    /// Reports that are not in it at all, because the queue was full or the store could not be written.
    pub fn drops(&self) -> u64 {
        self.drops.load(Ordering::Relaxed)
    }

    /// Of both, reports of flows beyond the most that are followed: they are rolled up without their flow.
    pub fn beyond_flows(&self) -> u64 {
        self.unnamed.load(Ordering::Relaxed)
    }

    pub(super) fn dropped(&self, reports: u64) {
        self.drops.fetch_add(reports, Ordering::Relaxed);
    }

    pub(super) fn written(&self, stored: u64, rolled_up_only: u64, unnamed: u64) {
        self.stored.fetch_add(stored, Ordering::Relaxed);
        self.rolled_up_only
            .fetch_add(rolled_up_only, Ordering::Relaxed);
        self.unnamed.fetch_add(unnamed, Ordering::Relaxed);
    }
}

/// One report on its way.
#[derive(Debug)]
pub struct Entry {
    pub observed: ReportFacts,
    pub class: Option<Arc<str>>,
    /// More flows are followed than may be, and its own is not.
    pub beyond: bool,
    /// Which of its datagram's reports it is.
    pub part: u32,
    /// Where its datagram is in the batch's bytes; of all but the first part the same.
    pub evidence: Range<usize>,
}

/// Reports on their way: those of a datagram stay together.
#[derive(Debug, Default)]
pub struct Batch {
    pub entries: Vec<Entry>,
    pub evidence: Vec<u8>,
}

impl Batch {
    /// The memory that it takes, about.
    pub fn bytes(&self) -> usize {
        self.entries.len() * size_of::<Entry>() + self.evidence.len()
    }
}

/// What decoding threads hold; each has its own.
#[derive(Debug)]
pub struct Keeper {
    batch: Batch,
    queue: Arc<Queue>,
    counts: Arc<StoreCounts>,
    /// Whether to wait for the writer: reports of a file do, those of a socket are dropped.
    patient: bool,
    class: Option<Arc<str>>,
}

impl Keeper {
    pub(super) fn new(queue: Arc<Queue>, counts: Arc<StoreCounts>, patient: bool) -> Self {
        Self {
            batch: Batch::default(),
            queue,
            counts,
            patient,
            class: None,
        }
    }

    /// Takes a report: the `part`-th, from 0, of the datagram or JSON line `evidence`.
    pub fn keep(
        &mut self,
        report: &Report,
        part: usize,
        arrival: Option<Arrival>,
        class: Option<&str>,
        evidence: &[u8],
    ) {
        let observed = ReportFacts::new(report, arrival, clock::now_ns);
        self.take(observed, part, class, evidence);
    }

    /// Takes a report that is read already.
    pub fn take(
        &mut self,
        observed: ReportFacts,
        part: usize,
        class: Option<&str>,
        evidence: &[u8],
    ) {
        let batch = &mut self.batch;
        if part == 0 && (batch.entries.len() >= REPORTS || batch.evidence.len() >= BYTES) {
            self.flush();
        }
        if self.class.as_deref() != class {
            self.class = class.map(Arc::from);
        }
        let batch = &mut self.batch;
        let range = match batch.entries.last() {
            Some(last) if part > 0 => last.evidence.clone(),
            _ => {
                let begin = batch.evidence.len();
                batch.evidence.extend_from_slice(evidence);
                begin..batch.evidence.len()
            }
        };
        batch.entries.push(Entry {
            observed,
            class: self.class.clone(),
            beyond: false,
            part: part as u32,
            evidence: range,
        });
    }

    /// What became of reports, of all that are handed to the store.
    pub fn counts(&self) -> &StoreCounts {
        &self.counts
    }

    /// Hands on what is there.
    pub fn flush(&mut self) {
        if self.batch.entries.is_empty() {
            return;
        }
        let batch = std::mem::take(&mut self.batch);
        let reports = batch.entries.len() as u64;
        if !self.queue.put(batch, self.patient) {
            self.counts.dropped(reports);
        }
    }
}

impl Clone for Keeper {
    /// Another one for another thread, empty.
    fn clone(&self) -> Self {
        Self::new(self.queue.clone(), self.counts.clone(), self.patient)
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.flush();
    }
}
