//! The signals that end a daemon or ask it for something.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

static ENDING: AtomicBool = AtomicBool::new(false);
static ASKED: AtomicBool = AtomicBool::new(false);

extern "C" fn ask(_: nix::libc::c_int) {
    ASKED.store(true, Ordering::Relaxed);
}

/// SIGINT, SIGTERM and SIGHUP ask to end from now on, SIGUSR1 asks for counters or reopened logs.
pub fn install() -> io::Result<()> {
    ctrlc::set_handler(|| ENDING.store(true, Ordering::Relaxed)).map_err(io::Error::other)?;
    let action = SigAction::new(SigHandler::Handler(ask), SaFlags::empty(), SigSet::empty());
    // SAFETY: the handler only stores to an atomic.
    unsafe { sigaction(Signal::SIGUSR1, &action) }?;
    Ok(())
}

/// True once the process was asked to end.
pub fn ending() -> bool {
    ENDING.load(Ordering::Relaxed)
}

/// True once after each SIGUSR1.
pub fn asked() -> bool {
    ASKED.swap(false, Ordering::Relaxed)
}
