//! The times of segments since the collector started: of all packets where sinks tell of them, else of reports.

use std::collections::BTreeMap;

use crate::model::crossings::{Crossed, CrossedPlace, PathCrossed};
use crate::model::{
    LatencyHistogram, PathGrowth, PathSample, PlaceGrowth, Segment, SegmentKind, SegmentLoss,
    SegmentTally,
};

/// The most segments that are kept. Those that come later count nowhere.
const MOST: usize = 16_384;

/// The times of a segment.
#[derive(Debug, Default)]
struct TalliedTimes {
    /// The times are those of all packets: reports tell some of them again.
    of_packets: bool,
    latency: LatencyHistogram,
    /// The packets whose loss was told, and those that were lost. A queue has nothing else.
    crossed: Option<Crossed>,
    /// The most that were lost so far: a count of losses never falls.
    lost: u64,
}

/// The segments of all paths.
#[derive(Debug, Default)]
pub struct Segments(BTreeMap<Segment, TalliedTimes>);

impl Segments {
    /// Adds the times of a reported packet: in hops, and between nodes whose clocks are known.
    pub fn add(&mut self, sample: &PathSample) {
        for (segment, time) in sample.path.segments().into_iter().zip(&sample.segments) {
            let Some(corrected) = time.and_then(|time| time.corrected) else {
                continue;
            };
            if let Some(times) = self.of(segment).filter(|times| !times.of_packets) {
                times.latency.add(corrected.latency_ns);
            }
        }
    }

    /// Adds the times of all packets in the same way.
    pub fn add_all(&mut self, growth: &PathGrowth) {
        let segments = growth.path.segments();
        for time in &growth.times {
            let at = usize::from(time.place).checked_sub(1);
            let Some(segment) = at.and_then(|at| segments.get(at)) else {
                continue;
            };
            let Some(latency) = known(segment.kind, time) else {
                continue;
            };
            let Some(times) = self.of(*segment) else {
                continue;
            };
            if !times.of_packets {
                times.of_packets = true;
                times.latency = LatencyHistogram::default();
            }
            times.latency.merge(&latency);
        }
    }

    /// Adds the packets that came by the ends of segments.
    pub fn cross(&mut self, known: &[PathCrossed]) {
        for path in known {
            let segments = path.path.segments();
            for (place, crossed) in &path.places {
                let segment = match *place {
                    CrossedPlace::Segment(at) => usize::from(at)
                        .checked_sub(1)
                        .and_then(|at| segments.get(at).copied()),
                    CrossedPlace::Queue(behind) => path.path.queue_behind(behind.into()),
                };
                if let Some(times) = segment.and_then(|segment| self.of(segment)) {
                    let sum = times.crossed.get_or_insert_default();
                    sum.merge(*crossed);
                    times.lost = sum.lost.max(0).unsigned_abs().max(times.lost);
                }
            }
        }
    }

    fn of(&mut self, segment: Segment) -> Option<&mut TalliedTimes> {
        if self.0.len() >= MOST && !self.0.contains_key(&segment) {
            return None;
        }
        Some(self.0.entry(segment).or_default())
    }

    /// Returns at most `most` segments, those with most packets first.
    pub fn rows(&self, most: usize) -> Vec<SegmentTally> {
        let mut rows: Vec<_> = self.0.iter().collect();
        rows.sort_by_key(|(_, times)| std::cmp::Reverse(times.latency.samples()));
        rows.truncate(most);
        let tally = |(segment, times): (&Segment, &TalliedTimes)| SegmentTally {
            segment: *segment,
            of_packets: times.of_packets,
            latency: times.latency.clone(),
            loss: times.crossed.map(|crossed| SegmentLoss {
                packets: crossed.packets,
                lost: times.lost,
            }),
        };
        rows.into_iter().map(tally).collect()
    }
}

/// The times without the difference of the clocks; `None` if it is not known.
fn known(kind: SegmentKind, time: &PlaceGrowth) -> Option<LatencyHistogram> {
    let PlaceGrowth {
        latency, corrected, ..
    } = time;
    if kind.has_one_clock() || latency.is_empty() {
        return Some(latency.clone());
    }
    if corrected.packets != latency.samples() {
        return None;
    }
    let packets = i128::from(corrected.packets);
    let ahead_ns = (latency.whole_sum_ns() - i128::from(corrected.latency_ns)) / packets;
    let ahead_ns = i64::try_from(ahead_ns).ok()?;
    // No packet takes a negative time.
    let shifted = |ns: i64| ns.saturating_sub(ahead_ns).max(0);
    let (least, most) = latency.ends()?;
    let counts = latency.slots().map(|(ns, count)| (shifted(ns), count));
    Some(LatencyHistogram::of_counts(
        latency.resolution(),
        (shifted(least), shifted(most)),
        corrected.latency_ns.into(),
        counts,
    ))
}
