//! Queries to a history: answered on separate threads, a few at once, in bounded time.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::compression::HttpBody;
use super::responses::{HttpRefusal, PlacedJson};
use crate::model::{History, HistoryCall, HistoryError, HistoryReply};

/// How long a query waits for a free history.
const TURN: Duration = Duration::from_secs(10);

/// How long a request waits for its result.
const ANSWER: Duration = Duration::from_secs(20);

/// Most responses that are prepared or sent at once, because a response stays in memory until its client has taken it.
const MOST_ANSWERS: usize = 16;

/// What answers the command lines of clients.
pub type AnswerCall = fn(&HistoryCall, &mut dyn History) -> HistoryReply;

/// Connections to the history, each of which answers one query at a time.
pub(super) struct Histories {
    free: Arc<Mutex<Vec<Box<dyn History>>>>,
    turns: Arc<Semaphore>,
    places: Arc<Semaphore>,
    kept: bool,
}

impl Histories {
    pub(super) fn new(histories: Vec<Box<dyn History>>) -> Self {
        Self {
            turns: Arc::new(Semaphore::new(histories.len())),
            places: Arc::new(Semaphore::new(MOST_ANSWERS)),
            kept: !histories.is_empty(),
            free: Arc::new(Mutex::new(histories)),
        }
    }

    pub(super) fn are_kept(&self) -> bool {
        self.kept
    }

    /// The result of a query, serialised and compressed on the same thread, because a long one takes time.
    pub(super) async fn ask<F>(&self, question: F) -> Result<PlacedJson, HttpRefusal>
    where
        F: FnOnce(&mut dyn History) -> Result<HttpBody, HistoryError> + Send + 'static,
    {
        if !self.kept {
            return Err(HttpRefusal::new(
                StatusCode::NOT_FOUND,
                "this collector keeps no history",
            ));
        }
        let busy = || {
            HttpRefusal::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "the history is busy with other queries (try again later, or ask for a shorter time)",
            )
        };
        let place = timeout(TURN, Arc::clone(&self.places).acquire_owned()).await;
        let place = place.ok().and_then(Result::ok).ok_or_else(busy)?;
        let turn = timeout(TURN, Arc::clone(&self.turns).acquire_owned()).await;
        let turn = turn.ok().and_then(Result::ok).ok_or_else(busy)?;
        let free = Arc::clone(&self.free);
        let answer = spawn_blocking(move || {
            let mut history = lock(&free).pop()?;
            let answer = question(history.as_mut());
            lock(&free).push(history);
            // The next query may start, even if the client no longer waits for this one.
            drop(turn);
            Some(answer)
        });
        match timeout(ANSWER, answer).await {
            Ok(Ok(Some(Ok(json)))) => Ok(PlacedJson { json, place }),
            Ok(Ok(Some(Err(err)))) => Err(HttpRefusal::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                &format!("cannot read the history: {err}"),
            )),
            Ok(_) => Err(HttpRefusal::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "the query did not finish",
            )),
            Err(_) => Err(busy()),
        }
    }
}

fn lock(free: &Mutex<Vec<Box<dyn History>>>) -> std::sync::MutexGuard<'_, Vec<Box<dyn History>>> {
    free.lock().unwrap_or_else(PoisonError::into_inner)
}
