//! The kernel's clock, changed as a time daemon changes it, and left as it was.

use std::io;

use nix::libc;

/// An error of one second, in us: packets tell more.
const LOOSE_US: i64 = 1_000_000;

fn adjust(change: &mut libc::timex) {
    // SAFETY: the struct lives for the whole call.
    let state = unsafe { libc::adjtimex(change) };
    assert!(state >= 0, "adjtimex: {}", io::Error::last_os_error());
}

fn read() -> libc::timex {
    // SAFETY: a C struct of integers, for which zeros are a value.
    let mut now: libc::timex = unsafe { std::mem::zeroed() };
    adjust(&mut now);
    now
}

/// What a time daemon has said last.
struct State(libc::timex);

impl State {
    fn now() -> Self {
        Self(read())
    }

    fn restore(&self) {
        let mut change = self.0;
        change.modes = libc::ADJ_STATUS | libc::ADJ_MAXERROR | libc::ADJ_ESTERROR;
        change.modes |= match change.status & libc::STA_NANO {
            0 => libc::ADJ_MICRO,
            _ => libc::ADJ_NANO,
        };
        adjust(&mut change);
    }
}

/// Sets the clock. The kernel then takes it for one that is not synchronised, and is told what it was told before.
pub fn set_by(ns: i64) {
    let before = State::now();
    let mut change = before.0;
    change.modes = libc::ADJ_SETOFFSET | libc::ADJ_NANO;
    change.time.tv_sec = ns.div_euclid(1_000_000_000);
    change.time.tv_usec = ns.rem_euclid(1_000_000_000);
    adjust(&mut change);
    before.restore();
}

/// The clock is said to be synchronised until this is dropped.
pub struct Synchronised(Option<State>);

impl Synchronised {
    /// Changes nothing if a time daemon says so already.
    pub fn declare() -> Self {
        let before = State::now();
        if before.0.status & libc::STA_UNSYNC == 0 {
            return Self(None);
        }
        let mut change = before.0;
        change.modes = libc::ADJ_STATUS | libc::ADJ_MAXERROR | libc::ADJ_ESTERROR;
        change.status &= !libc::STA_UNSYNC;
        (change.maxerror, change.esterror) = (LOOSE_US, LOOSE_US);
        adjust(&mut change);
        Self(Some(before))
    }
}

impl Drop for Synchronised {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            before.restore();
        }
    }
}
