//! Times of reported packets as they come, in one piece of memory, until those of a path and a flow are counted together.

use super::{CorrectedLatency, PathSample, SegmentTime};

/// What is written of each place's time: bits of a sample's first two words.
const KIND_BITS: usize = 3;
const KINDS: u64 = (1 << KIND_BITS) - 1;
/// What was stamped, in one word.
const STAMPED: u64 = 1;
/// The same, and it is without error: one clock stamped it.
const EXACT: u64 = 2;
/// What was stamped, and the time without the difference of the clocks, in five words.
const CORRECTED: u64 = 3;
/// Values that do not fit into a word each, in two words each, and whether it is corrected.
const WIDE: u64 = 4;

/// A sample's place in the log, and what it counts for.
#[derive(Clone, Copy, Debug)]
pub struct LoggedSample {
    /// The numbers of its path and of its flow, or [`SampleLog::NONE`].
    pub path: u32,
    pub flow: u32,
    at: u32,
}

/// The samples that wait.
#[derive(Debug, Default)]
pub struct SampleLog {
    samples: Vec<LoggedSample>,
    words: Vec<i32>,
}

fn halves(value: i64) -> [i32; 2] {
    [value as i32, (value >> 32) as i32]
}

fn whole([low, high]: [i32; 2]) -> i64 {
    i64::from(high) << 32 | i64::from(low.cast_unsigned())
}

impl SampleLog {
    /// The number of no path and of no flow.
    pub const NONE: u32 = u32::MAX;

    /// The memory of the samples that wait.
    pub fn bytes(&self) -> usize {
        size_of_val(self.samples.as_slice()) + size_of_val(self.words.as_slice())
    }

    /// The number of samples.
    pub fn len(&self) -> usize {
        self.samples.len()
    }

    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    /// Writes down the times of a packet.
    pub fn push(&mut self, path: u32, flow: u32, sample: &PathSample) {
        let at = self.words.len();
        self.samples.push(LoggedSample {
            path,
            flow,
            at: at as u32,
        });
        self.words.extend([0; 2]);
        let mut kinds = 0;
        let segments = sample.segments.iter().map(Option::as_ref);
        let each = std::iter::once(Some(&sample.whole)).chain(segments);
        for (shift, time) in (0..u64::BITS).step_by(KIND_BITS).zip(each) {
            if let Some(time) = time {
                kinds |= self.put(time) << shift;
            }
        }
        if let Some(first) = self.words.get_mut(at..at + 2) {
            first.copy_from_slice(&halves(kinds.cast_signed()));
        }
    }

    /// Writes down a time. Returns its kind.
    fn put(&mut self, time: &SegmentTime) -> u64 {
        let (values, is_corrected) = values_of(time);
        let words = values.map(i32::try_from);
        let [
            Ok(stamped_ns),
            Ok(latency_ns),
            Ok(error_ns),
            Ok(low_ns),
            Ok(high_ns),
        ] = words
        else {
            self.words.push(is_corrected.into());
            self.words.extend(values.into_iter().flat_map(halves));
            return WIDE;
        };
        let exact = [stamped_ns, stamped_ns, 0, stamped_ns, stamped_ns];
        let words = [stamped_ns, latency_ns, error_ns, low_ns, high_ns];
        if is_corrected && words != exact {
            self.words.extend(words);
            return CORRECTED;
        }
        self.words.push(stamped_ns);
        if is_corrected { EXACT } else { STAMPED }
    }

    /// Hands each time of a sample to `each`, with its place: 0 for the whole path, and then those of its segments.
    pub fn times(&self, sample: &LoggedSample, mut each: impl FnMut(usize, SegmentTime)) {
        let words = self.words.get(sample.at as usize..).unwrap_or_default();
        let Some((kinds, mut words)) = words.split_first_chunk::<2>() else {
            return;
        };
        let mut kinds = whole(*kinds).cast_unsigned();
        let mut place = 0;
        while kinds != 0 {
            let kind = kinds & KINDS;
            let Some((time, rest)) = read(kind, words) else {
                return;
            };
            if let Some(time) = time {
                each(place, time);
            }
            words = rest;
            kinds >>= KIND_BITS;
            place += 1;
        }
    }

    /// Brings the samples of a path together, and among these those of a flow, in the order in which they came.
    pub fn group(&mut self) {
        self.samples
            .sort_by_key(|one| u64::from(one.path) << 32 | u64::from(one.flow));
    }

    pub fn samples(&self) -> &[LoggedSample] {
        &self.samples
    }

    pub fn clear(&mut self) {
        self.samples.clear();
        self.words.clear();
    }
}

/// What was stamped, the best estimate, its error, and its bounds; and whether these are known.
fn values_of(time: &SegmentTime) -> ([i64; 5], bool) {
    let stamped_ns = time.stamped_ns;
    match &time.corrected {
        None => ([stamped_ns, 0, 0, 0, 0], false),
        Some(corrected) => {
            let [low_ns, high_ns] = corrected.bound_ns;
            let error_ns = corrected.error_ns.cast_signed();
            let latency_ns = corrected.latency_ns;
            ([stamped_ns, latency_ns, error_ns, low_ns, high_ns], true)
        }
    }
}

fn time_of([stamped_ns, latency_ns, error_ns, low_ns, high_ns]: [i64; 5]) -> SegmentTime {
    SegmentTime {
        stamped_ns,
        corrected: Some(CorrectedLatency {
            latency_ns,
            error_ns: error_ns.cast_unsigned(),
            bound_ns: [low_ns, high_ns],
        }),
    }
}

/// Reads a time of this kind, and returns the words behind it.
fn read(kind: u64, words: &[i32]) -> Option<(Option<SegmentTime>, &[i32])> {
    let (time, rest) = match kind {
        STAMPED | EXACT => {
            let (ns, rest) = words.split_first()?;
            let ns = i64::from(*ns);
            let mut time = time_of([ns, ns, 0, ns, ns]);
            time.corrected = time.corrected.filter(|_| kind == EXACT);
            (Some(time), rest)
        }
        CORRECTED => {
            let (values, rest) = words.split_first_chunk::<5>()?;
            (Some(time_of(values.map(i64::from))), rest)
        }
        WIDE => {
            let (is_corrected, words) = words.split_first()?;
            let (values, rest) = words.split_first_chunk::<10>()?;
            let (values, _) = values.as_chunks::<2>();
            let values = std::array::from_fn(|at| values.get(at).map_or(0, |one| whole(*one)));
            let mut time = time_of(values);
            time.corrected = time.corrected.filter(|_| *is_corrected != 0);
            (Some(time), rest)
        }
        _ => (None, words),
    };
    Some((time, rest))
}
