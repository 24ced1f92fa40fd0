//! The health of a daemon as `/healthz` and `/readyz` tell it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::os::clock;
use crate::web::{self, Router};

/// A daemon whose loop gave no sign of life for this long counts as dead.
const ALIVE_NS: u64 = 5_000_000_000;

/// What the loop of a daemon says of itself.
#[derive(Debug)]
pub struct Health {
    alive_ns: AtomicU64,
    lacking: Mutex<Vec<String>>,
}

impl Health {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            alive_ns: AtomicU64::new(clock::monotonic_ns()),
            lacking: Mutex::new(vec!["it only begins".to_owned()]),
        })
    }

    /// A sign of life; to be given every second or more often.
    pub fn is_alive(&self) {
        self.alive_ns
            .store(clock::monotonic_ns(), Ordering::Relaxed);
    }

    /// Replaces the list of what the daemon lacks for its work.
    pub fn lacks(&self, lacking: Vec<String>) {
        *self.lacking.lock().unwrap_or_else(PoisonError::into_inner) = lacking;
    }

    fn dead(&self) -> Vec<String> {
        let alive_ns = self.alive_ns.load(Ordering::Relaxed);
        let silent_ns = clock::monotonic_ns().saturating_sub(alive_ns);
        if silent_ns < ALIVE_NS {
            return Vec::new();
        }
        vec![format!(
            "the daemon gave no sign of life for {} s",
            silent_ns / 1_000_000_000
        )]
    }

    fn not_ready(&self) -> Vec<String> {
        let mut lacking = self.dead();
        let others = self.lacking.lock().unwrap_or_else(PoisonError::into_inner);
        lacking.extend(others.iter().cloned());
        lacking
    }

    /// The routes `/healthz` and `/readyz`.
    pub fn routes(self: &Arc<Self>) -> Router {
        let (alive, ready) = (Arc::clone(self), Arc::clone(self));
        web::health(move || alive.dead(), move || ready.not_ready())
    }
}
