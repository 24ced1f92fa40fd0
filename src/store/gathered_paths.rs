//! The gatherer's paths: times of segments are added up by path and ten seconds, for a pair and for each flow, those of
//! reports and those of all packets apart.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::ids::FlowName;
use super::sums::Sums;
use crate::model::crossings::{Crossed, CrossedPlace, PathCrossed};
use crate::model::{
    ClockSums, LatencyHistogram, Measured, Path, PathGrowth, PathSample, SegmentTime,
};

/// The most paths of pairs, and of single flows, in a transaction. Reports beyond count in no path.
const MOST_PATHS: usize = 1 << 14;
const MOST_FLOW_PATHS: usize = 1 << 12;

/// The least memory of a segment's histogram.
const HEAP_BYTES: usize = 64;

/// The packets whose times are added up.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum PathPackets {
    /// The reported ones of the pair.
    Reported,
    /// The reported ones of a flow.
    ReportedOf(FlowName),
    /// All of the pair, as the sink counted them.
    All,
}

/// The sums of a path in the same ten seconds.
#[derive(Debug)]
pub struct GatheredPath {
    pub packets: PathPackets,
    pub path: Path,
    pub begin_ns: u64,
    /// The whole path, and then each of its segments.
    pub times: Vec<TimeSums>,
    /// The queue behind each hop, of which only losses are known here.
    pub queues: Vec<TimeSums>,
    /// The routers that said nothing, by the place of their wire.
    pub unseen: Vec<(u8, u8)>,
}

/// The times of a segment.
#[derive(Clone, Debug, Default)]
pub struct TimeSums {
    stamped: LatencyHistogram,
    corrected: ClockSums,
    crossed: Crossed,
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

    /// The same as a row of a roll-up: the times, and what was known of the clocks.
    pub fn row(&self) -> Sums {
        Sums {
            reports: self.stamped.samples(),
            packets: self.stamped.samples(),
            latency: self.stamped.clone(),
            measured: measured(self.crossed, self.corrected),
            ..Sums::default()
        }
    }
}

/// The packets that came to the begin of a segment, and those of them that did not come to its end. If more came there
/// than to the begin, those are as many that were recovered.
fn measured(crossed: Crossed, corrected: ClockSums) -> Measured {
    Measured {
        summaries: u64::from(crossed != Crossed::default()),
        packets: crossed.packets,
        lost: crossed.lost.max(0).unsigned_abs(),
        recovered: crossed.lost.min(0).unsigned_abs(),
        corrected,
        ..Measured::default()
    }
}

/// The paths of the present transaction.
#[derive(Debug, Default)]
pub struct GatheredPaths {
    rows: Vec<GatheredPath>,
    places: HashMap<(u64, PathPackets, Path), usize>,
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
        let of_flow = flow.map(PathPackets::ReportedOf);
        for packets in [Some(PathPackets::Reported), of_flow].into_iter().flatten() {
            let Some(row) = self.row(begin_ns, packets, &sample.path) else {
                continue;
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

    /// Adds the times of all packets.
    pub fn grow(&mut self, begin_ns: u64, growth: &PathGrowth) {
        let Some(row) = self.row(begin_ns, PathPackets::All, &growth.path) else {
            return;
        };
        for time in &growth.times {
            if let Some(sums) = row.times.get_mut(usize::from(time.place)) {
                sums.stamped.merge(&time.latency);
                sums.corrected.merge(&time.corrected);
            }
        }
    }

    /// Adds the packets that came by the ends of segments.
    pub fn cross(&mut self, begin_ns: u64, crossed: &PathCrossed) {
        let Some(row) = self.row(begin_ns, PathPackets::All, &crossed.path) else {
            return;
        };
        for (place, counted) in &crossed.places {
            let sums = match *place {
                CrossedPlace::Segment(at) => row.times.get_mut(usize::from(at)),
                CrossedPlace::Queue(behind) => row.queues.get_mut(usize::from(behind)),
            };
            if let Some(sums) = sums {
                sums.crossed.merge(*counted);
            }
        }
        for (place, routers) in &crossed.unseen {
            row.unseen.retain(|(known, _)| known != place);
            row.unseen.push((*place, *routers));
        }
    }

    /// Returns the row of a path. `None`: there are too many.
    fn row(
        &mut self,
        begin_ns: u64,
        packets: PathPackets,
        path: &Path,
    ) -> Option<&mut GatheredPath> {
        let of_flow = matches!(packets, PathPackets::ReportedOf(_));
        let of_pairs = self.rows.len() - self.of_flows;
        let is_full = match of_flow {
            true => self.of_flows >= MOST_FLOW_PATHS,
            false => of_pairs >= MOST_PATHS,
        };
        let place = match self.places.entry((begin_ns, packets, path.clone())) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(_) if is_full => return None,
            Entry::Vacant(new) => {
                let times = vec![TimeSums::default(); 1 + path.segment_count()];
                let queues = vec![TimeSums::default(); path.hops.len()];
                self.segments += times.len() + queues.len();
                self.of_flows += usize::from(of_flow);
                self.rows.push(GatheredPath {
                    packets,
                    path: path.clone(),
                    begin_ns,
                    times,
                    queues,
                    unseen: Vec::new(),
                });
                *new.insert(self.rows.len() - 1)
            }
        };
        self.rows.get_mut(place)
    }
}
