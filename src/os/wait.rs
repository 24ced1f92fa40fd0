//! Waits: a daemon sleeps until there is something to read, a signal or another thread wakes it, or it is time.

use std::cell::RefCell;
use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::eventfd::{EfdFlags, EventFd};

use super::clock;

/// What wakes this process, once it has been made.
static WAKE: OnceLock<EventFd> = OnceLock::new();

/// Waits for a time are at least this long: what is due again and again leaves time for all else.
const LEAST: Duration = Duration::from_millis(1);
/// The pause if the kernel cannot wait.
const FAILED: Duration = Duration::from_millis(10);

thread_local! {
    /// The descriptors for which this thread waited last and that had nothing to read.
    static QUIET: RefCell<Vec<RawFd>> = const { RefCell::new(Vec::new()) };
}

/// True if this thread's last wait was for this, too, and it had nothing to read then. What comes later ends the next
/// wait, so a turn of a loop need not ask the kernel again.
pub fn is_quiet(fd: &impl AsFd) -> bool {
    QUIET.with_borrow(|quiet| quiet.contains(&fd.as_fd().as_raw_fd()))
}

/// Lets [`wake`] end waits from now on.
pub fn prepare() -> io::Result<()> {
    if WAKE.get().is_none() {
        let flags = EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC;
        let _ = WAKE.set(EventFd::from_flags(flags)?);
    }
    Ok(())
}

/// Ends the wait of this process's loop, or the next one if it does not wait now. Signal handlers may call it.
pub fn wake() {
    if let Some(wake) = WAKE.get() {
        // Its counter is never full: each wait empties it.
        let _ = wake.write(1);
    }
}

/// What is waited for, besides [`wake`].
#[derive(Default)]
pub struct Wait<'a> {
    readable: Vec<PollFd<'a>>,
    until: Option<Instant>,
}

impl<'a> Wait<'a> {
    /// Waits no longer than until there is something to read. Whoever asks for it reads all of it in each turn.
    pub fn on(&mut self, fd: &'a impl AsFd) {
        let fd = PollFd::new(fd.as_fd(), PollFlags::POLLIN);
        self.readable.push(fd);
    }

    /// Waits no longer than until this time.
    pub fn until(&mut self, when: Instant) {
        self.until = Some(self.until.map_or(when, |until| until.min(when)));
    }

    /// Waits no longer than until this time of the monotonic clock.
    pub fn until_ns(&mut self, when_ns: u64) {
        let left_ns = when_ns.saturating_sub(clock::monotonic_ns());
        self.until(Instant::now() + Duration::from_nanos(left_ns));
    }

    /// Waits.
    pub fn sleep(mut self) {
        let wake = WAKE.get();
        if let Some(wake) = wake {
            self.on(wake);
        }
        let timeout = self.timeout();
        let waited = poll(&mut self.readable, timeout);
        QUIET.with_borrow_mut(|quiet| {
            quiet.clear();
            let nothing = |fd: &&PollFd<'_>| waited.is_ok() && fd.any() == Some(false);
            let silent = self.readable.iter().filter(nothing);
            quiet.extend(silent.map(|fd| fd.as_fd().as_raw_fd()));
        });
        if waited.is_err_and(|err| err != Errno::EINTR) {
            thread::sleep(FAILED);
        }
        if let Some(wake) = wake.filter(|wake| !is_quiet(wake)) {
            // Nothing to read: something else ended the wait.
            let _ = wake.read();
        }
    }

    /// Rounded up: what is due a little later is due then, too.
    fn timeout(&self) -> PollTimeout {
        let Some(until) = self.until else {
            return PollTimeout::NONE;
        };
        let left = until.saturating_duration_since(Instant::now()).max(LEAST);
        let left_ms = i32::try_from(left.as_micros().div_ceil(1000)).unwrap_or(i32::MAX);
        PollTimeout::try_from(left_ms).unwrap_or(PollTimeout::MAX)
    }
}
