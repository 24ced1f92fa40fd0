//! The times of segments since the collector started: of all packets where sinks tell of them, else of reports.

use std::collections::HashMap;
use std::sync::Arc;

use crate::model::crossings::{Crossed, CrossedPlace, PathCrossed};
use crate::model::{
    LatencyHistogram, Path, PathGrowth, PathSample, PlaceGrowth, Segment, SegmentKind, SegmentLoss,
    SegmentTally,
};

/// The most segments that are kept. Those that come later count nowhere.
const MOST: usize = 16_384;

/// The most paths whose segments are remembered. More are looked up again.
const MOST_KNOWN: usize = 16_384;

/// The times of a segment.
#[derive(Debug)]
struct TalliedTimes {
    segment: Segment,
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
pub struct Segments {
    tallied: Vec<TalliedTimes>,
    /// Their places by name, and the places of a whole path's segments, which each report asks for; `None` if there was no
    /// room for it.
    places: HashMap<Segment, usize>,
    of_paths: HashMap<Path, Arc<[Option<usize>]>>,
}

impl Segments {
    /// Adds the times of a reported packet: in hops, and between nodes whose clocks are known.
    pub fn add(&mut self, sample: &PathSample) {
        for (place, time) in self.places(&sample.path).iter().zip(&sample.segments) {
            let Some(corrected) = time.and_then(|time| time.corrected) else {
                continue;
            };
            let times = place.and_then(|place| self.tallied.get_mut(place));
            if let Some(times) = times.filter(|times| !times.of_packets) {
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
        let place = self.place(segment)?;
        self.tallied.get_mut(place)
    }

    fn place(&mut self, segment: Segment) -> Option<usize> {
        if let Some(known) = self.places.get(&segment) {
            return Some(*known);
        }
        let place = self.tallied.len();
        if place >= MOST {
            return None;
        }
        self.places.insert(segment, place);
        self.tallied.push(TalliedTimes {
            segment,
            of_packets: false,
            latency: LatencyHistogram::default(),
            crossed: None,
            lost: 0,
        });
        Some(place)
    }

    /// The places of a path's segments. They never change, as no segment is forgotten.
    fn places(&mut self, path: &Path) -> Arc<[Option<usize>]> {
        if let Some(known) = self.of_paths.get(path) {
            return Arc::clone(known);
        }
        let segments = path.segments().into_iter();
        let places: Arc<[_]> = segments.map(|segment| self.place(segment)).collect();
        if self.of_paths.len() >= MOST_KNOWN {
            self.of_paths.clear();
        }
        self.of_paths.insert(path.clone(), Arc::clone(&places));
        places
    }

    /// Returns at most `most` segments, those with most packets first.
    pub fn rows(&self, most: usize) -> Vec<SegmentTally> {
        let mut rows: Vec<_> = self.tallied.iter().collect();
        rows.sort_by_key(|times| (std::cmp::Reverse(times.latency.samples()), times.segment));
        rows.truncate(most);
        let tally = |times: &TalliedTimes| SegmentTally {
            segment: times.segment,
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
