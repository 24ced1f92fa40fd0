//! The sums of one path in ten seconds, for a transaction to add to the roll-ups.

use super::ids::FlowName;
use super::sums::Sums;
use crate::model::crossings::Crossed;
use crate::model::{
    ClockSums, CorrectedLatency, LatencyHistogram, LoggedSample, Path, PlaceGrowth, SampleLog,
    TimeColumns,
};

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
    pub samples_reported: u64,
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

impl GatheredPath {
    /// No sums yet.
    pub fn new(packets: PathPackets, path: &Path, begin_ns: u64) -> Self {
        let queues = match packets {
            PathPackets::All => path.hops.len(),
            PathPackets::Reported | PathPackets::ReportedOf(_) => 0,
        };
        Self {
            packets,
            path: path.clone(),
            begin_ns,
            samples_reported: 0,
            times: vec![TimeSums::default(); 1 + path.segment_count()],
            queues: vec![TimeSums::default(); queues],
            unseen: Vec::new(),
        }
    }

    /// The number of places that have sums.
    pub fn places(&self) -> usize {
        self.times.len() + self.queues.len()
    }

    /// Counts packets that were reported of a flow of this path, and writes their times into columns, from which they are to be
    /// counted for the path of the pair, too.
    /// `rows` are those of the pair and of the flow, if there was room for them.
    pub fn count(
        mut rows: [Option<&mut Self>; 2],
        samples: &[LoggedSample],
        log: &SampleLog,
        columns: &mut TimeColumns,
    ) {
        for row in rows.iter_mut().flatten() {
            row.samples_reported += samples.len() as u64;
        }
        for sample in samples {
            log.times(sample, |place, time| {
                columns.push(place, time.stamped_ns);
                let Some(corrected) = &time.corrected else {
                    return;
                };
                let more = sums_of(corrected);
                for row in rows.iter_mut().flatten() {
                    if let Some(sums) = row.times.get_mut(place) {
                        sums.corrected.merge(&more);
                    }
                }
            });
        }
        let [_, of_flow] = rows;
        let sums = of_flow.into_iter().flat_map(|row| row.times.iter_mut());
        for (place, sums) in sums.enumerate() {
            columns.count_new(place, &mut sums.stamped);
        }
    }

    /// Counts the times that were written into columns.
    pub fn count_columns(&mut self, columns: &mut TimeColumns) {
        for (place, sums) in self.times.iter_mut().enumerate() {
            columns.count(place, &mut sums.stamped);
        }
    }
}

fn sums_of(corrected: &CorrectedLatency) -> ClockSums {
    let [low_ns, high_ns] = corrected.bound_ns;
    let apart = |one: i64, other: i64| one.saturating_sub(other).max(0).unsigned_abs();
    ClockSums {
        packets: 1,
        latency_ns: corrected.latency_ns,
        error_ns: corrected.error_ns,
        less_ns: apart(corrected.latency_ns, low_ns),
        more_ns: apart(high_ns, corrected.latency_ns),
    }
}

impl TimeSums {
    /// Adds the times of packets that a sink counted.
    pub fn grow(&mut self, growth: &PlaceGrowth) {
        self.stamped.merge(&growth.latency);
        self.corrected.merge(&growth.corrected);
    }

    /// Adds the packets that came by the ends of the segment.
    pub fn cross(&mut self, crossed: Crossed) {
        self.crossed.merge(crossed);
    }

    /// True if there is nothing to add to a row.
    pub fn is_nothing(&self) -> bool {
        self.stamped.is_empty() && self.crossed == Crossed::default()
    }

    /// Adds it to a row of a roll-up: the times, and what was known of the clocks. Of the packets that came to the begin of
    /// the segment, those that did not come to its end are lost. If more came there, as many were recovered.
    pub fn add_to(&self, row: &mut Sums) {
        let (crossed, samples) = (self.crossed, self.stamped.samples());
        row.reports = row.reports.saturating_add(samples);
        row.packets = row.packets.saturating_add(samples);
        row.latency.merge(&self.stamped);
        let sums = &mut row.measured;
        sums.corrected.merge(&self.corrected);
        for (sum, more) in [
            (
                &mut sums.summaries,
                u64::from(crossed != Crossed::default()),
            ),
            (&mut sums.packets, crossed.packets),
            (&mut sums.lost, crossed.lost.max(0).unsigned_abs()),
            (&mut sums.recovered, crossed.lost.min(0).unsigned_abs()),
        ] {
            *sum = sum.saturating_add(more);
        }
    }
}
