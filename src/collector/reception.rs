//! The reception: datagrams that receiving threads queued, given to the decoding thread, and their counts.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nix::sys::eventfd::{EfdFlags, EventFd};
use serde::Serialize;

use super::fifo::DatagramFifo;
use super::socket::Socket;
use crate::model::Arrival;

/// The datagrams that arrived at the sockets. `datagrams - probes - queue_drops` of them were decoded or wait for it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct ListenerCounts {
    /// Datagrams read from the sockets.
    pub datagrams: u64,
    /// The bytes of their payloads.
    pub bytes: u64,
    /// Datagrams that the kernel has dropped so far because a socket's buffer was full.
    pub socket_drops: u64,
    /// Datagrams that were probes.
    pub probes: u64,
    /// Probes whose answer could not be sent.
    pub probes_unanswered: u64,
    /// Datagrams that were dropped because the queue to the decoder was full.
    pub queue_drops: u64,
    /// Receive calls that failed.
    pub errors: u64,
}

/// The state that the receiving threads share with the decoding one.
#[derive(Debug)]
pub(super) struct ReceptionState {
    pub(super) sockets: Vec<Socket>,
    pub(super) queue: DatagramFifo,
    pub(super) ending: AtomicBool,
    /// Readable once the reception is to end.
    pub(super) end: EventFd,
    pub(super) datagrams: AtomicU64,
    pub(super) bytes: AtomicU64,
    pub(super) probes: AtomicU64,
    pub(super) probes_unanswered: AtomicU64,
    pub(super) queue_drops: AtomicU64,
    pub(super) errors: AtomicU64,
    /// Each socket's count of drops when the kernel was last asked, and the sum of all drops without overflows.
    drops: Mutex<(Vec<u32>, u64)>,
}

/// The reading end of the queue of datagrams. Dropping it ends the receiving threads.
#[derive(Debug)]
pub struct Reception(pub(super) Arc<ReceptionState>);

/// The counts of a [`Reception`], for other threads.
#[derive(Clone, Debug)]
pub struct ReceptionCounts(Arc<ReceptionState>);

impl Reception {
    /// Gives the oldest batch of datagrams to `take`, one by one until it returns false. Waits for a batch for
    /// `timeout` at most. Returns false if there was none.
    pub fn next(&self, timeout: Duration, mut take: impl FnMut(&[u8], Arrival) -> bool) -> bool {
        let Some(batch) = self.0.queue.pop(timeout) else {
            return false;
        };
        for (bytes, arrival) in batch.iter() {
            if !take(bytes, arrival) {
                break;
            }
        }
        self.0.queue.give_back(batch);
        true
    }

    /// Ends the reception: datagrams that are sent from now on are dropped and counted. Datagrams that arrived before
    /// can still be taken.
    pub fn end(&self) {
        if !self.0.ending.swap(true, Ordering::Relaxed) {
            // It succeeds: the counter is 0.
            let _ = self.0.end.write(1);
        }
    }

    /// True once all datagrams have been taken and no more will come.
    pub fn is_done(&self) -> bool {
        self.0.queue.is_done()
    }

    /// Returns a handle on the counts for other threads.
    pub fn observer(&self) -> ReceptionCounts {
        ReceptionCounts(self.0.clone())
    }
}

/// Readable while there are datagrams, and once no more will come.
impl AsFd for Reception {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.queue.as_fd()
    }
}

impl Drop for Reception {
    fn drop(&mut self) {
        self.end();
        self.0.queue.abandon();
    }
}

impl ReceptionCounts {
    pub fn get(&self) -> ListenerCounts {
        let shared = &*self.0;
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        ListenerCounts {
            datagrams: count(&shared.datagrams),
            bytes: count(&shared.bytes),
            socket_drops: shared.socket_drops(),
            probes: count(&shared.probes),
            probes_unanswered: count(&shared.probes_unanswered),
            queue_drops: count(&shared.queue_drops),
            errors: count(&shared.errors),
        }
    }
}

impl ReceptionState {
    pub(super) fn new(sockets: Vec<Socket>, queue: DatagramFifo) -> io::Result<Self> {
        Ok(Self {
            drops: Mutex::new((vec![0; sockets.len()], 0)),
            sockets,
            queue,
            ending: AtomicBool::new(false),
            end: EventFd::from_flags(EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC)?,
            datagrams: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            probes: AtomicU64::new(0),
            probes_unanswered: AtomicU64::new(0),
            queue_drops: AtomicU64::new(0),
            errors: AtomicU64::new(0),
        })
    }

    /// Returns how many datagrams the kernel has dropped so far. It counts modulo 2^32, and is asked more often than
    /// that count overflows.
    fn socket_drops(&self) -> u64 {
        let mut drops = self.drops.lock().unwrap_or_else(PoisonError::into_inner);
        let (last, sum) = &mut *drops;
        for (last, socket) in last.iter_mut().zip(&self.sockets) {
            let now = socket.drops();
            *sum += u64::from(now.wrapping_sub(*last));
            *last = now;
        }
        *sum
    }
}
