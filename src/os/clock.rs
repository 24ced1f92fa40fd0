//! The host's clocks, and the offsets between them.

use std::io;
use std::num::NonZeroU32;

use nix::libc;
use nix::time::{ClockId, clock_getres, clock_gettime};

/// The most samples of a pair of clocks. The quickest is the most exact, and one that took this time will do.
const PAIR_SAMPLES: usize = 16;
const QUICK_NS: i64 = 1_000;

const OFFSET_SAMPLES: usize = 8;

/// Reads a clock in nanoseconds.
fn read_ns(clock: ClockId) -> io::Result<i64> {
    let time = clock_gettime(clock)?;
    Ok(time.tv_sec() * 1_000_000_000 + time.tv_nsec())
}

/// Returns nanoseconds since the Unix epoch.
pub fn realtime_ns() -> u64 {
    read_ns(ClockId::CLOCK_REALTIME).map_or(0, |ns| u64::try_from(ns).unwrap_or(0))
}

/// Returns nanoseconds of a clock that is never set, by which leases count.
pub fn monotonic_ns() -> u64 {
    read_ns(ClockId::CLOCK_MONOTONIC).map_or(0, |ns| u64::try_from(ns).unwrap_or(0))
}

/// Returns nanoseconds of a clock that is never set, and goes on while the host is suspended.
pub fn since_boot_ns() -> u64 {
    read_ns(ClockId::CLOCK_BOOTTIME).map_or(0, |ns| u64::try_from(ns).unwrap_or(0))
}

/// Returns the time since the Unix epoch, less that of the monotonic clock: the best of some samples, because this thread
/// may be interrupted between two clocks.
pub fn wall_offset() -> u64 {
    let sample = || {
        let before = monotonic_ns();
        let wall = realtime_ns();
        let took = monotonic_ns().saturating_sub(before);
        (took, wall.wrapping_sub(before + took / 2))
    };
    let samples = (0..OFFSET_SAMPLES).map(|_| sample());
    samples
        .min_by_key(|(took, _)| *took)
        .map_or(0, |(_, offset)| offset)
}

/// Returns the length of a tick, by which the kernel counts long times.
pub fn tick_ns() -> io::Result<u64> {
    // The coarse clock goes on once a tick.
    let tick = clock_getres(ClockId::CLOCK_MONOTONIC_COARSE)?;
    u64::try_from(tick.tv_sec() * 1_000_000_000 + tick.tv_nsec()).map_err(io::Error::other)
}

/// The raw clock, CLOCK_MONOTONIC_RAW, which is neither set nor slewed, and the time since the Unix epoch, read together.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ClockPair {
    /// The raw clock just before.
    pub raw_ns: i64,
    /// The time until the raw clock was read again just after.
    pub took_ns: i64,
    pub realtime_ns: i64,
}

/// Reads both, again if this thread was interrupted meanwhile.
pub fn pair() -> io::Result<ClockPair> {
    pair_of(ClockId::CLOCK_REALTIME, 0)
}

/// The same with the TAI clock and an offset to the time since the Unix epoch, which may be out of date.
pub fn pair_of_tai(offset_ns: i64) -> io::Result<ClockPair> {
    pair_of(ClockId::CLOCK_TAI, offset_ns)
}

/// The same with the monotonic clock and an offset to the time since the Unix epoch, which may be out of date.
pub fn pair_of_monotonic(offset_ns: i64) -> io::Result<ClockPair> {
    pair_of(ClockId::CLOCK_MONOTONIC, offset_ns)
}

fn pair_of(clock: ClockId, offset_ns: i64) -> io::Result<ClockPair> {
    let sample = || -> io::Result<ClockPair> {
        let raw_ns = read_ns(ClockId::CLOCK_MONOTONIC_RAW)?;
        let realtime_ns = read_ns(clock)?.wrapping_add(offset_ns);
        let took_ns = read_ns(ClockId::CLOCK_MONOTONIC_RAW)? - raw_ns;
        Ok(ClockPair {
            raw_ns,
            took_ns,
            realtime_ns,
        })
    };
    let mut best = sample()?;
    for _ in 1..PAIR_SAMPLES {
        if best.took_ns <= QUICK_NS {
            break;
        }
        let another = sample()?;
        if another.took_ns < best.took_ns {
            best = another;
        }
    }
    Ok(best)
}

/// Returns the CPU time that this thread has used, in nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    read_ns(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(0, |ns| u64::try_from(ns).unwrap_or(0))
}

/// Returns the CPU time that all threads of this process have used, in nanoseconds.
pub fn process_cpu_ns() -> u64 {
    read_ns(ClockId::CLOCK_PROCESS_CPUTIME_ID).map_or(0, |ns| u64::try_from(ns).unwrap_or(0))
}

/// The adjustment of the kernel's clock by a time daemon.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Discipline {
    /// TAI minus UTC as the time daemon set it in the kernel, else 0.
    pub tai_offset_s: i32,
    pub synchronised: bool,
    /// The clock's error as the time daemon estimates it.
    pub estimated_error_us: u64,
    /// The clock's error is at most this, according to the time daemon.
    pub greatest_error_us: u64,
    /// The least and the greatest rate that the kernel steers the clock by now, against the raw clock.
    pub steered_ppb: (i64, i64),
}

/// The kernel reports whole microseconds, rounded down.
const ROUNDING_NS: u64 = 1_000;

impl Discipline {
    /// The error of the clock as its operator states it, else as its time daemon does. `None`: it is not
    /// synchronised, and may be off by any time.
    pub fn stated_error_ns(&self, operator: Option<NonZeroU32>) -> Option<u64> {
        let stated_ns = operator.map_or_else(|| self.daemons_error_ns(), |ns| ns.get().into());
        self.synchronised.then_some(stated_ns)
    }

    /// The error that the time daemon means: twice the estimated one, for that is a deviation of most readings, or the
    /// greatest one. Daemons that say nothing leave 0 or 16 s as the estimate.
    fn daemons_error_ns(&self) -> u64 {
        let most_us = self.greatest_error_us;
        let stated_us = match self.estimated_error_us {
            0 => most_us,
            estimated_us => most_us.min(estimated_us.saturating_mul(2)),
        };
        stated_us.saturating_mul(1_000).saturating_add(ROUNDING_NS)
    }
}

/// The kernel amortises adjtime(3) at this rate.
const ADJTIME_PPB: i64 = 500_000;
/// Of a time daemon's offset, the kernel takes this part in a second (as a power of two), less by the time constant.
const PLL_SHIFT: i64 = 2;

fn steered_ppb(timex: &libc::timex, adjtime_us: i64) -> (i64, i64) {
    let rate_ppb = (timex.tick - 10_000) * 100_000 + timex.freq * 1000 / 65_536;
    let nanoseconds = timex.status & libc::STA_NANO != 0;
    let pll_ns = match timex.status & libc::STA_PLL {
        0 => 0,
        _ if nanoseconds => timex.offset,
        _ => timex.offset * 1000,
    };
    let shift = (PLL_SHIFT + timex.constant).clamp(0, 62);
    let pending = [pll_ns >> shift, adjtime_us.signum() * ADJTIME_PPB];
    let less: i64 = pending.iter().map(|ppb| ppb.min(&0)).sum();
    let more: i64 = pending.iter().map(|ppb| ppb.max(&0)).sum();
    (rate_ppb + less, rate_ppb + more)
}

/// Asks adjtimex(2) with modes that change nothing.
fn adjtimex(reading: libc::c_uint) -> io::Result<(libc::timex, i32)> {
    // SAFETY: timex is plain data.
    let mut timex: libc::timex = unsafe { std::mem::zeroed() };
    timex.modes = reading;
    // SAFETY: timex is valid for writing.
    let state = unsafe { libc::adjtimex(&mut timex) };
    if state < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok((timex, state))
}

/// Asks the kernel by adjtimex(2).
pub fn discipline() -> io::Result<Discipline> {
    let (timex, state) = adjtimex(0)?;
    let (adjtime, _) = adjtimex(libc::ADJ_OFFSET_SS_READ)?;
    Ok(Discipline {
        steered_ppb: steered_ppb(&timex, adjtime.offset),
        tai_offset_s: timex.tai,
        synchronised: state != libc::TIME_ERROR && timex.status & libc::STA_UNSYNC == 0,
        estimated_error_us: timex.esterror.unsigned_abs(),
        greatest_error_us: timex.maxerror.unsigned_abs(),
    })
}

/// Returns the offset from CLOCK_MONOTONIC to the time since the Unix epoch. Of many samples the one that took least
/// time is used: a sample that was preempted is off by microseconds.
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
