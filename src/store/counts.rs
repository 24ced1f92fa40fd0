//! Counts of the reports that were handed to the store, and the reason if it cannot be written to.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The counts of reports. Each report is in one of the first three.
#[derive(Debug, Default)]
pub struct StoreCounts {
    stored: AtomicU64,
    rolled_up_only: AtomicU64,
    drops: AtomicU64,
    unnamed: AtomicU64,
    told_drops: AtomicU64,
    trouble: Mutex<Option<String>>,
}

impl StoreCounts {
    /// Returns how many reports are in the store.
    pub fn stored(&self) -> u64 {
        self.stored.load(Ordering::Relaxed)
    }

    /// Returns how many reports are only in the store's roll-ups, because there was no time to write them one by one.
    pub fn rolled_up_only(&self) -> u64 {
        self.rolled_up_only.load(Ordering::Relaxed)
    }

    /// Returns how many reports are not in the store, because the queue was full or the store could not be written.
    pub fn drops(&self) -> u64 {
        self.drops.load(Ordering::Relaxed)
    }

    /// Returns how many of the stored and rolled up reports belong to flows that are not tracked. They are rolled up
    /// without their flow.
    pub fn beyond_flows(&self) -> u64 {
        self.unnamed.load(Ordering::Relaxed)
    }

    /// Returns how often reports told of paths and coverage that the store does not have, because there was no room or it
    /// could not be written.
    pub fn told_drops(&self) -> u64 {
        self.told_drops.load(Ordering::Relaxed)
    }

    /// Returns why the store could not be written to at the last attempt.
    pub fn trouble(&self) -> Option<String> {
        self.trouble
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(super) fn fails(&self, trouble: Option<String>) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
    }

    pub(super) fn dropped(&self, reports: u64) {
        self.drops.fetch_add(reports, Ordering::Relaxed);
    }

    pub(super) fn dropped_reported(&self, count: u64) {
        self.told_drops.fetch_add(count, Ordering::Relaxed);
    }

    pub(super) fn written(&self, stored: u64, rolled_up_only: u64, unnamed: u64) {
        self.stored.fetch_add(stored, Ordering::Relaxed);
        self.rolled_up_only
            .fetch_add(rolled_up_only, Ordering::Relaxed);
        self.unnamed.fetch_add(unnamed, Ordering::Relaxed);
    }
}
