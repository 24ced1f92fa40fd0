//! The FIFO of datagrams between the receiving threads and the decoding one, in bounded memory.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::eventfd::{EfdFlags, EventFd};

use crate::model::Arrival;

/// The bytes of a batch: more than the longest datagram.
const BATCH_BYTES: usize = 128 << 10;
const BATCH_DATAGRAMS: usize = 1024;

/// The memory of a batch.
pub(super) const BATCH_FOOTPRINT: usize =
    BATCH_BYTES + BATCH_DATAGRAMS * std::mem::size_of::<(usize, Arrival)>();

/// Consecutive datagrams, in two pieces of memory that are reused.
#[derive(Debug)]
pub(super) struct DatagramBatch {
    bytes: Vec<u8>,
    /// Where each datagram ends, its sender, and the time when it arrived.
    datagrams: Vec<(usize, Arrival)>,
}

/// Batches between receiving threads and the decoding one.
#[derive(Debug)]
pub(super) struct DatagramFifo {
    inner: Mutex<QueueState>,
    /// Readable while there is something to decode, and when nothing more will come.
    filled: EventFd,
    /// Signalled when a batch has become free.
    freed: Condvar,
}

#[derive(Debug)]
struct QueueState {
    /// Batches with datagrams. The last one is being filled.
    waiting: VecDeque<DatagramBatch>,
    free: Vec<DatagramBatch>,
    /// The number of batches that may still be made.
    unmade: usize,
    /// The most batches.
    most: usize,
    /// The number of receiving threads that still run.
    receivers: usize,
    /// The reading end is told that there is something.
    is_signalled: bool,
    /// The reading end is gone.
    abandoned: bool,
}

impl DatagramBatch {
    fn new() -> Self {
        Self {
            bytes: Vec::with_capacity(BATCH_BYTES),
            datagrams: Vec::with_capacity(BATCH_DATAGRAMS),
        }
    }

    /// Iterates over the datagrams in the order of their arrival.
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

impl DatagramFifo {
    /// Makes a queue for this number of receiving threads. `bytes` limits the number of batches, but there are at least
    /// two: one is decoded while the other is filled.
    pub(super) fn new(receivers: usize, bytes: usize) -> io::Result<Self> {
        let most = (bytes / BATCH_FOOTPRINT).max(2);
        Ok(Self {
            inner: Mutex::new(QueueState {
                waiting: VecDeque::new(),
                free: Vec::new(),
                unmade: most,
                most,
                receivers,
                is_signalled: false,
                abandoned: false,
            }),
            filled: EventFd::from_flags(EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC)?,
            freed: Condvar::new(),
        })
    }

    /// Tells the reading end whether there is something to decode, or nothing more will come.
    fn signal(&self, inner: &mut QueueState) {
        let is_there = !inner.waiting.is_empty() || inner.receivers == 0;
        if is_there != inner.is_signalled {
            inner.is_signalled = is_there;
            // Both succeed: the counter is 0 or 1.
            let _ = match is_there {
                true => self.filled.write(1).map(drop),
                false => self.filled.read().map(drop),
            };
        }
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds datagrams that arrived at this time. Returns how many were dropped because the queue was full. If
    /// `patient`, the call waits for room instead, unless the reading end is gone. Without datagrams no thread is
    /// woken.
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
                self.signal(&mut inner);
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
        self.signal(&mut inner);
        dropped
    }

    /// Returns the oldest batch, or `None` if there is none within this time.
    pub(super) fn pop(&self, timeout: Duration) -> Option<DatagramBatch> {
        if !timeout.is_zero() {
            let mut filled = [PollFd::new(self.filled.as_fd(), PollFlags::POLLIN)];
            let timeout = PollTimeout::try_from(timeout).unwrap_or(PollTimeout::MAX);
            // Whatever ends the wait, what is there is taken.
            let _ = poll(&mut filled, timeout);
        }
        let mut inner = self.lock();
        let batch = inner.waiting.pop_front();
        self.signal(&mut inner);
        batch
    }

    /// Returns how full the queue is.
    pub(super) fn percent(&self) -> u8 {
        let inner = self.lock();
        // A batch that still has room is no sign that the decoder is behind.
        let full = inner.waiting.len().saturating_sub(1);
        let percent = full * 100 / (inner.most - 1).max(1);
        u8::try_from(percent).unwrap_or(100).min(100)
    }

    /// Takes back a batch that was decoded.
    pub(super) fn give_back(&self, mut batch: DatagramBatch) {
        batch.clear();
        self.lock().free.push(batch);
        self.freed.notify_all();
    }

    /// Records that a receiving thread has ended.
    pub(super) fn receiver_ended(&self) {
        let mut inner = self.lock();
        inner.receivers -= 1;
        self.signal(&mut inner);
    }

    /// The reading end is gone.
    pub(super) fn abandon(&self) {
        self.lock().abandoned = true;
        self.freed.notify_all();
    }

    /// True if nothing is left and nothing more will come.
    pub(super) fn is_done(&self) -> bool {
        let inner = self.lock();
        inner.receivers == 0 && inner.waiting.is_empty()
    }
}

impl AsFd for DatagramFifo {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.filled.as_fd()
    }
}

impl QueueState {
    /// Makes room for `bytes` in the last batch. Returns false if there is no memory left.
    fn make_room(&mut self, bytes: usize) -> bool {
        if self.waiting.back().is_some_and(|last| last.has_room(bytes)) {
            return true;
        }
        let batch = match self.free.pop() {
            Some(batch) => batch,
            None if self.unmade > 0 => {
                self.unmade -= 1;
                DatagramBatch::new()
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
