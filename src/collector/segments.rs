//! The times of segments since the collector started, by the reports of packets that passed transit hops.

use std::collections::BTreeMap;

use crate::model::{LatencyHistogram, PathSample, Segment, SegmentTally};

/// The most segments that are kept. Those that come later count nowhere.
const MOST: usize = 16_384;

/// The segments of all paths.
#[derive(Debug, Default)]
pub struct Segments(BTreeMap<Segment, LatencyHistogram>);

impl Segments {
    /// Adds the times of a packet: in hops, and between nodes whose clocks are known.
    pub fn add(&mut self, sample: &PathSample) {
        for (segment, time) in sample.path.segments().into_iter().zip(&sample.segments) {
            let Some(corrected) = time.and_then(|time| time.corrected) else {
                continue;
            };
            if self.0.len() >= MOST && !self.0.contains_key(&segment) {
                continue;
            }
            self.0.entry(segment).or_default().add(corrected.latency_ns);
        }
    }

    /// Returns at most `most` segments, those with most reports first.
    pub fn rows(&self, most: usize) -> Vec<SegmentTally> {
        let mut rows: Vec<_> = self.0.iter().collect();
        rows.sort_by_key(|(_, latency)| std::cmp::Reverse(latency.samples()));
        rows.truncate(most);
        let tally = |(segment, latency): (&Segment, &LatencyHistogram)| SegmentTally {
            segment: *segment,
            latency: latency.clone(),
        };
        rows.into_iter().map(tally).collect()
    }
}
