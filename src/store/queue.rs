//! Reports on their way to the writer: added up at once, and by themselves as long as there is room.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::gather::{Gathered, Gatherer};
use super::keeper::Batch;

/// What came is written after this time, or when single reports fill this part of the queue.
const SPAN: Duration = Duration::from_secs(1);
const PART: usize = 4;

/// From any number of threads to one.
#[derive(Debug)]
pub struct Queue {
    state: Mutex<State>,
    most_bytes: usize,
    filled: Condvar,
    drained: Condvar,
}

#[derive(Debug)]
struct State {
    gatherer: Gatherer,
    /// Single reports, all of which were gathered.
    batches: Vec<Batch>,
    batch_bytes: usize,
    /// Of what was taken, those that are not written yet.
    taken_bytes: usize,
    /// Single reports found no room.
    crowded: bool,
    /// When the first of them came.
    since: Option<Instant>,
    closed: bool,
}

/// For one transaction.
#[derive(Debug, Default)]
pub struct Work {
    pub gathered: Gathered,
    pub batches: Vec<Batch>,
}

/// What there is to take.
pub enum Taken {
    Work(Work),
    /// Nothing came in time.
    Nothing,
    /// Nothing will come any more.
    Closed,
}

impl Work {
    /// Reports that are there by themselves.
    pub fn singles(&self) -> u64 {
        let batches = self.batches.iter();
        batches.map(|batch| batch.entries.len() as u64).sum()
    }
}

impl State {
    fn bytes(&self) -> usize {
        self.gatherer.gathered().bytes() + self.batch_bytes + self.taken_bytes
    }

    fn is_empty(&self) -> bool {
        self.since.is_none() && self.taken_bytes == 0
    }
}

impl Queue {
    pub fn new(most_bytes: usize, most_flows: usize) -> Self {
        let state = State {
            gatherer: Gatherer::new(most_flows),
            batches: Vec::new(),
            batch_bytes: 0,
            taken_bytes: 0,
            crowded: false,
            since: None,
            closed: false,
        };
        Self {
            state: Mutex::new(state),
            most_bytes,
            filled: Condvar::new(),
            drained: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says whether the batch was taken. Single reports may fill half of the queue, and what was gathered all of it;
    /// an empty queue has room for any. Who waits has all reports stored by themselves.
    pub fn put(&self, mut batch: Batch, wait: bool) -> bool {
        let bytes = batch.bytes();
        let has_room =
            |state: &State| state.is_empty() || state.bytes() + bytes <= self.most_bytes / 2;
        let mut state = self.state();
        while wait && !state.closed && !has_room(&state) {
            state.crowded = true;
            self.filled.notify_one();
            state = self
                .drained
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if state.closed {
            return false;
        }
        let single = has_room(&state);
        let mut given_up = Vec::new();
        if !single && state.bytes() > self.most_bytes {
            given_up = std::mem::take(&mut state.batches);
            state.batch_bytes = 0;
            if state.bytes() > self.most_bytes {
                return false;
            }
        }
        for entry in &mut batch.entries {
            state.gatherer.add(entry);
        }
        if single {
            state.batch_bytes += bytes;
            state.batches.push(batch);
        }
        let first = state.since.is_none();
        state.since.get_or_insert_with(Instant::now);
        state.crowded |= !single;
        let tell = first || self.is_worth_it(&state);
        drop(state);
        drop(given_up);
        if tell {
            self.filled.notify_one();
        }
        true
    }

    /// Whether what is there is not left to wait for more.
    fn is_worth_it(&self, state: &State) -> bool {
        state.closed || state.crowded || state.batch_bytes >= self.most_bytes / PART
    }

    /// Takes all there is, once it is worth a transaction.
    pub fn take(&self, timeout: Duration) -> Taken {
        let begin = Instant::now();
        let mut state = self.state();
        // What was taken before is done with.
        state.taken_bytes = 0;
        self.drained.notify_all();
        loop {
            let left = match state.since {
                Some(_) if self.is_worth_it(&state) => break,
                Some(since) => SPAN.saturating_sub(since.elapsed()),
                None if state.closed => return Taken::Closed,
                None => timeout.saturating_sub(begin.elapsed()),
            };
            if left.is_zero() && state.since.is_none() {
                return Taken::Nothing;
            }
            if left.is_zero() {
                break;
            }
            state = self
                .filled
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        state.since = None;
        state.crowded = false;
        state.taken_bytes = state.bytes();
        state.batch_bytes = 0;
        Taken::Work(Work {
            gathered: state.gatherer.take(),
            batches: std::mem::take(&mut state.batches),
        })
    }

    /// So much of what was taken is written.
    pub fn written(&self, bytes: usize) {
        let mut state = self.state();
        state.taken_bytes = state.taken_bytes.saturating_sub(bytes);
        drop(state);
        self.drained.notify_all();
    }

    /// Nothing comes any more; what is there can still be taken.
    pub fn close(&self) {
        self.state().closed = true;
        self.filled.notify_all();
        self.drained.notify_all();
    }
}
