//! Receives report datagrams on several addresses at once.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde::Serialize;

use super::queue::Queue;
use super::receiver::Receiver;
use super::socket::{ListenError, Socket, open_group};
use crate::model::{Arrival, REPORT_PORT};

/// Every address of both families, at the usual report port.
pub fn default_addresses() -> [SocketAddr; 2] {
    [
        (Ipv4Addr::UNSPECIFIED, REPORT_PORT).into(),
        (Ipv6Addr::UNSPECIFIED, REPORT_PORT).into(),
    ]
}

/// What arrived at the sockets: `datagrams - probes - queue_drops` went to the decoder, or wait for it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct ListenerCounts {
    /// Taken from the sockets.
    pub datagrams: u64,
    pub bytes: u64,
    /// Datagrams that the kernel dropped because a socket's buffer was full, as of now.
    pub socket_drops: u64,
    /// Of the datagrams, those that asked whether the collector is there.
    pub probes: u64,
    /// Of these, those whose answer could not be sent.
    pub probes_unanswered: u64,
    /// Datagrams that found the queue to the decoder full.
    pub queue_drops: u64,
    /// Receive calls that failed.
    pub errors: u64,
}

/// Bound UDP sockets: of each address one for each receiving thread.
#[derive(Debug)]
pub struct Listener {
    groups: Vec<Vec<Socket>>,
    receivers: usize,
    run: u64,
}

/// What receiving threads and the decoding one know together.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) sockets: Vec<Socket>,
    pub(super) queue: Queue,
    pub(super) ending: AtomicBool,
    pub(super) datagrams: AtomicU64,
    pub(super) bytes: AtomicU64,
    pub(super) probes: AtomicU64,
    pub(super) probes_unanswered: AtomicU64,
    pub(super) queue_drops: AtomicU64,
    pub(super) errors: AtomicU64,
    /// The kernel's counts of each socket when they were last seen, and their sum without wraps.
    drops: Mutex<(Vec<u32>, u64)>,
}

/// Datagrams that come in. Dropping it ends the threads behind it.
#[derive(Debug)]
pub struct Reception(Arc<Shared>);

/// The counts of a [`Reception`], for whoever wants to see them.
#[derive(Clone, Debug)]
pub struct ReceptionCounts(Arc<Shared>);

impl Listener {
    /// Binds every address, for so many receiving threads.
    pub fn bind(addresses: &[SocketAddr], receivers: usize) -> Result<Self, ListenError> {
        let groups = addresses
            .iter()
            .map(|address| open_group(*address, receivers));
        Self::with_groups(groups.collect::<Result<_, _>>()?, receivers)
    }

    /// Binds [`default_addresses`], as far as this host has those address families.
    pub fn bind_default(receivers: usize) -> Result<Self, ListenError> {
        let mut groups = Vec::new();
        for address in default_addresses() {
            match open_group(address, receivers) {
                Err(err) if err.is_of_family() => {}
                other => groups.push(other?),
            }
        }
        Self::with_groups(groups, receivers)
    }

    fn with_groups(groups: Vec<Vec<Socket>>, receivers: usize) -> Result<Self, ListenError> {
        if groups.is_empty() {
            return Err(ListenError::NoAddress);
        }
        Ok(Self {
            groups,
            receivers: receivers.max(1),
            run: 0,
        })
    }

    /// What answers to probes say, so that a new start can be told.
    pub fn with_run(self, run: u64) -> Self {
        Self { run, ..self }
    }

    /// The addresses bound, with the ports that the kernel chose where 0 was asked for.
    pub fn local_addresses(&self) -> Vec<SocketAddr> {
        let first = self.groups.iter().filter_map(|group| group.first());
        first.filter_map(Socket::address).collect()
    }

    /// Begins to receive; datagrams that wait for the decoder have so many bytes of memory. `now_ns` tells
    /// nanoseconds since the Unix epoch.
    pub fn start(self, queue_bytes: usize, now_ns: fn() -> u64) -> Result<Reception, ListenError> {
        // As many in each group: the threads' sockets are in columns.
        let columns = (0..self.receivers).map(|receiver| {
            let firsts = (0..self.groups.len()).map(|group| group * self.receivers);
            firsts.map(|first| first + receiver).collect::<Vec<_>>()
        });
        let columns: Vec<_> = columns.collect();
        let sockets: Vec<_> = self.groups.into_iter().flatten().collect();
        let shared = Arc::new(Shared {
            drops: Mutex::new((vec![0; sockets.len()], 0)),
            sockets,
            queue: Queue::new(self.receivers, queue_bytes),
            ending: AtomicBool::new(false),
            datagrams: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            probes: AtomicU64::new(0),
            probes_unanswered: AtomicU64::new(0),
            queue_drops: AtomicU64::new(0),
            errors: AtomicU64::new(0),
        });
        let reception = Reception(shared.clone());
        for (number, sockets) in columns.into_iter().enumerate() {
            let receiver = Receiver {
                shared: shared.clone(),
                sockets,
                run: self.run,
                now_ns,
            };
            let name = format!("receive {number}");
            thread::Builder::new()
                .name(name)
                .spawn(move || receiver.run())?;
        }
        Ok(reception)
    }
}

impl Reception {
    /// Gives the datagrams that came first to `take`, as far as they are one batch, until that wants no more. Waits
    /// for some, but no longer than so; whether there were any.
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

    /// What is sent from now on is not received any more, but counted as dropped; what came before still is to be
    /// taken.
    pub fn end(&self) {
        self.0.ending.store(true, Ordering::Relaxed);
    }

    /// Whether all that will come has been taken.
    pub fn is_done(&self) -> bool {
        self.0.queue.is_done()
    }

    pub fn counts(&self) -> ListenerCounts {
        self.observer().get()
    }

    /// For other threads.
    pub fn observer(&self) -> ReceptionCounts {
        ReceptionCounts(self.0.clone())
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

impl Shared {
    /// All that the kernel dropped so far. It counts modulo 2^32, and is asked far more often than that takes.
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
