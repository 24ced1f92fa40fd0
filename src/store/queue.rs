//! A queue of batches, bounded by the memory that they take.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::keeper::Batch;

/// From any number of threads to one.
pub struct Queue {
    state: Mutex<State>,
    most_bytes: usize,
    filled: Condvar,
    drained: Condvar,
}

#[derive(Default)]
struct State {
    batches: VecDeque<Batch>,
    bytes: usize,
    closed: bool,
}

/// What there is to take.
pub enum Taken {
    Batch(Batch),
    /// Nothing came in time.
    Nothing,
    /// Nothing will come any more.
    Closed,
}

impl Queue {
    pub fn new(most_bytes: usize) -> Self {
        Self {
            state: Mutex::default(),
            most_bytes,
            filled: Condvar::new(),
            drained: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the batch back if there is no room for it, or nobody takes it any more. An empty queue has room for any.
    pub fn put(&self, batch: Batch, wait: bool) -> Result<(), Batch> {
        let mut state = self.state();
        let bytes = batch.bytes();
        loop {
            if state.closed {
                return Err(batch);
            }
            if state.batches.is_empty() || state.bytes + bytes <= self.most_bytes {
                break;
            }
            if !wait {
                return Err(batch);
            }
            state = self
                .drained
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.bytes += bytes;
        state.batches.push_back(batch);
        drop(state);
        self.filled.notify_one();
        Ok(())
    }

    pub fn take(&self, timeout: Duration) -> Taken {
        let mut state = self.state();
        if state.batches.is_empty() && !state.closed {
            state = self
                .filled
                .wait_timeout(state, timeout)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        let Some(batch) = state.batches.pop_front() else {
            return match state.closed {
                true => Taken::Closed,
                false => Taken::Nothing,
            };
        };
        state.bytes -= batch.bytes();
        drop(state);
        self.drained.notify_all();
        Taken::Batch(batch)
    }

    pub fn is_empty(&self) -> bool {
        self.state().batches.is_empty()
    }

    /// Nothing comes any more; what is there can still be taken.
    pub fn close(&self) {
        self.state().closed = true;
        self.filled.notify_all();
        self.drained.notify_all();
    }
}
