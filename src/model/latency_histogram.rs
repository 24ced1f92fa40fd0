//! A histogram of latencies: its slots grow with the value, and histograms can be added and stored.

use super::LatencyFigures;

/// Slots for each power of two: a slot is at most 1/32 of its values wide.
const STEPS: u32 = 32;
const STEP_BITS: u32 = STEPS.trailing_zeros();

/// The greatest distance of a slot from 0.
const LAST: i16 = 1919;

/// First byte of an encoded histogram.
const ONE: u8 = 1;
const MANY: u8 = 2;

/// A histogram of signed nanoseconds: two clocks may disagree by more than a packet's travel time.
///
/// A value differs from its slot's bound by at most 1/32 of the value (3.1 %); below 64 ns slots are exact. Number,
/// sum, minimum and maximum are exact. Only slots that are not empty take room, and histograms can be added in any
/// order.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct LatencyHistogram {
    /// Ascending slots, none of them empty.
    slots: Vec<(i16, u64)>,
    samples: u64,
    sum: i128,
    min: i64,
    max: i64,
}

/// Bytes that do not encode a histogram.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("damaged latency histogram")]
pub struct BadHistogram;

fn slot_of(ns: i64) -> i16 {
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
fn upper_bound(slot: i16) -> i64 {
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
    pub fn new() -> Self {
        Self::default()
    }

    pub fn samples(&self) -> u64 {
        self.samples
    }

    pub fn is_empty(&self) -> bool {
        self.samples == 0
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

    fn count(&mut self, slot: i16, count: u64) {
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
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.samples = self.samples.saturating_add(other.samples);
        self.sum = self.sum.saturating_add(other.sum);
        for (slot, count) in &other.slots {
            self.count(*slot, *count);
        }
    }

    /// An upper bound of the value that this share of all values does not exceed, at most 1/32 too high.
    pub fn quantile(&self, share: f64) -> Option<i64> {
        let rank = (share * self.samples as f64).ceil().max(1.0) as u64;
        let mut seen = 0_u64;
        let reached = self.slots.iter().find(|(_, count)| {
            seen = seen.saturating_add(*count);
            seen >= rank
        });
        let slot = reached.or(self.slots.last())?.0;
        Some(upper_bound(slot).clamp(self.min, self.max))
    }

    /// Counts of values by the upper bound of their slot, ascending.
    pub fn slots(&self) -> impl Iterator<Item = (i64, u64)> {
        self.slots
            .iter()
            .map(|(slot, count)| (upper_bound(*slot).clamp(self.min, self.max), *count))
    }

    /// `None` if there are no values.
    pub fn figures(&self) -> Option<LatencyFigures> {
        let (p50_ns, p99_ns) = (self.quantile(0.5)?, self.quantile(0.99)?);
        Some(LatencyFigures {
            samples: self.samples,
            min_ns: self.min,
            mean_ns: (self.sum / i128::from(self.samples.max(1))) as i64,
            p50_ns,
            p90_ns: self.quantile(0.9)?,
            p99_ns,
            max_ns: self.max,
            jitter_ns: p99_ns.saturating_sub(p50_ns),
        })
    }

    /// Appends a compact form: a few bytes for a single value, two or three more for each slot, nothing if there are no
    /// values.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self.samples {
            0 => {}
            1 => {
                out.push(ONE);
                put_signed(out, self.min.into());
            }
            _ => {
                out.push(MANY);
                put_signed(out, self.sum);
                put_signed(out, self.min.into());
                put(out, self.max.abs_diff(self.min).into());
                let mut before = -LAST;
                for (slot, count) in &self.slots {
                    put(out, slot.abs_diff(before).into());
                    put(out, (*count).into());
                    before = *slot;
                }
            }
        }
    }

    /// Reads the whole output of [`Self::encode`].
    ///
    /// # Errors
    /// If the bytes are anything else.
    pub fn decode(bytes: &[u8]) -> Result<Self, BadHistogram> {
        let Some((form, mut rest)) = bytes.split_first() else {
            return Ok(Self::default());
        };
        let mut histogram = Self::default();
        if *form == ONE {
            histogram.add(
                take_signed(&mut rest)?
                    .try_into()
                    .map_err(|_| BadHistogram)?,
            );
        } else if *form == MANY {
            histogram.take_many(&mut rest)?;
        } else {
            return Err(BadHistogram);
        }
        rest.is_empty().then_some(histogram).ok_or(BadHistogram)
    }

    fn take_many(&mut self, rest: &mut &[u8]) -> Result<(), BadHistogram> {
        self.sum = take_signed(rest)?;
        self.min = take_signed(rest)?.try_into().map_err(|_| BadHistogram)?;
        let wide: u64 = take(rest)?.try_into().map_err(|_| BadHistogram)?;
        self.max = self.min.checked_add_unsigned(wide).ok_or(BadHistogram)?;
        let mut before = -LAST;
        while !rest.is_empty() {
            let ahead = i16::try_from(take(rest)?).map_err(|_| BadHistogram)?;
            let count = u64::try_from(take(rest)?).map_err(|_| BadHistogram)?;
            let slot = before.checked_add(ahead).filter(|slot| *slot <= LAST);
            let slot = slot.ok_or(BadHistogram)?;
            if count == 0 || (ahead == 0 && !self.slots.is_empty()) {
                return Err(BadHistogram);
            }
            self.samples = self.samples.checked_add(count).ok_or(BadHistogram)?;
            self.slots.push((slot, count));
            before = slot;
        }
        let ends = [self.slots.first(), self.slots.last()].map(|end| end.map(|end| end.0));
        let mean_fits = self.samples > 1 && {
            let (least, most) = (i128::from(self.min), i128::from(self.max));
            let samples = i128::from(self.samples);
            (least * samples..=most * samples).contains(&self.sum)
        };
        let fits = ends == [Some(slot_of(self.min)), Some(slot_of(self.max))] && mean_fits;
        fits.then_some(()).ok_or(BadHistogram)
    }
}

/// Appends a number in groups of seven bits, lowest first.
fn put(out: &mut Vec<u8>, mut value: u128) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn put_signed(out: &mut Vec<u8>, value: i128) {
    put(out, ((value << 1) ^ (value >> 127)) as u128);
}

fn take(bytes: &mut &[u8]) -> Result<u128, BadHistogram> {
    let mut value = 0;
    for shift in (0..128).step_by(7) {
        let (byte, rest) = bytes.split_first().ok_or(BadHistogram)?;
        *bytes = rest;
        value |= u128::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(BadHistogram)
}

fn take_signed(bytes: &mut &[u8]) -> Result<i128, BadHistogram> {
    let value = take(bytes)?;
    Ok((value >> 1) as i128 ^ -((value & 1) as i128))
}
