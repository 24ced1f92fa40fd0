//! What is usual by the history: read on a thread of its own, so that neither the verdict nor the store waits.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;

use super::event_book::EventBook;
use super::stored_reports::decoder;
use crate::model::{DropReasons, HistoryError, NodeNames};
use crate::os::log;
use crate::store::HistoryReader;
use crate::verdict::{KnownPast, PastQuestion, hour_of};

/// The next hour is asked about when it is this near.
const AHEAD_NS: u64 = 600_000_000_000;

/// What is asked, and what was asked before.
pub struct PastReading {
    store: PathBuf,
    /// The answer that is awaited.
    awaited: Option<Receiver<Result<KnownPast, HistoryError>>>,
    /// The last hour that was asked about; 0: none, nor the last hours.
    asked_ns: u64,
}

impl PastReading {
    pub fn of(store: PathBuf) -> Self {
        Self {
            store,
            awaited: None,
            asked_ns: 0,
        }
    }

    /// Returns what was read meanwhile, and asks what has to be known next.
    pub fn turn(
        &mut self,
        now_ns: u64,
        (book, names): (Option<&EventBook>, &NodeNames),
    ) -> Option<KnownPast> {
        let found = match self.awaited.as_ref().map(Receiver::try_recv) {
            Some(Err(TryRecvError::Empty)) => return None,
            Some(Ok(Ok(found))) => Some(found),
            Some(Ok(Err(err))) => {
                log::warning(format_args!("what was usual is not known: {err}"));
                None
            }
            Some(Err(TryRecvError::Disconnected)) | None => None,
        };
        self.awaited = None;
        let accepted = || book.map(EventBook::accepted).unwrap_or_default();
        let (this_ns, next_ns) = (hour_of(now_ns), hour_of(now_ns + AHEAD_NS));
        if self.asked_ns == 0 {
            self.ask(PastQuestion::last_hours(now_ns).since(accepted(), names.clone()));
            self.asked_ns = 1;
        } else if self.asked_ns < this_ns {
            self.ask(PastQuestion::same_hour(this_ns).since(accepted(), names.clone()));
            self.asked_ns = this_ns;
        } else if self.asked_ns < next_ns {
            self.ask(PastQuestion::same_hour(next_ns).since(accepted(), names.clone()));
            self.asked_ns = next_ns;
        }
        found
    }

    fn ask(&mut self, question: PastQuestion) {
        let store = self.store.clone();
        let (answer, awaited) = channel();
        let thread = thread::Builder::new().name("usual".to_owned());
        // Without a thread the last hours alone are usual; the next hour is tried again.
        let started = thread.spawn(move || {
            let _ = answer.send(read(store, question));
        });
        self.awaited = started.is_ok().then_some(awaited);
    }
}

fn read(store: PathBuf, question: PastQuestion) -> Result<KnownPast, HistoryError> {
    let reader = HistoryReader::open(&store, decoder(DropReasons::usual()));
    let mut reader = reader.map_err(|err| HistoryError(err.to_string()))?;
    let degraded = reader.degraded(question.span())?;
    let mut question = question.without(degraded);
    reader.pair_hours(&question.begins(), &mut |hour| question.take(&hour))?;
    Ok(question.answer())
}
