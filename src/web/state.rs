//! The state from which all responses of the page are made.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

use super::event_entry::{EventEntry, EventRate};
use super::queries::{AnswerCall, Histories};
use crate::model::CollectStatus;

/// A status younger than this is answered again, without asking the collector.
const FRESH: Duration = Duration::from_millis(500);

/// The histories, and what else is asked for.
pub(super) struct Api {
    pub(super) histories: Histories,
    pub(super) ask_status: Box<dyn Fn() -> CollectStatus + Send + Sync>,
    pub(super) last_status: Mutex<Option<(Instant, Arc<CollectStatus>)>>,
    pub(super) now_ns: fn() -> u64,
    pub(super) collects_on: Vec<String>,
    pub(super) live: Arc<Semaphore>,
    pub(super) events: EventEntry,
    pub(super) event_rate: EventRate,
    pub(super) answer_call: AnswerCall,
}

impl Api {
    /// The counts of now or of a moment ago, because many pages may ask.
    pub(super) fn status(&self) -> Arc<CollectStatus> {
        let mut last = self
            .last_status
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        match last.as_ref() {
            Some((at, status)) if at.elapsed() < FRESH => Arc::clone(status),
            _ => {
                let status = Arc::new((self.ask_status)());
                *last = Some((Instant::now(), Arc::clone(&status)));
                status
            }
        }
    }
}
