//! Datagrams on their way from receiving threads to the decoding one, in bounded memory.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::model::Arrival;

/// Room of a batch: more than the longest datagram.
const BATCH_BYTES: usize = 128 << 10;
const BATCH_DATAGRAMS: usize = 1024;

/// Memory that a batch takes.
pub(super) const BATCH_FOOTPRINT: usize =
    BATCH_BYTES + BATCH_DATAGRAMS * std::mem::size_of::<(usize, Arrival)>();

/// Datagrams that came one after another, in two pieces of memory that are used again and again.
#[derive(Debug)]
pub(super) struct Batch {
    bytes: Vec<u8>,
    /// Where each ends, who sent it and when it came.
    datagrams: Vec<(usize, Arrival)>,
}

/// Batches between receiving threads and the decoding one.
#[derive(Debug)]
pub(super) struct Queue {
    inner: Mutex<Inner>,
    /// There is something to decode, or nothing more will come.
    filled: Condvar,
    /// A batch has become free.
    freed: Condvar,
}

#[derive(Debug)]
struct Inner {
    /// The last one is being filled.
    waiting: VecDeque<Batch>,
    free: Vec<Batch>,
    /// Batches that may still be made.
    unmade: usize,
    /// Batches that there may be.
    most: usize,
    /// Threads that may still bring something.
    receivers: usize,
    /// Nobody takes anything any more.
    abandoned: bool,
}

impl Batch {
    fn new() -> Self {
        Self {
            bytes: Vec::with_capacity(BATCH_BYTES),
            datagrams: Vec::with_capacity(BATCH_DATAGRAMS),
        }
    }

    /// The datagrams, in the order of their arrival.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], Arrival)> {
        let mut begin = 0;
        self.datagrams.iter().map(move |(end, arrival)| {
            let bytes = self.bytes.get(begin..*end).unwrap_or_default();
            begin = *end;
            (bytes, *arrival)
        })
    }

    fn has_room(&self, bytes: usize) -> bool {
        self.datagrams.len() < BATCH_DATAGRAMS && self.bytes.len() + bytes <= BATCH_BYTES
    }

    fn add(&mut self, bytes: &[u8], arrival: Arrival) {
        self.bytes.extend_from_slice(bytes);
        self.datagrams.push((self.bytes.len(), arrival));
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.datagrams.clear();
    }
}

impl Queue {
    /// For so many threads, with as many batches as so many bytes hold, at least two: one is decoded while another
    /// is filled.
    pub(super) fn new(receivers: usize, bytes: usize) -> Self {
        let most = (bytes / BATCH_FOOTPRINT).max(2);
        Self {
            inner: Mutex::new(Inner {
                waiting: VecDeque::new(),
                free: Vec::new(),
                unmade: most,
                most,
                receivers,
                abandoned: false,
            }),
            filled: Condvar::new(),
            freed: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes datagrams that came at this time, and says how many found the queue full. `patient`: those wait for
    /// room instead, unless nobody makes any. Where there are none, nobody is woken.
    pub(super) fn push<'a>(
        &self,
        datagrams: impl Iterator<Item = (&'a [u8], SocketAddr)>,
        received_ns: u64,
        patient: bool,
    ) -> u64 {
        let mut datagrams = datagrams.peekable();
        if datagrams.peek().is_none() {
            return 0;
        }
        let mut inner = self.lock();
        let mut dropped = 0;
        for (bytes, exporter) in datagrams {
            while patient && !inner.abandoned && !inner.make_room(bytes.len()) {
                self.filled.notify_one();
                inner = self
                    .freed
                    .wait(inner)
                    .unwrap_or_else(PoisonError::into_inner);
            }
            let arrival = Arrival {
                exporter,
                received_ns,
            };
            if !inner.add(bytes, arrival) {
                dropped += 1;
            }
        }
        drop(inner);
        self.filled.notify_one();
        dropped
    }

    /// The oldest batch, once there is one, if it is within this time.
    pub(super) fn pop(&self, timeout: Duration) -> Option<Batch> {
        let nothing = |inner: &mut Inner| inner.waiting.is_empty() && inner.receivers > 0;
        let waited = self
            .filled
            .wait_timeout_while(self.lock(), timeout, nothing);
        let (mut inner, _) = waited.unwrap_or_else(PoisonError::into_inner);
        inner.waiting.pop_front()
    }

    /// How full it is.
    pub(super) fn percent(&self) -> u8 {
        let inner = self.lock();
        // A batch that has room still is no sign that the decoder is behind.
        let full = inner.waiting.len().saturating_sub(1);
        let percent = full * 100 / (inner.most - 1).max(1);
        u8::try_from(percent).unwrap_or(100).min(100)
    }

    /// Takes back a batch that is done with.
    pub(super) fn give_back(&self, mut batch: Batch) {
        batch.clear();
        self.lock().free.push(batch);
        self.freed.notify_all();
    }

    /// A receiving thread brings nothing more.
    pub(super) fn receiver_ended(&self) {
        self.lock().receivers -= 1;
        self.filled.notify_one();
    }

    /// Nobody takes anything any more.
    pub(super) fn abandon(&self) {
        self.lock().abandoned = true;
        self.freed.notify_all();
    }

    /// Whether nothing is left, and nothing more will come.
    pub(super) fn is_done(&self) -> bool {
        let inner = self.lock();
        inner.receivers == 0 && inner.waiting.is_empty()
    }
}

impl Inner {
    /// Sees to it that the last batch has room for so many bytes, if that can be.
    fn make_room(&mut self, bytes: usize) -> bool {
        if self.waiting.back().is_some_and(|last| last.has_room(bytes)) {
            return true;
        }
        let batch = match self.free.pop() {
            Some(batch) => batch,
            None if self.unmade > 0 => {
                self.unmade -= 1;
                Batch::new()
            }
            None => return false,
        };
        self.waiting.push_back(batch);
        true
    }

    fn add(&mut self, bytes: &[u8], arrival: Arrival) -> bool {
        let room = self.make_room(bytes.len());
        if room && let Some(last) = self.waiting.back_mut() {
            last.add(bytes, arrival);
        }
        room
    }
}
