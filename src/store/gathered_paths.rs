//! The gatherer's paths: times of segments are added up by path and ten seconds, for a pair and for each flow.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::ids::FlowName;
use super::sums::Sums;
use crate::model::{ClockSums, LatencyHistogram, Measured, Path, PathSample, SegmentTime};

/// The most paths of pairs, and of single flows, in a transaction. Reports beyond count in no path.
const MOST_PATHS: usize = 1 << 14;
const MOST_FLOW_PATHS: usize = 1 << 12;

/// The least memory of a segment's histogram.
const HEAP_BYTES: usize = 64;

/// The sums of a path in the same ten seconds.
#[derive(Debug)]
pub struct GatheredPath {
    /// `None`: of all flows of the pair.
    pub flow: Option<FlowName>,
    pub path: Path,
    pub begin_ns: u64,
    /// The whole path, and then each of its segments.
    pub times: Vec<TimeSums>,
}

/// The times of a segment.
#[derive(Clone, Debug, Default)]
pub struct TimeSums {
    stamped: LatencyHistogram,
    corrected: ClockSums,
}

impl TimeSums {
    fn add(&mut self, time: &SegmentTime) {
        self.stamped.add(time.stamped_ns);
        let Some(corrected) = &time.corrected else {
            return;
        };
        let [low_ns, high_ns] = corrected.bound_ns;
        let apart = |one: i64, other: i64| one.saturating_sub(other).max(0).unsigned_abs();
        self.corrected.merge(&ClockSums {
            packets: 1,
            latency_ns: corrected.latency_ns,
            error_ns: corrected.error_ns,
            less_ns: apart(corrected.latency_ns, low_ns),
            more_ns: apart(high_ns, corrected.latency_ns),
        });
    }

    /// The same as a row of a roll-up: the times of reports, and what was known of the clocks.
    pub fn row(&self) -> Sums {
        Sums {
            reports: self.stamped.samples(),
            packets: self.stamped.samples(),
            latency: self.stamped.clone(),
            measured: Measured {
                corrected: self.corrected,
                ..Measured::default()
            },
            ..Sums::default()
        }
    }
}

/// The paths of the present transaction.
#[derive(Debug, Default)]
pub struct GatheredPaths {
    rows: Vec<GatheredPath>,
    places: HashMap<(u64, Option<FlowName>, Path), usize>,
    of_flows: usize,
    segments: usize,
}

impl GatheredPaths {
    /// Returns the approximate memory of the sums.
    pub fn bytes(&self) -> usize {
        2 * self.rows.len() * size_of::<GatheredPath>()
            + self.segments * (size_of::<TimeSums>() + HEAP_BYTES)
    }

    pub fn take(&mut self) -> Vec<GatheredPath> {
        std::mem::take(self).rows
    }

    /// Adds the times of a packet.
    pub fn add(&mut self, begin_ns: u64, flow: Option<FlowName>, sample: &PathSample) {
        self.add_to(begin_ns, None, sample);
        if flow.is_some() {
            self.add_to(begin_ns, flow, sample);
        }
    }

    fn add_to(&mut self, begin_ns: u64, flow: Option<FlowName>, sample: &PathSample) {
        let of_pairs = self.rows.len() - self.of_flows;
        let is_full = match flow {
            Some(_) => self.of_flows >= MOST_FLOW_PATHS,
            None => of_pairs >= MOST_PATHS,
        };
        let place = match self.places.entry((begin_ns, flow, sample.path.clone())) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(_) if is_full => return,
            Entry::Vacant(new) => {
                let times = vec![TimeSums::default(); 1 + sample.segments.len()];
                self.segments += times.len();
                self.of_flows += usize::from(flow.is_some());
                self.rows.push(GatheredPath {
                    flow,
                    path: sample.path.clone(),
                    begin_ns,
                    times,
                });
                *new.insert(self.rows.len() - 1)
            }
        };
        let Some(row) = self.rows.get_mut(place) else {
            return;
        };
        let whole = std::iter::once(Some(&sample.whole));
        let each = whole.chain(sample.segments.iter().map(Option::as_ref));
        for (sums, time) in row.times.iter_mut().zip(each) {
            if let Some(time) = time {
                sums.add(time);
            }
        }
    }
}
