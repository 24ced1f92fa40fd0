//! How a host's clock ran against its raw clock: its slews and steps, by readings of both.

use std::collections::VecDeque;

use super::interval::ClockInterval;

/// Readings are kept for this long, by the raw clock.
const KEEP_NS: i128 = 60_000_000_000;
/// A change beyond what the clock's steering explains is a step if it is greater than this. A smaller one is a slew
/// whose course between the readings is unknown.
const STEP_NS: i128 = 1_000_000;
/// Clocks are read in whole nanoseconds, and a steered rate is reported in 2^-16 ppm.
const ROUNDING_NS: i128 = 2;
/// Between two readings, a time daemon may correct the rate several times. Beyond the rates at both ends it goes by this
/// at most.
const CORRECTION_PPB: i64 = 1_000;

/// A reading of the raw clock, then of the clock that stamps packets, then of the raw clock again.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Reading {
    pub raw_ns: i128,
    /// The time between the two readings of the raw clock.
    pub took_ns: i128,
    pub clock_ns: i128,
    /// The least and the greatest rate that the kernel steers the clock by now, against the raw clock.
    pub steered_ppb: (i64, i64),
    /// The clock was set since the reading before, if only by a little or there and back.
    pub is_after_set: bool,
}

impl Reading {
    /// The distance by which the clock is ahead of the raw clock.
    pub fn ahead(&self) -> ClockInterval {
        let exact = ClockInterval::exactly(self.clock_ns - self.raw_ns);
        ClockInterval::new(exact.low_ns - self.took_ns, exact.high_ns).widened(ROUNDING_NS)
    }
}

/// The time between two readings.
#[derive(Clone, Copy)]
struct Stretch<'a> {
    first: &'a Reading,
    last: &'a Reading,
}

fn slewed(ppb: i64, time_ns: i128) -> i128 {
    (time_ns * i128::from(ppb)).div_euclid(1_000_000_000)
}

impl Stretch<'_> {
    fn raw(&self) -> ClockInterval {
        ClockInterval::new(self.first.raw_ns, self.last.raw_ns + self.last.took_ns)
    }

    /// The rates that the kernel told of at both ends, and those between, as one range.
    fn rates(&self) -> (i64, i64) {
        let (one, other) = (self.first.steered_ppb, self.last.steered_ppb);
        (
            one.0.min(other.0) - CORRECTION_PPB,
            one.1.max(other.1) + CORRECTION_PPB,
        )
    }

    /// The change of `ahead` in this time by those rates. Both clocks were read at uncertain times.
    fn slew(&self, time_ns: i128) -> ClockInterval {
        let (least, most) = self.rates();
        ClockInterval::new(slewed(least, time_ns), slewed(most, time_ns)).widened(ROUNDING_NS)
    }

    /// True if the rates that the kernel told of explain the change.
    fn is_explained(&self) -> bool {
        let length_ns = self.last.raw_ns - self.first.raw_ns;
        let slew = self.slew(length_ns);
        let change = self.last.ahead().minus(self.first.ahead());
        change.intersection(slew).is_some()
    }

    fn is_step(&self) -> bool {
        let change = self.last.ahead().minus(self.first.ahead());
        self.last.is_after_set || change.middle_ns().abs() > STEP_NS && !self.is_explained()
    }

    /// True unless the clock surely showed something else in this time: its rate is off by less than a half.
    fn may_have_shown(&self, stamp_ns: i128) -> bool {
        let slack_ns = self.last.raw_ns - self.first.raw_ns + self.last.took_ns + STEP_NS;
        let shown = ClockInterval::exactly(self.first.clock_ns)
            .hull(ClockInterval::exactly(self.last.clock_ns));
        shown.widened(slack_ns).contains(stamp_ns)
    }

    /// The rate, without its sign, by which the clock ran if the kernel told of another one.
    fn shown_ppb(&self) -> Option<u64> {
        let is_shown = !self.is_explained() && !self.is_step();
        let length_ns = self.last.raw_ns - self.first.raw_ns;
        let change = self.last.ahead().minus(self.first.ahead());
        let change_ns = change.high_ns.max(-change.low_ns);
        let ppb = change_ns * 1_000_000_000 / length_ns.max(1);
        is_shown.then(|| u64::try_from(ppb).unwrap_or(u64::MAX))
    }

    /// The distance by which the clock was ahead at a time between the readings.
    fn ahead_at(&self, raw_ns: i128) -> ClockInterval {
        let (first, last) = (self.first.ahead(), self.last.ahead());
        let since_first = first.plus(self.slew((raw_ns - self.first.raw_ns).max(0)));
        let until_last = last.minus(self.slew((self.last.raw_ns - raw_ns).max(0)));
        let both = since_first.intersection(until_last);
        // The clock went from one course to the other at a time that is not known.
        both.filter(|_| self.is_explained())
            .unwrap_or_else(|| since_first.hull(until_last))
    }

    /// The greatest distance by which `ahead` may leave the range of its values at two times this long apart.
    fn bend_ns(&self, time_ns: i128) -> i128 {
        let (least, most) = self.rates();
        slewed(most - least, time_ns) + ROUNDING_NS
    }

    /// All values of `ahead` in this time: it may have gone beyond those at both ends and come back.
    fn reach(&self) -> ClockInterval {
        let slew = self.slew(self.raw().width_ns());
        let beyond_ns = slew.high_ns.max(-slew.low_ns);
        self.first
            .ahead()
            .hull(self.last.ahead())
            .widened(beyond_ns)
    }

    /// The raw clock's times when the clock showed this; `None` if it did not in this stretch.
    fn raw_of(&self, stamp_ns: i128) -> Option<ClockInterval> {
        let roughly = ClockInterval::exactly(stamp_ns).minus(self.reach());
        let roughly = roughly.intersection(self.raw())?;
        let ahead = self
            .ahead_at(roughly.low_ns)
            .hull(self.ahead_at(roughly.high_ns));
        let bend_ns = self.bend_ns(roughly.width_ns());
        let raw = ClockInterval::exactly(stamp_ns).minus(ahead.widened(bend_ns));
        raw.intersection(roughly)
    }
}

/// A host's clock against its raw clock, for the last minute.
#[derive(Clone, Debug, Default)]
pub struct OwnClock {
    readings: VecDeque<Reading>,
    /// Steps so far.
    pub steps: u64,
}

impl OwnClock {
    /// Takes the next reading. One that is not later than the last, as after a restart of the host, begins anew.
    pub fn note(&mut self, reading: Reading) {
        if let Some(last) = self.readings.back() {
            if reading.raw_ns <= last.raw_ns + last.took_ns {
                self.readings.clear();
            } else if (Stretch {
                first: last,
                last: &reading,
            })
            .is_step()
            {
                self.steps += 1;
            }
        }
        self.readings.push_back(reading);
        while let Some(first) = self.readings.front()
            && first.raw_ns < reading.raw_ns - KEEP_NS
        {
            self.readings.pop_front();
        }
    }

    /// The greatest rate, without its sign, by which the clock was steered in the last minute: as the kernel reported,
    /// or as the readings show. Steps apart.
    pub fn most_steered_ppb(&self) -> u64 {
        let reported = self.readings.iter().map(|reading| {
            let (least, most) = reading.steered_ppb;
            least.unsigned_abs().max(most.unsigned_abs())
        });
        let shown = self.stretches().filter_map(|stretch| stretch.shown_ppb());
        reported.chain(shown).max().unwrap_or(0)
    }

    pub fn newest_raw_ns(&self) -> Option<i128> {
        self.readings.back().map(|newest| newest.raw_ns)
    }

    /// The newest readings, oldest first.
    pub fn newest(&self, count: usize) -> impl Iterator<Item = &Reading> {
        let before = self.readings.len().saturating_sub(count);
        self.readings.iter().skip(before)
    }

    fn stretches(&self) -> impl Iterator<Item = Stretch<'_>> {
        self.stretches_from(0)
    }

    fn stretches_from(&self, place: usize) -> impl Iterator<Item = Stretch<'_>> {
        let (first, last) = (self.readings.range(place..), self.readings.range(place..));
        let pairs = first.zip(last.skip(1));
        pairs.map(|(first, last)| Stretch { first, last })
    }

    /// The stretches that have a part of this time.
    fn stretches_within(&self, raw: ClockInterval) -> impl Iterator<Item = Stretch<'_>> {
        // A reading belongs to the stretches before and behind it.
        let after = self.readings.partition_point(|one| one.raw_ns < raw.low_ns);
        let stretches = self.stretches_from(after.saturating_sub(2));
        let stretches = stretches.take_while(move |one| one.first.raw_ns <= raw.high_ns);
        stretches.filter(move |one| one.raw().intersection(raw).is_some())
    }

    fn is_read_within(&self, raw: ClockInterval) -> bool {
        let (first, last) = (self.readings.front(), self.readings.back());
        first.is_some_and(|first| first.raw_ns <= raw.low_ns)
            && last.is_some_and(|last| raw.high_ns <= last.raw_ns + last.took_ns)
    }

    /// True if the clock was read in this time, and not set.
    pub fn is_steady(&self, raw: ClockInterval) -> bool {
        let is_set = || self.stretches_within(raw).any(|one| one.is_step());
        self.is_read_within(raw) && !is_set()
    }

    /// All distances by which it was ahead in this time; `None` if one of them is not known, or if the clock was set.
    pub fn ahead_within(&self, raw: ClockInterval) -> Option<ClockInterval> {
        if !self.is_read_within(raw) {
            return None;
        }
        let mut found: Option<ClockInterval> = None;
        for stretch in self.stretches_within(raw) {
            if stretch.is_step() {
                return None;
            }
            let part = stretch.raw().intersection(raw)?;
            let ends = stretch
                .ahead_at(part.low_ns)
                .hull(stretch.ahead_at(part.high_ns));
            let ahead = ends.widened(stretch.bend_ns(part.width_ns()));
            found = Some(found.map_or(ahead, |found| found.hull(ahead)));
        }
        found
    }

    /// True if a step in this time may have moved the clock by this or more.
    pub fn stepped_by(&self, least_ns: i128, raw: ClockInterval) -> bool {
        self.stretches_within(raw).any(|stretch| {
            let change = stretch.last.ahead().minus(stretch.first.ahead());
            stretch.is_step() && change.high_ns.max(-change.low_ns) >= least_ns
        })
    }

    /// The raw clock's times when the clock showed this. `None` if it did not in the last minute, or if it may have
    /// done so twice: it was set back.
    pub fn raw_of(&self, stamp_ns: i128) -> Option<ClockInterval> {
        let mut found: Option<ClockInterval> = None;
        let maybe = |stretch: &Stretch| stretch.may_have_shown(stamp_ns);
        for stretch in self.stretches().filter(maybe) {
            if stretch.is_step() {
                if stretch.raw().plus(stretch.reach()).contains(stamp_ns) {
                    return None;
                }
                continue;
            }
            let Some(raw) = stretch.raw_of(stamp_ns) else {
                continue;
            };
            match found {
                // The same moment: the stretches meet there.
                Some(before) if raw.intersection(before.widened(STEP_NS)).is_some() => {
                    found = Some(raw.hull(before));
                }
                Some(_) => return None,
                None => found = Some(raw),
            }
        }
        found
    }
}
