//! Latency histograms as bytes, and as a peer tells them.

use serde::{Deserialize, Serialize};

use crate::model::latency_histogram::{LAST, slot_of};
use crate::model::number_code::{put, put_signed, take, take_signed};
use crate::model::{LatencyHistogram, LatencyResolution, SlotRange};

/// First byte of an encoded histogram.
const ONE: u8 = 1;
const MANY: u8 = 2;
/// A histogram whose resolution is not the finest; the number of steps follows.
const COARSE: u8 = 3;

/// Bytes that do not encode a histogram, or counts that are none.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("damaged latency histogram")]
pub struct BadHistogram;

/// The JSON of a latency histogram.
#[derive(Clone, Debug, Default, Eq, PartialEq, Deserialize, Serialize)]
pub struct DistributionRecord {
    /// Slots for each power of two: 32, 8 or 1.
    pub steps: u8,
    pub samples: u64,
    pub min_ns: i64,
    pub max_ns: i64,
    pub sum_ns: i128,
    /// The greatest value of a slot, and how many packets it has; slots without packets are left out.
    pub slots: Vec<(i64, u64)>,
    /// A part has the slots from the first number to the last but one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<(i16, i16)>,
}

impl From<&LatencyHistogram> for DistributionRecord {
    fn from(latency: &LatencyHistogram) -> Self {
        let (min_ns, max_ns) = latency.ends().unwrap_or_default();
        Self {
            steps: latency.resolution().steps(),
            samples: latency.samples(),
            min_ns,
            max_ns,
            sum_ns: latency.whole_sum_ns(),
            slots: latency.counts().collect(),
            part: None,
        }
    }
}

impl LatencyHistogram {
    /// Appends a compact form: a few bytes for a single value, two or three more for each slot, nothing if there are no
    /// values.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self.samples {
            0 => {}
            1 if self.resolution == LatencyResolution::Fine => {
                out.push(ONE);
                put_signed(out, self.min.into());
            }
            _ => {
                match self.resolution {
                    LatencyResolution::Fine => out.push(MANY),
                    coarse => out.extend([COARSE, coarse.steps()]),
                }
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
                take_signed(&mut rest)
                    .and_then(|ns| ns.try_into().ok())
                    .ok_or(BadHistogram)?,
            );
        } else if *form == MANY {
            histogram.take_many(&mut rest)?;
        } else if *form == COARSE {
            let (steps, rest_of_it) = rest.split_first().ok_or(BadHistogram)?;
            rest = rest_of_it;
            let resolution = LatencyResolution::from_steps(*steps);
            histogram.resolution = resolution
                .filter(|resolution| *resolution != LatencyResolution::Fine)
                .ok_or(BadHistogram)?;
            histogram.take_many(&mut rest)?;
        } else {
            return Err(BadHistogram);
        }
        rest.is_empty().then_some(histogram).ok_or(BadHistogram)
    }

    fn take_many(&mut self, rest: &mut &[u8]) -> Result<(), BadHistogram> {
        let number = |rest: &mut &[u8]| u64::try_from(take(rest)?).ok();
        self.sum = take_signed(rest).ok_or(BadHistogram)?;
        let min = take_signed(rest).and_then(|ns| ns.try_into().ok());
        self.min = min.ok_or(BadHistogram)?;
        let wide = number(rest).ok_or(BadHistogram)?;
        self.max = self.min.checked_add_unsigned(wide).ok_or(BadHistogram)?;
        let mut before = -LAST;
        while !rest.is_empty() {
            let ahead = number(rest).and_then(|ahead| i16::try_from(ahead).ok());
            let ahead = ahead.ok_or(BadHistogram)?;
            let count = number(rest).ok_or(BadHistogram)?;
            let slot = before.checked_add(ahead).filter(|slot| *slot <= LAST);
            let slot = slot.ok_or(BadHistogram)?;
            if count == 0 || (ahead == 0 && !self.slots.is_empty()) {
                return Err(BadHistogram);
            }
            self.samples = self.samples.checked_add(count).ok_or(BadHistogram)?;
            self.slots.push((slot, count));
            before = slot;
        }
        let short = self.samples == 1 && self.resolution == LatencyResolution::Fine;
        match self.is_empty() || short {
            true => Err(BadHistogram),
            false => self.check(),
        }
    }

    /// Refuses counts, sum and ends that cannot be those of the same values.
    ///
    /// # Errors
    /// If they are not.
    pub(in crate::model) fn check(&self) -> Result<(), BadHistogram> {
        if *self == Self::default() {
            return Ok(());
        }
        let counted =
            (self.slots.iter()).try_fold(0_u64, |sum, (_, count)| sum.checked_add(*count));
        let ends = [self.slots.first(), self.slots.last()].map(|end| end.map(|end| end.0));
        let ends_fit = match self.resolution {
            LatencyResolution::Fine => ends == [Some(slot_of(self.min)), Some(slot_of(self.max))],
            coarse => {
                let own = [self.min, self.max].map(|end| Some(coarse.bounds(end)));
                ends.map(|end| end.map(|slot| self.bounds(slot))) == own
            }
        };
        let fits = counted == Some(self.samples) && ends_fit && self.sum_fits();
        fits.then_some(()).ok_or(BadHistogram)
    }

    /// True if values between the ends can have this sum.
    fn sum_fits(&self) -> bool {
        let samples = i128::from(self.samples);
        let (least, most) = (i128::from(self.min), i128::from(self.max));
        least <= most && (least * samples..=most * samples).contains(&self.sum)
    }

    /// A histogram, or the part of one that has these slots, as a peer tells it.
    ///
    /// # Errors
    /// If values cannot have these counts, sum and ends.
    pub fn of_part(
        whole: (LatencyResolution, u64, i128, (i64, i64)),
        slots: Vec<(i16, u64)>,
        range: SlotRange,
    ) -> Result<Self, BadHistogram> {
        let (resolution, samples, sum, (min, max)) = whole;
        let part = Self {
            slots,
            resolution,
            samples,
            sum,
            min,
            max,
        };
        if samples == 0 {
            let empty = part.slots.is_empty() && (sum, min, max) == (0, 0, 0);
            return empty.then(Self::default).ok_or(BadHistogram);
        }
        let all = SlotRange::ALL;
        let ascending = part.slots.is_sorted_by(|one, next| one.0 < next.0);
        let within = (part.slots.iter())
            .all(|(slot, count)| (range.from..range.to).contains(slot) && *count != 0);
        let counted =
            (part.slots.iter()).try_fold(0_u64, |sum, (_, count)| sum.checked_add(*count));
        let range_fits = all.from <= range.from && range.from < range.to && range.to <= all.to;
        let fits = ascending
            && within
            && range_fits
            && part.sum_fits()
            && counted.is_some_and(|counted| counted <= samples);
        if !fits {
            return Err(BadHistogram);
        }
        if range == all {
            part.check()?;
        }
        Ok(part)
    }

    /// The histogram of a record.
    ///
    /// # Errors
    /// If values cannot have these counts, sum and ends.
    pub(in crate::model) fn of_record(
        record: &DistributionRecord,
        range: SlotRange,
    ) -> Result<Self, BadHistogram> {
        let resolution = LatencyResolution::from_steps(record.steps).ok_or(BadHistogram)?;
        let slots = record.slots.iter();
        let slots = slots.map(|(bound_ns, count)| (slot_of(*bound_ns), *count));
        let ends = (record.min_ns, record.max_ns);
        let whole = (resolution, record.samples, record.sum_ns, ends);
        Self::of_part(whole, slots.collect(), range)
    }

    /// True if the two are the same but for their slots.
    pub(in crate::model) fn same_but_slots(&self, other: &Self) -> bool {
        let totals = |one: &Self| (one.resolution, one.samples, one.sum, one.min, one.max);
        totals(self) == totals(other)
    }

    /// The same with these of its slots alone.
    pub fn part(&self, places: std::ops::Range<usize>) -> Self {
        Self {
            slots: self.slots.get(places).unwrap_or_default().to_vec(),
            ..*self
        }
    }

    /// Adds the slots of the next part, which come after all of its own.
    pub(in crate::model) fn join(&mut self, next: &Self) {
        self.slots.extend(&next.slots);
    }

    /// Slots by number, from -1919 to 1919, with their counts.
    pub fn numbered_slots(&self) -> &[(i16, u64)] {
        &self.slots
    }
}
