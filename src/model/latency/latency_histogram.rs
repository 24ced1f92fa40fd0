//! A histogram of latencies: its slots grow with the value, and histograms can be added and stored.

use crate::model::LatencyResolution;

/// Slots for each power of two: a slot is at most 1/32 of its values wide.
const STEPS: u32 = 32;
const STEP_BITS: u32 = STEPS.trailing_zeros();

/// The greatest distance of a slot from 0.
pub(in crate::model) const LAST: i16 = 1919;

/// A histogram of signed nanoseconds: two clocks may disagree by more than a packet's travel time.
///
/// A value differs from its slot's bound by at most 1/32 of the value (3.1 %); below 64 ns slots are exact. Number,
/// sum, minimum and maximum are exact. Only slots that are not empty take room, and histograms can be added in any
/// order. Counts of a histogram with wider slots are counted at the upper bounds of those, and the result has their
/// resolution.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct LatencyHistogram {
    /// Ascending slots, none of them empty.
    pub(in crate::model) slots: Vec<(i16, u64)>,
    pub(in crate::model) resolution: LatencyResolution,
    pub(in crate::model) samples: u64,
    pub(in crate::model) sum: i128,
    pub(in crate::model) min: i64,
    pub(in crate::model) max: i64,
}

/// The slots from the first number to the last but one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SlotRange {
    pub from: i16,
    pub to: i16,
}

impl SlotRange {
    pub const ALL: Self = Self {
        from: -LAST,
        to: LAST + 1,
    };
}

impl Default for SlotRange {
    fn default() -> Self {
        Self::ALL
    }
}

pub(in crate::model) fn slot_of(ns: i64) -> i16 {
    let size = ns.unsigned_abs();
    let slot = match size.checked_ilog2() {
        Some(power) if power >= STEP_BITS => {
            let shift = power - STEP_BITS;
            shift * STEPS + (size >> shift) as u32
        }
        _ => size as u32,
    };
    if ns < 0 { -(slot as i16) } else { slot as i16 }
}

/// The largest value that a slot counts.
pub(in crate::model) fn upper_bound(slot: i16) -> i64 {
    let index = u32::from(slot.unsigned_abs());
    let shift = (index / STEPS).saturating_sub(1);
    let begin = u128::from(index - shift * STEPS) << shift;
    let size = match slot {
        0.. => begin + (1 << shift) - 1,
        _ => begin,
    };
    let size = i128::try_from(size).unwrap_or(i128::MAX);
    let value = if slot < 0 { -size } else { size };
    value.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

impl LatencyHistogram {
    pub fn samples(&self) -> u64 {
        self.samples
    }

    pub fn is_empty(&self) -> bool {
        self.samples == 0
    }

    /// The coarsest resolution of the counts in it.
    pub fn resolution(&self) -> LatencyResolution {
        self.resolution
    }

    /// The least and the greatest value.
    pub fn ends(&self) -> Option<(i64, i64)> {
        (!self.is_empty()).then_some((self.min, self.max))
    }

    /// The sum of all values, if it fits into 64 bits, or else the nearest number that does.
    pub fn sum_ns(&self) -> i64 {
        self.sum.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }

    pub fn whole_sum_ns(&self) -> i128 {
        self.sum
    }

    /// Counts a value.
    pub fn add(&mut self, ns: i64) {
        (self.min, self.max) = match self.samples {
            0 => (ns, ns),
            _ => (self.min.min(ns), self.max.max(ns)),
        };
        self.samples = self.samples.saturating_add(1);
        self.sum = self.sum.saturating_add(i128::from(ns));
        self.count(slot_of(ns), 1);
    }

    /// Adds counts, each of a higher slot than the one before.
    pub(in crate::model) fn count_ascending(&mut self, counts: impl Iterator<Item = (i16, u64)>) {
        let known = self.slots.len();
        let mut at = 0;
        for (slot, count) in counts {
            let lower = self.slots[at..known].iter();
            at += lower.take_while(|one| one.0 < slot).count();
            match self.slots[..known].get_mut(at) {
                Some(one) if one.0 == slot => one.1 = one.1.saturating_add(count),
                _ => self.slots.push((slot, count)),
            }
        }
        if known > 0 && self.slots.len() > known {
            // Two ascending runs, which a stable sort merges.
            self.slots.sort_by_key(|one| one.0);
        }
    }

    fn count(&mut self, slot: i16, count: u64) {
        if self.slots.last().is_none_or(|last| last.0 < slot) {
            self.slots.push((slot, count));
            return;
        }
        match self.slots.binary_search_by_key(&slot, |one| one.0) {
            Ok(at) => self.slots[at].1 = self.slots[at].1.saturating_add(count),
            Err(at) => self.slots.insert(at, (slot, count)),
        }
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Self) {
        if other.is_empty() {
            return;
        }
        if self.is_empty() {
            self.clone_from(other);
            return;
        }
        self.resolution = self.resolution.min(other.resolution);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.samples = self.samples.saturating_add(other.samples);
        self.sum = self.sum.saturating_add(other.sum);
        self.count_ascending(other.slots.iter().copied());
    }

    /// An upper bound of the value that this share of all values does not exceed, at most a slot of its
    /// [`LatencyResolution`] too high. `None` if it is not known that well.
    pub fn quantile(&self, share: f64) -> Option<i64> {
        let rank = (share * self.samples as f64).ceil().max(1.0) as u64;
        let mut seen = 0_u64;
        let reached = self.slots.iter().find(|(_, count)| {
            seen = seen.saturating_add(*count);
            seen >= rank
        });
        let slot = reached.or(self.slots.last())?.0;
        match self.resolution {
            LatencyResolution::Coarse | LatencyResolution::Middle if slot <= 0 && self.min < 0 => {
                self.greatest_below_zero()
            }
            _ => Some(upper_bound(slot).clamp(self.min, self.max)),
        }
    }

    /// The greatest value of 0 and less, if it is near enough to all others of those, which share one slot.
    fn greatest_below_zero(&self) -> Option<i64> {
        let greatest = self.max.min(0);
        let width = i128::from(greatest) - i128::from(self.min);
        let steps = i128::from(self.resolution.steps());
        (width * steps <= i128::from(greatest.unsigned_abs())).then_some(greatest)
    }

    /// Counts of values by the upper bound of their slot, ascending.
    pub fn slots(&self) -> impl Iterator<Item = (i64, u64)> {
        self.slots
            .iter()
            .map(|(slot, count)| (upper_bound(*slot).clamp(self.min, self.max), *count))
    }

    /// Counts of values by the upper bound of their slot, which may be greater than the greatest value.
    pub fn counts(&self) -> impl Iterator<Item = (i64, u64)> {
        (self.slots.iter()).map(|(slot, count)| (upper_bound(*slot), *count))
    }

    /// The histogram of counters that are read while they change, so that they may disagree by the last packets.
    ///
    /// `counts` has upper bounds of slots. Least, greatest and sum are moved to the nearest that the counts allow.
    pub fn of_counts(
        resolution: LatencyResolution,
        ends: (i64, i64),
        sum: i128,
        counts: impl IntoIterator<Item = (i64, u64)>,
    ) -> Self {
        let mut made = Self {
            resolution,
            ..Self::default()
        };
        for (bound_ns, count) in counts.into_iter().filter(|(_, count)| *count != 0) {
            made.count(slot_of(bound_ns), count);
            made.samples = made.samples.saturating_add(count);
        }
        let (Some(first), Some(last)) = (made.slots.first(), made.slots.last()) else {
            return Self::default();
        };
        let (least, greatest) = (made.bounds(first.0).0, made.bounds(last.0));
        made.min = ends.0.clamp(least, made.bounds(first.0).1);
        made.max = ends.1.clamp(greatest.0, greatest.1).max(made.min);
        made.set_sum(sum);
        if made.samples == 1 {
            (made.min, made.max) = (made.sum as i64, made.sum as i64);
        }
        made
    }

    /// The histogram of counters by fine slot, as the kernel half has them, of values that are not negative.
    pub fn of_fine_slots(counts: &[u64], ends: (i64, i64), sum: i128) -> Self {
        let numbered = (0..).zip(counts);
        let counts = numbered.map(|(slot, count)| (upper_bound(slot), *count));
        Self::of_counts(LatencyResolution::Fine, ends, sum, counts)
    }

    /// The same values, in slots of this resolution if its own are finer.
    pub fn coarsened(self, resolution: LatencyResolution) -> Self {
        if self.resolution <= resolution {
            return self;
        }
        let bound = |(bound_ns, count)| (resolution.bounds(bound_ns).1, count);
        let counts = self.counts().map(bound);
        Self::of_counts(resolution, (self.min, self.max), self.sum, counts)
    }

    fn set_sum(&mut self, sum: i128) {
        let samples = i128::from(self.samples);
        let [least, most] = [self.min, self.max].map(|end| i128::from(end).saturating_mul(samples));
        self.sum = sum.clamp(least, most);
    }

    /// The least and the largest value that a slot of this histogram may count.
    pub(in crate::model) fn bounds(&self, slot: i16) -> (i64, i64) {
        self.resolution.bounds(upper_bound(slot))
    }

    /// The values that were added since `earlier`; `None` if some of those are not in `self`.
    ///
    /// Number, sum and counts are exact. Least and greatest are exact if they are new, and else bounds of their slots.
    pub fn since(&self, earlier: &Self) -> Option<Self> {
        let mut before = earlier.slots.iter().peekable();
        let mut counts = Vec::new();
        for (slot, count) in &self.slots {
            let known = before.next_if(|known| known.0 == *slot);
            let known = known.map_or(0, |known| known.1);
            counts.push((upper_bound(*slot), count.checked_sub(known)?));
        }
        if before.next().is_some() {
            return None;
        }
        // `of_counts` moves these to the slots that have counts.
        let least = match earlier.ends() {
            Some((least, _)) if least <= self.min => i64::MIN,
            _ => self.min,
        };
        let greatest = match earlier.ends() {
            Some((_, greatest)) if greatest >= self.max => i64::MAX,
            _ => self.max,
        };
        let sum = self.sum.saturating_sub(earlier.sum);
        let mut since = Self::of_counts(self.resolution, (least, greatest), sum, counts);
        if since.is_empty() {
            return Some(since);
        }
        since.min = since.min.max(self.min);
        since.max = since.max.min(self.max).max(since.min);
        since.set_sum(sum);
        Some(since)
    }
}
