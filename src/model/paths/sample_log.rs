//! Times of reported packets as they come, in one piece of memory, until those of a path and a flow are counted together.

use crate::model::SegmentTime;
use crate::model::time_words::times_in;

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

impl SampleLog {
    /// The number of no path and of no flow.
    pub const NONE: u32 = u32::MAX;

    /// The memory of the samples that wait.
    pub fn bytes(&self) -> usize {
        size_of_val(self.samples.as_slice()) + size_of_val(self.words.as_slice())
    }

    /// Adds the times of a packet.
    pub fn push(&mut self, path: u32, flow: u32, times: &[i32]) {
        self.samples.push(LoggedSample {
            path,
            flow,
            at: self.words.len() as u32,
        });
        self.words.extend_from_slice(times);
    }

    /// Hands each time of a sample to `each`, with its place: 0 for the whole path, and then those of its segments.
    pub fn times(&self, sample: &LoggedSample, each: impl FnMut(usize, SegmentTime)) {
        times_in(
            self.words.get(sample.at as usize..).unwrap_or_default(),
            each,
        );
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
