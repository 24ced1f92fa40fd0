//! The signals that end a daemon, or make it reload or reopen its files.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use nix::unistd::dup2_stderr;

use super::wait;

static ENDING: AtomicBool = AtomicBool::new(false);
static ASKED: AtomicBool = AtomicBool::new(false);
static RELOAD: AtomicBool = AtomicBool::new(false);

extern "C" fn ask(_: nix::libc::c_int) {
    ASKED.store(true, Ordering::Relaxed);
    wait::wake();
}

extern "C" fn reload(_: nix::libc::c_int) {
    ask_to_reload();
}

/// The signals that ask a daemon for something. Without a handler they end the process.
fn requests() -> SigSet {
    SigSet::from_iter([Signal::SIGHUP, Signal::SIGUSR1])
}

/// Keeps the signals that ask a daemon for something until it has handlers for them. To be called before anything else:
/// a supervisor may send them as soon as it has started the daemon.
pub fn hold() -> io::Result<()> {
    Ok(requests().thread_block()?)
}

/// Lets those signals come.
pub fn release() -> io::Result<()> {
    Ok(requests().thread_unblock()?)
}

/// What SIGHUP makes a daemon do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Hangup {
    Ends,
    /// It reads its config file again, unless the signal is sent because the terminal is gone.
    Reloads,
}

impl Hangup {
    /// A daemon that has a config file reads it again.
    pub fn of_config<T>(file: Option<&T>) -> Self {
        match file {
            Some(_) => Self::Reloads,
            None => Self::Ends,
        }
    }
}

/// Installs the handlers, and takes the signals that came before: SIGINT and SIGTERM end the daemon, SIGUSR1 asks for counters
/// or reopened logs.
pub fn install(hangup: Hangup) -> io::Result<()> {
    wait::prepare()?;
    ctrlc::set_handler(end).map_err(io::Error::other)?;
    let on = |signal, handler| {
        let action = SigAction::new(
            SigHandler::Handler(handler),
            SaFlags::empty(),
            SigSet::empty(),
        );
        // SAFETY: the handlers only store to an atomic, and write to a descriptor.
        unsafe { sigaction(signal, &action) }
    };
    on(Signal::SIGUSR1, ask)?;
    if hangup == Hangup::Reloads {
        on(Signal::SIGHUP, reload)?;
    }
    release()
}

/// Asks for a reload, as SIGHUP does.
pub fn ask_to_reload() {
    RELOAD.store(true, Ordering::Relaxed);
    wait::wake();
}

fn end() {
    ENDING.store(true, Ordering::Relaxed);
    wait::wake();
}

/// True once the process was asked to end.
pub fn ending() -> bool {
    let ending = ENDING.load(Ordering::Relaxed);
    if ending && terminal_is_gone() {
        silence_stderr();
    }
    ending
}

/// True once after each SIGHUP.
pub fn reload_asked() -> bool {
    let asked = RELOAD.swap(false, Ordering::Relaxed);
    if asked && terminal_is_gone() {
        end();
        silence_stderr();
        return false;
    }
    asked
}

/// Redirects stderr to /dev/null, because writing to a terminal that is gone fails.
fn silence_stderr() {
    if let Ok(null) = OpenOptions::new().write(true).open("/dev/null") {
        let _ = dup2_stderr(null);
    }
}

/// True if stderr is a terminal that is gone.
fn terminal_is_gone() -> bool {
    let stderr = io::stderr();
    let mut fds = [PollFd::new(stderr.as_fd(), PollFlags::empty())];
    poll(&mut fds, PollTimeout::ZERO).is_ok()
        && fds[0]
            .revents()
            .is_some_and(|events| events.contains(PollFlags::POLLHUP))
}

/// True once after each SIGUSR1.
pub fn usr1_received() -> bool {
    ASKED.swap(false, Ordering::Relaxed)
}
