//! A receiving thread: it reads datagrams from sockets, many with one system call, and never waits for the decoder.

use std::array;
use std::io::IoSliceMut;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{MsgFlags, MultiHeaders, SockaddrStorage, recvmmsg};

use super::probe_answers::ProbeAnswers;
use super::reception::ReceptionState;
use super::socket::{Socket, socket_address};
use crate::wire::probe;

/// The most datagrams that one call reads.
const AT_ONCE: usize = 64;

/// The room for each datagram: no UDP payload is larger. The extra bytes keep the beginnings of datagrams in different
/// sets of the processor's cache.
const ROOM: usize = (64 << 10) + 192;

/// The most calls on one socket before it is the next one's turn.
const TURN: usize = 8;

/// The pause after a round in which sockets only failed, so that a broken socket does not take all CPU time.
const FAILURE_PAUSE: Duration = Duration::from_millis(10);

/// Datagrams that had passed the socket's filter when it was closed have this time to arrive.
const ON_THE_WAY: Duration = Duration::from_millis(1);

/// The most time for reading the last datagrams, in case the kernel did not close the socket's filter.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// One of the receiving threads.
pub(super) struct Receiver {
    pub(super) shared: Arc<ReceptionState>,
    /// The places of its sockets, one for each address.
    pub(super) sockets: Vec<usize>,
    /// The number that answers to probes carry.
    pub(super) run: u64,
    /// Nanoseconds since the Unix epoch.
    pub(super) now_ns: fn() -> u64,
}

/// A socket, and the memory for reading it.
struct SocketReader<'a> {
    socket: &'a Socket,
    /// Headers serve one socket only, because they keep the length of its addresses.
    headers: MultiHeaders<SockaddrStorage>,
    answers: ProbeAnswers,
}

/// The counts of one turn.
#[derive(Clone, Copy, Default)]
struct TurnCounts {
    datagrams: u64,
    errors: u64,
}

impl Receiver {
    /// Receives until the reception ends, and then the datagrams that are left.
    pub(super) fn run(self) {
        let shared = &*self.shared;
        let mut readers: Vec<_> = self
            .sockets
            .iter()
            .filter_map(|index| shared.sockets.get(*index))
            .map(|socket| SocketReader {
                socket,
                headers: MultiHeaders::preallocate(AT_ONCE, socket.room_for_destination()),
                answers: ProbeAnswers::default(),
            })
            .collect();
        let sockets: Vec<_> = readers.iter().map(|reader| reader.socket).collect();
        let mut fds: Vec<_> = sockets
            .iter()
            .map(|socket| socket.as_fd())
            .chain([shared.end.as_fd()])
            .map(|fd| PollFd::new(fd, PollFlags::POLLIN))
            .collect();
        let mut room = vec![0; AT_ONCE * ROOM];
        let mut last_words = None;
        loop {
            if last_words.is_none() && shared.ending.load(Ordering::Relaxed) {
                for socket in &sockets {
                    let _ = socket.close_filter();
                }
                thread::sleep(ON_THE_WAY);
                last_words = Some(Instant::now() + LAST_WORDS);
            }
            let timeout = last_words.map_or(PollTimeout::NONE, |_| PollTimeout::ZERO);
            let mut taken = TurnCounts::default();
            match poll(&mut fds, timeout) {
                Ok(0) | Err(Errno::EINTR | Errno::EAGAIN) => {}
                Ok(_) => {
                    for (fd, reader) in fds.iter().zip(&mut readers) {
                        if fd.any().unwrap_or(true) {
                            let turn = self.turn(reader, &mut room, last_words.is_some());
                            taken.datagrams += turn.datagrams;
                            taken.errors += turn.errors;
                        }
                    }
                }
                Err(_) => taken.errors += 1,
            }
            shared.errors.fetch_add(taken.errors, Ordering::Relaxed);
            if last_words.is_some_and(|end| taken.datagrams == 0 || Instant::now() >= end) {
                break;
            }
            if taken.datagrams == 0 && taken.errors > 0 {
                thread::sleep(FAILURE_PAUSE);
            }
        }
    }

    fn turn(&self, reader: &mut SocketReader<'_>, room: &mut [u8], last: bool) -> TurnCounts {
        let mut taken = TurnCounts::default();
        for _ in 0..TURN {
            match self.take(reader, room, last) {
                Ok(datagrams) => {
                    taken.datagrams += datagrams;
                    if datagrams < AT_ONCE as u64 {
                        break;
                    }
                }
                Err(Errno::EAGAIN) => break,
                Err(Errno::EINTR) => {}
                Err(_) => {
                    taken.errors += 1;
                    break;
                }
            }
        }
        taken
    }

    /// Reads the datagrams that are there by one call. Each is counted as received, and then queued or counted as
    /// dropped. Probes are answered at once instead, even when the queue is full: a collector that fell silent under
    /// load would pass its load on to others, which might fall silent too.
    fn take(&self, reader: &mut SocketReader<'_>, room: &mut [u8], last: bool) -> nix::Result<u64> {
        let mut rooms = room.chunks_mut(ROOM);
        let mut slices: [_; AT_ONCE] =
            array::from_fn(|_| [IoSliceMut::new(rooms.next().unwrap_or_default())]);
        let received = recvmmsg(
            reader.socket.as_fd().as_raw_fd(),
            &mut reader.headers,
            slices.iter_mut(),
            MsgFlags::MSG_DONTWAIT,
            None,
        )?;
        let shared = &*self.shared;
        let mut datagrams = 0;
        // Datagrams are counted before they are queued, so that the decoder never has more than were counted.
        let counted = received.filter_map(|message| {
            let from = message.address.as_ref().and_then(socket_address)?;
            let payload = message.iovs().next().unwrap_or_default();
            datagrams += 1;
            shared.datagrams.fetch_add(1, Ordering::Relaxed);
            let bytes = payload.len() as u64;
            shared.bytes.fetch_add(bytes, Ordering::Relaxed);
            if let Ok(probe) = probe::decode(payload) {
                shared.probes.fetch_add(1, Ordering::Relaxed);
                reader.answers.note(probe, &message);
                return None;
            }
            Some((payload, from))
        });
        let dropped = shared.queue.push(counted, (self.now_ns)(), last);
        shared.queue_drops.fetch_add(dropped, Ordering::Relaxed);
        if !reader.answers.is_empty() {
            let percent = shared.queue.percent();
            // A collector that ends does not answer, so that sinks choose another.
            let unanswered = if last {
                reader.answers.forget()
            } else {
                reader.answers.send(reader.socket, self.run, percent)
            };
            shared
                .probes_unanswered
                .fetch_add(unanswered, Ordering::Relaxed);
        }
        Ok(datagrams)
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.shared.queue.receiver_ended();
    }
}
