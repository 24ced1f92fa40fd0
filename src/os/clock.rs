//! The host's clocks and how far they are apart.

use std::io;

use nix::libc;
use nix::time::{ClockId, clock_gettime};

/// One clock's reading in nanoseconds.
fn read_ns(clock: ClockId) -> io::Result<i64> {
    let time = clock_gettime(clock)?;
    Ok(time.tv_sec() * 1_000_000_000 + time.tv_nsec())
}

/// Nanoseconds since the Unix epoch.
pub fn realtime_ns() -> u64 {
    read_ns(ClockId::CLOCK_REALTIME).map_or(0, |ns| u64::try_from(ns).unwrap_or(0))
}

/// Nanoseconds of a clock that nobody sets: the one that leases count by.
pub fn monotonic_ns() -> u64 {
    read_ns(ClockId::CLOCK_MONOTONIC).map_or(0, |ns| u64::try_from(ns).unwrap_or(0))
}

/// CPU time that this thread has used, in nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    read_ns(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(0, |ns| u64::try_from(ns).unwrap_or(0))
}

/// What the kernel says of its clock's discipline.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Discipline {
    /// TAI minus UTC as the kernel was told; 0 if nobody did.
    pub tai_offset_s: i32,
    pub synchronised: bool,
    /// How far off it may be, as who keeps it told the kernel: as estimated, and at most.
    pub estimated_error_us: u64,
    pub greatest_error_us: u64,
}

/// Asks adjtimex(2).
pub fn discipline() -> io::Result<Discipline> {
    // SAFETY: timex is plain data; all zeros asks adjtimex to change nothing.
    let mut timex: libc::timex = unsafe { std::mem::zeroed() };
    // SAFETY: timex is valid for writing.
    let state = unsafe { libc::adjtimex(&mut timex) };
    if state < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Discipline {
        tai_offset_s: timex.tai,
        synchronised: state != libc::TIME_ERROR && timex.status & libc::STA_UNSYNC == 0,
        estimated_error_us: timex.esterror.unsigned_abs(),
        greatest_error_us: timex.maxerror.unsigned_abs(),
    })
}

/// What must be added to CLOCK_MONOTONIC to get the time since the Unix epoch. Of many samples the one with
/// the narrowest bracket is taken: a preempted sample is off by microseconds.
pub fn monotonic_to_realtime_ns() -> io::Result<i64> {
    let mut best = (i64::MAX, 0);
    for _ in 0..64 {
        let before = read_ns(ClockId::CLOCK_MONOTONIC)?;
        let real = read_ns(ClockId::CLOCK_REALTIME)?;
        let after = read_ns(ClockId::CLOCK_MONOTONIC)?;
        best = best.min((after - before, real - (before + (after - before) / 2)));
    }
    Ok(best.1)
}
