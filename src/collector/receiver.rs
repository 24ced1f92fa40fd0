//! A thread that takes datagrams from sockets, many with one call, and waits for nobody.

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

use super::listener::Shared;
use super::probed::Answers;
use super::socket::{Socket, socket_address};
use crate::wire::probe;

/// Datagrams taken with one call.
const AT_ONCE: usize = 64;

/// Room for each of them: no UDP payload is larger. A little more, so that their beginnings do not meet in the
/// processor's cache.
const ROOM: usize = (64 << 10) + 192;

/// Calls on one socket before the next one has its turn.
const TURN: usize = 8;

/// How long it may take to see that it has to end.
const LOOK_UP: Duration = Duration::from_millis(100);

/// Pause after a round in which sockets only failed, lest a broken one takes all the time.
const FAILURE_PAUSE: Duration = Duration::from_millis(10);

/// What passed a socket's door when it closed gets this time to arrive.
const ON_THE_WAY: Duration = Duration::from_millis(1);

/// A kernel that closes no doors is not listened to for longer than this.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// One of the threads.
pub(super) struct Receiver {
    pub(super) shared: Arc<Shared>,
    /// Its sockets, one of each address.
    pub(super) sockets: Vec<usize>,
    /// Told to those who probe.
    pub(super) run: u64,
    /// Nanoseconds since the Unix epoch.
    pub(super) now_ns: fn() -> u64,
}

/// What one socket needs.
struct Source<'a> {
    socket: &'a Socket,
    /// Of one socket only: they keep the length of its addresses.
    headers: MultiHeaders<SockaddrStorage>,
    answers: Answers,
}

/// What a turn brought.
#[derive(Clone, Copy, Default)]
struct Taken {
    datagrams: u64,
    errors: u64,
}

impl Receiver {
    /// Receives until it has to end, and then what is there.
    pub(super) fn run(self) {
        let shared = &*self.shared;
        let sockets = self.sockets.iter();
        let mut sources: Vec<_> = sockets
            .filter_map(|index| shared.sockets.get(*index))
            .map(|socket| Source {
                socket,
                headers: MultiHeaders::preallocate(AT_ONCE, socket.room_for_destination()),
                answers: Answers::default(),
            })
            .collect();
        let sockets: Vec<_> = sources.iter().map(|source| source.socket).collect();
        let mut fds: Vec<_> = sockets
            .iter()
            .map(|socket| PollFd::new(socket.as_fd(), PollFlags::POLLIN))
            .collect();
        let mut room = vec![0; AT_ONCE * ROOM];
        let mut last_words = None;
        loop {
            if last_words.is_none() && shared.ending.load(Ordering::Relaxed) {
                for socket in &sockets {
                    let _ = socket.close_door();
                }
                thread::sleep(ON_THE_WAY);
                last_words = Some(Instant::now() + LAST_WORDS);
            }
            let timeout = last_words.map_or(LOOK_UP, |_| Duration::ZERO);
            let timeout = PollTimeout::try_from(timeout).unwrap_or(PollTimeout::MAX);
            let mut taken = Taken::default();
            match poll(&mut fds, timeout) {
                Ok(0) | Err(Errno::EINTR | Errno::EAGAIN) => {}
                Ok(_) => {
                    for (fd, source) in fds.iter().zip(&mut sources) {
                        if fd.any().unwrap_or(true) {
                            let turn = self.turn(source, &mut room, last_words.is_some());
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

    fn turn(&self, source: &mut Source<'_>, room: &mut [u8], last: bool) -> Taken {
        let mut taken = Taken::default();
        for _ in 0..TURN {
            match self.take(source, room, last) {
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

    /// Takes what is there, as far as one call takes it; of what is counted as received here, each datagram is
    /// queued or counted as dropped there, but for probes, which are answered at once: also when the queue is full,
    /// because a collector that falls silent under its load hands that to others, which then may fall silent, too.
    fn take(&self, source: &mut Source<'_>, room: &mut [u8], last: bool) -> nix::Result<u64> {
        let mut rooms = room.chunks_mut(ROOM);
        let mut slices: [_; AT_ONCE] =
            array::from_fn(|_| [IoSliceMut::new(rooms.next().unwrap_or_default())]);
        let received = recvmmsg(
            source.socket.as_fd().as_raw_fd(),
            &mut source.headers,
            slices.iter_mut(),
            MsgFlags::MSG_DONTWAIT,
            None,
        )?;
        let shared = &*self.shared;
        let mut datagrams = 0;
        // Before the decoder can have them, so that it never has more than were counted.
        let counted = received.filter_map(|message| {
            let from = message.address.as_ref().and_then(socket_address)?;
            let payload = message.iovs().next().unwrap_or_default();
            datagrams += 1;
            shared.datagrams.fetch_add(1, Ordering::Relaxed);
            let bytes = payload.len() as u64;
            shared.bytes.fetch_add(bytes, Ordering::Relaxed);
            if let Ok(probe) = probe::decode(payload) {
                shared.probes.fetch_add(1, Ordering::Relaxed);
                source.answers.note(probe, &message);
                return None;
            }
            Some((payload, from))
        });
        let dropped = shared.queue.push(counted, (self.now_ns)(), last);
        shared.queue_drops.fetch_add(dropped, Ordering::Relaxed);
        if !source.answers.is_empty() {
            let percent = shared.queue.percent();
            // One that ends sends its load away.
            let unanswered = match last {
                true => source.answers.forget(),
                false => source.answers.send(source.socket, self.run, percent),
            };
            let count = &shared.probes_unanswered;
            count.fetch_add(unanswered, Ordering::Relaxed);
        }
        Ok(datagrams)
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.shared.queue.receiver_ended();
    }
}
