//! The gatherer's paths: times of segments are added up by path and ten seconds, for a pair and for each flow, those of
//! reports and those of all packets apart.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::ids::FlowName;
use super::sums::Sums;
use crate::model::crossings::{Crossed, CrossedPlace, PathCrossed};
use crate::model::{
    ClockSums, LatencyHistogram, Measured, Path, PathGrowth, PathSample, SegmentTime,
};

/// The most paths of pairs, and of single flows, that are added up at a time. What is told of more of them is counted as
/// dropped.
const MOST_PATHS: usize = 1 << 14;
const MOST_FLOW_PATHS: usize = 1 << 12;

/// The most paths that are written with each transaction. As each segment is a row of its own, more of them are written
/// only when their first packet is [`LONGEST`] ago, which is the period of a row.
const FEW: usize = 256;
const LONGEST: Duration = Duration::from_secs(10);

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
    /// How many reports told of it.
    pub told: u64,
    /// The whole path, and then each of its segments.
    pub times: Vec<TimeSums>,
    /// The queue behind each hop, of which only losses are known here, and only those of all packets.
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

/// The paths that wait for a transaction.
#[derive(Debug, Default)]
pub struct GatheredPaths {
    rows: Vec<GatheredPath>,
    /// The numbers of the paths, which the rows are found by.
    paths: HashMap<Path, u32>,
    places: HashMap<(u64, PathPackets, u32), usize>,
    of_flows: usize,
    segments: usize,
    /// The time when the first of them came.
    since: Option<Instant>,
    /// What reports told of paths for which there was no room.
    dropped: u64,
}

impl GatheredPaths {
    /// Returns the approximate memory of the sums.
    pub fn bytes(&self) -> usize {
        2 * self.rows.len() * size_of::<GatheredPath>()
            + self.segments * (size_of::<TimeSums>() + HEAP_BYTES)
    }

    /// Returns the time until the paths that wait are to be written. `None`: there are none.
    pub fn due(&self) -> Option<Duration> {
        self.since
            .map(|since| LONGEST.saturating_sub(since.elapsed()))
    }

    /// Returns the paths that are to be written now, and how many reports told of others in vain since the last call.
    /// With `all`, none of them goes on waiting.
    pub fn take(&mut self, all: bool) -> (Vec<GatheredPath>, u64) {
        let dropped = std::mem::take(&mut self.dropped);
        let is_due = self.due().is_some_and(|left| left.is_zero());
        if all || is_due || self.rows.len() <= FEW {
            (std::mem::take(self).rows, dropped)
        } else {
            (Vec::new(), dropped)
        }
    }

    /// Adds the times of a packet.
    pub fn add(&mut self, begin_ns: u64, flow: Option<FlowName>, sample: &PathSample) {
        let of_flow = flow.map(PathPackets::ReportedOf);
        // Both are found by the same number, so the path is looked up once.
        let mut number = self.paths.get(&sample.path).copied();
        for packets in [Some(PathPackets::Reported), of_flow].into_iter().flatten() {
            let Some(row) = self.row(begin_ns, packets, &sample.path, &mut number) else {
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
        let mut number = self.paths.get(&growth.path).copied();
        let Some(row) = self.row(begin_ns, PathPackets::All, &growth.path, &mut number) else {
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
        let mut number = self.paths.get(&crossed.path).copied();
        let Some(row) = self.row(begin_ns, PathPackets::All, &crossed.path, &mut number) else {
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

    /// Returns the row of a path that a report tells of, by the path's number, which is made if there is none yet. `None`:
    /// there are too many, and the report is counted.
    fn row(
        &mut self,
        begin_ns: u64,
        packets: PathPackets,
        path: &Path,
        number: &mut Option<u32>,
    ) -> Option<&mut GatheredPath> {
        let of_flow = matches!(packets, PathPackets::ReportedOf(_));
        let of_pairs = self.rows.len() - self.of_flows;
        let is_full = match of_flow {
            true => self.of_flows >= MOST_FLOW_PATHS,
            false => of_pairs >= MOST_PATHS,
        };
        let place = number.and_then(|number| self.places.get(&(begin_ns, packets, number)));
        let place = match place {
            Some(known) => *known,
            None if is_full => {
                self.dropped += 1;
                return None;
            }
            None => {
                let number = *number.get_or_insert_with(|| self.number(path));
                let times = vec![TimeSums::default(); 1 + path.segment_count()];
                let queues = match packets {
                    PathPackets::All => vec![TimeSums::default(); path.hops.len()],
                    PathPackets::Reported | PathPackets::ReportedOf(_) => Vec::new(),
                };
                self.segments += times.len() + queues.len();
                self.of_flows += usize::from(of_flow);
                self.since.get_or_insert_with(Instant::now);
                self.places
                    .insert((begin_ns, packets, number), self.rows.len());
                self.rows.push(GatheredPath {
                    packets,
                    path: path.clone(),
                    begin_ns,
                    told: 0,
                    times,
                    queues,
                    unseen: Vec::new(),
                });
                self.rows.len() - 1
            }
        };
        let row = self.rows.get_mut(place)?;
        row.told += 1;
        Some(row)
    }

    fn number(&mut self, path: &Path) -> u32 {
        let number = self.paths.len() as u32;
        self.paths.insert(path.clone(), number);
        number
    }
}
