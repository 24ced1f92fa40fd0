//! The times of segments since the collector started: of all packets where sinks tell of them, else of reports.

use std::collections::HashMap;

use crate::model::crossings::{Crossed, CrossedPlace, PathCrossed};
use crate::model::{
    KnownPath, LatencyHistogram, NumberHash, PassedPath, PathGrowth, PlaceGrowth, SampleLog,
    Segment, SegmentKind, SegmentLoss, SegmentTally, TimeColumns,
};

/// The most segments that are kept. Those that come later count nowhere.
const MOST: usize = 16_384;

/// The most paths whose segments are remembered. More are looked up again.
const MOST_KNOWN: usize = 16_384;

/// The most memory of reported times that wait to be counted: they are read again from the processor's cache.
const LOG_BYTES: usize = 1 << 20;

/// The times of a segment.
#[derive(Debug)]
struct TalliedTimes {
    segment: Segment,
    /// The times are those of all packets: reports tell some of them again.
    of_packets: bool,
    latency: LatencyHistogram,
    /// The packets whose loss was reported, and those that were lost. A queue has nothing else.
    crossed: Option<Crossed>,
    /// The most that were lost so far: a count of losses never falls.
    lost: u64,
}

/// The segments of all paths.
#[derive(Debug, Default)]
pub struct Segments {
    tallied: Vec<TalliedTimes>,
    /// Their places by name.
    places: HashMap<Segment, usize>,
    /// The paths of reports by their number, and the places of each one's segments; `None` if there was no room for it.
    of_paths: HashMap<u64, u32, NumberHash>,
    paths: Vec<Vec<Option<usize>>>,
    /// Reported times that are not in `tallied` yet.
    log: SampleLog,
    columns: TimeColumns,
}

impl Segments {
    /// Adds the times of a reported packet: in hops, and between nodes whose clocks are known.
    pub fn add(&mut self, passed: PassedPath<'_>) {
        let path = self.path(passed.path);
        self.log.push(path, SampleLog::NONE, passed.times);
        if self.log.bytes() >= LOG_BYTES {
            self.count();
        }
    }

    /// Counts the reported times that wait.
    fn count(&mut self) {
        let Self {
            tallied,
            paths,
            log,
            columns,
            ..
        } = self;
        log.group();
        for of_path in log.samples().chunk_by(|one, next| one.path == next.path) {
            let path = of_path.first().map_or(SampleLog::NONE, |one| one.path);
            let Some(places) = paths.get(path as usize) else {
                continue;
            };
            for sample in of_path {
                log.times(sample, |place, time| {
                    if let Some((corrected, at)) = time.corrected.zip(place.checked_sub(1)) {
                        columns.push(at, corrected.latency_ns);
                    }
                });
            }
            for (at, place) in places.iter().enumerate() {
                let times = place.and_then(|place| tallied.get_mut(place));
                match times.filter(|times| !times.of_packets) {
                    Some(times) => columns.count(at, &mut times.latency),
                    None => columns.clear(at),
                }
            }
        }
        log.clear();
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
                // Reported times that wait count for nothing now, either.
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

    /// The number of a path in `paths`. The places of its segments never change, as no segment is forgotten.
    fn path(&mut self, path: &KnownPath) -> u32 {
        if let Some(known) = self.of_paths.get(&path.number()) {
            return *known;
        }
        if self.paths.len() >= MOST_KNOWN {
            self.count();
            self.of_paths.clear();
            self.paths.clear();
        }
        let segments = path.segments().into_iter();
        let places = segments.map(|segment| self.place(segment)).collect();
        let number = self.paths.len() as u32;
        self.paths.push(places);
        self.of_paths.insert(path.number(), number);
        number
    }

    /// Returns at most `most` segments, those with most packets first.
    pub fn rows(&mut self, most: usize) -> Vec<SegmentTally> {
        self.count();
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
