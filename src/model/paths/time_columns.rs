//! Times of many packets by segment, which are counted together: what counts them stays in the processor's cache.

use crate::model::LatencyHistogram;
use crate::model::latency_histogram::{LAST, slot_of};

/// Fewer times are counted one by one.
const FEW: usize = 4;

const SLOTS: usize = 2 * LAST as usize + 1;

/// Counts by slot, all 0 between two uses.
#[derive(Debug)]
struct SlotCounter {
    counts: Vec<u32>,
    /// A bit for each slot that has a count.
    used: [u64; SLOTS.div_ceil(64)],
}

/// Times of a place.
#[derive(Debug, Default)]
struct TimeColumn {
    times: Vec<i64>,
    /// The first of those that count on their own, too.
    mark: usize,
}

/// Times that are not in histograms yet, by place.
#[derive(Debug, Default)]
pub struct TimeColumns {
    columns: Vec<TimeColumn>,
    counter: SlotCounter,
}

impl Default for SlotCounter {
    fn default() -> Self {
        Self {
            counts: vec![0; SLOTS],
            used: [0; SLOTS.div_ceil(64)],
        }
    }
}

impl SlotCounter {
    fn count(&mut self, ns: i64) {
        let at = place_of(ns);
        if let (Some(count), Some(used)) = (self.counts.get_mut(at), self.used.get_mut(at / 64)) {
            *count += 1;
            *used |= 1 << (at % 64);
        }
    }

    /// Takes the counts of values from the least to the greatest, by ascending slot.
    fn take(&mut self, (least, greatest): (i64, i64)) -> impl Iterator<Item = (i16, u64)> {
        let counts = &mut self.counts;
        let words = [least, greatest].map(|ns| place_of(ns) / 64);
        let used = (0..).step_by(64).zip(&mut self.used);
        let used = used.take(words[1] + 1).skip(words[0]);
        let slots = used.flat_map(|(first, bits)| {
            let mut bits = std::mem::take(bits);
            std::iter::from_fn(move || {
                let next = (bits != 0).then(|| first + bits.trailing_zeros() as usize);
                bits &= bits.wrapping_sub(1);
                next
            })
        });
        slots.filter_map(|at| {
            let count = std::mem::take(counts.get_mut(at)?);
            Some((at as i16 - LAST, u64::from(count)))
        })
    }
}

/// The place of a value's slot.
fn place_of(ns: i64) -> usize {
    (i32::from(slot_of(ns)) + i32::from(LAST)) as usize
}

impl LatencyHistogram {
    /// Counts values, as [`Self::add`] counts one. `counter` has no counts before and after.
    fn add_all(&mut self, values: &[i64], counter: &mut SlotCounter) {
        let Some(first) = values.first() else {
            return;
        };
        let (mut least, mut most, mut sum) = (*first, *first, 0_i128);
        for ns in values {
            (least, most) = (least.min(*ns), most.max(*ns));
            sum += i128::from(*ns);
            counter.count(*ns);
        }
        (self.min, self.max) = match self.samples {
            0 => (least, most),
            _ => (self.min.min(least), self.max.max(most)),
        };
        self.samples = self.samples.saturating_add(values.len() as u64);
        self.sum = self.sum.saturating_add(sum);
        self.count_ascending(counter.take((least, most)));
    }
}

fn count(times: Option<&[i64]>, histogram: &mut LatencyHistogram, counter: &mut SlotCounter) {
    let times = times.unwrap_or_default();
    match times.len() < FEW {
        true => times.iter().for_each(|ns| histogram.add(*ns)),
        false => histogram.add_all(times, counter),
    }
}

impl TimeColumn {
    fn clear(&mut self) {
        self.times.clear();
        self.mark = 0;
    }
}

impl TimeColumns {
    /// Keeps a time of a place until it is counted.
    pub fn push(&mut self, place: usize, ns: i64) {
        if self.columns.len() <= place {
            self.columns.resize_with(place + 1, TimeColumn::default);
        }
        if let Some(column) = self.columns.get_mut(place) {
            column.times.push(ns);
        }
    }

    /// Counts the times of a place that came since this was called before, and keeps them to be counted again with others.
    pub fn count_new(&mut self, place: usize, histogram: &mut LatencyHistogram) {
        if let Some(column) = self.columns.get_mut(place) {
            count(
                column.times.get(column.mark..),
                histogram,
                &mut self.counter,
            );
            column.mark = column.times.len();
        }
    }

    /// Counts the times of a place, and keeps none of them.
    pub fn count(&mut self, place: usize, histogram: &mut LatencyHistogram) {
        if let Some(column) = self.columns.get_mut(place) {
            count(Some(&column.times), histogram, &mut self.counter);
            column.clear();
        }
    }

    /// Keeps no times.
    pub fn clear_all(&mut self) {
        self.columns.iter_mut().for_each(TimeColumn::clear);
    }

    /// Keeps none of the times of a place.
    pub fn clear(&mut self, place: usize) {
        if let Some(column) = self.columns.get_mut(place) {
            column.clear();
        }
    }
}
