//! An alarm for when the host's clock is set.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use nix::sys::time::TimeSpec;
use nix::sys::timer::TimerSetTimeFlags;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags};

/// The year 2106: a timer that never ends.
const NEVER_S: i64 = u32::MAX as i64;

/// A timer that the kernel cancels whenever the clock is set.
#[derive(Debug)]
pub struct ClockAlarm(TimerFd);

impl ClockAlarm {
    pub fn new() -> io::Result<Self> {
        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        let timer = TimerFd::new(ClockId::CLOCK_REALTIME, flags)?;
        timer.set(
            Expiration::OneShot(TimeSpec::new(NEVER_S, 0)),
            TimerSetTimeFlags::TFD_TIMER_ABSTIME | TimerSetTimeFlags::TFD_TIMER_CANCEL_ON_SET,
        )?;
        Ok(Self(timer))
    }

    /// Returns whether the clock was set since this was asked last.
    pub fn was_set(&self) -> bool {
        self.0.wait().is_ok()
    }
}

impl AsFd for ClockAlarm {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
