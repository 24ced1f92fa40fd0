//! The state from which all responses of the page are made.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

use super::event_entry::{EventEntry, EventRate};
use super::queries::{AnswerCall, Histories};
use crate::model::{CollectStatus, PairUsuals, Span};

/// A status younger than this is answered again, without asking the collector.
const FRESH: Duration = Duration::from_millis(500);

/// What is usual is that of the present hour.
const USUAL_NS: u64 = 3_600_000_000_000;

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
    /// What is usual for pairs now; nothing for a span that ended before.
    pub(super) fn usual(&self, span: Option<Span>) -> Arc<PairUsuals> {
        let ended_ns = span.map_or(0, |span| span.until_ns);
        match (self.now_ns)().saturating_sub(ended_ns) < USUAL_NS {
            true => Arc::clone(&self.status().usual),
            false => Arc::default(),
        }
    }

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
