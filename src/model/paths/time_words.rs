//! The times of a packet on its path, in few words: as they are written once, they are copied, and counted later.

use crate::model::path_sample::{segments_of, whole_of};
use crate::model::{CorrectedLatency, LatencyReport, NodeId, PathSample, SegmentTime};

/// What is written of each place's time: bits of the first two words.
const KIND_BITS: u32 = 3;
const KINDS: u64 = (1 << KIND_BITS) - 1;
/// What was stamped, in one word.
const STAMPED: u64 = 1;
/// The same, and it is without error: one clock stamped it.
const EXACT: u64 = 2;
/// What was stamped, and the time without the difference of the clocks, in five words.
const CORRECTED: u64 = 3;
/// Values that do not fit into a word each, in two words each, and whether it is corrected.
const WIDE: u64 = 4;

/// The words of one packet.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct TimeWords {
    /// The kinds of all times, and then what is written of each.
    words: Vec<i32>,
    kinds: u64,
    shift: u32,
}

fn halves(value: i64) -> [i32; 2] {
    [value as i32, (value >> 32) as i32]
}

fn whole([low, high]: [i32; 2]) -> i64 {
    i64::from(high) << 32 | i64::from(low.cast_unsigned())
}

impl TimeWords {
    /// The words of a sample.
    pub fn of(sample: &PathSample) -> Self {
        let mut words = Self::default();
        words.begin();
        words.put(Some(&sample.whole));
        (sample.segments.iter()).for_each(|time| words.put(time.as_ref()));
        words.end();
        words
    }

    /// Writes what [`PathSample::on`] has, but for the path. Returns false if there are no times.
    pub fn set(
        &mut self,
        report: &LatencyReport,
        whole: Option<CorrectedLatency>,
        corrected: impl FnMut(NodeId, NodeId, i64) -> Option<CorrectedLatency>,
    ) -> bool {
        let Some(whole) = whole_of(report, whole) else {
            return false;
        };
        self.begin();
        self.put(Some(&whole));
        segments_of(report, corrected, |time| self.put(time.as_ref()));
        self.end();
        true
    }

    pub fn as_slice(&self) -> &[i32] {
        &self.words
    }

    /// Begins the words of another packet, in the same memory.
    fn begin(&mut self) {
        self.words.clear();
        self.words.extend([0; 2]);
        (self.kinds, self.shift) = (0, 0);
    }

    /// Writes the time of the next place: of the whole path, and then of each of its segments.
    fn put(&mut self, time: Option<&SegmentTime>) {
        if let (Some(time), true) = (time, self.shift < u64::BITS) {
            self.kinds |= self.write(time) << self.shift;
        }
        self.shift += KIND_BITS;
    }

    /// Ends the words of the packet.
    fn end(&mut self) {
        if let Some(first) = self.words.first_chunk_mut::<2>() {
            *first = halves(self.kinds.cast_signed());
        }
    }

    /// Writes down a time. Returns its kind.
    fn write(&mut self, time: &SegmentTime) -> u64 {
        if let Ok(word) = i32::try_from(time.stamped_ns) {
            let exact = CorrectedLatency {
                latency_ns: time.stamped_ns,
                error_ns: 0,
                bound_ns: [time.stamped_ns; 2],
            };
            let kind = match &time.corrected {
                None => Some(STAMPED),
                Some(corrected) if *corrected == exact => Some(EXACT),
                Some(_) => None,
            };
            if let Some(kind) = kind {
                self.words.push(word);
                return kind;
            }
        }
        let (values, is_corrected) = values_of(time);
        let words = values.map(i32::try_from);
        if let (
            [
                Ok(stamped_ns),
                Ok(latency_ns),
                Ok(error_ns),
                Ok(low_ns),
                Ok(high_ns),
            ],
            true,
        ) = (words, is_corrected)
        {
            (self.words).extend([stamped_ns, latency_ns, error_ns, low_ns, high_ns]);
            return CORRECTED;
        }
        self.words.push(is_corrected.into());
        self.words.extend(values.into_iter().flat_map(halves));
        WIDE
    }
}

/// Hands each time in the words to `each`, with its place: 0 for the whole path, and then those of its segments. There may
/// be other words behind them.
pub(in crate::model) fn times_in(words: &[i32], mut each: impl FnMut(usize, SegmentTime)) {
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
