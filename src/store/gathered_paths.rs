//! The gatherer's paths: times of segments are added up by path and ten seconds, for a pair and for each flow, those of
//! reports and those of all packets apart.

use std::collections::BTreeMap;
use std::time::Duration;

use super::ids::FlowName;
use super::path_period::{FlowPathRow, PathPeriod, PathRoom};
use crate::model::crossings::{CrossedPlace, PathCrossed};
use crate::model::{PassedPath, PathGrowth, TimeColumns};

/// The most paths that are written with each transaction. As the row of each is long, more of them are written only when
/// their first packet is [`LONGEST`] ago, which is the period of a row: then it is over.
const FEW: usize = 256;
const LONGEST: Duration = Duration::from_secs(10);

/// The part of the queue that reported times may take until they are counted: an eighth.
const LOGGED_PART: usize = 8;

/// The paths that wait for a transaction.
#[derive(Debug)]
pub struct GatheredPaths {
    /// By the begin of the ten seconds.
    periods: BTreeMap<u64, PathPeriod>,
    /// How many periods there were.
    begun: u64,
    room: PathRoom,
    most_logged_bytes: usize,
    columns: TimeColumns,
}

impl GatheredPaths {
    /// Returns the paths of a queue that has room for this number of bytes.
    pub fn new(queue_bytes: usize) -> Self {
        Self {
            periods: BTreeMap::new(),
            begun: 0,
            room: PathRoom::default(),
            most_logged_bytes: queue_bytes / LOGGED_PART,
            columns: TimeColumns::default(),
        }
    }

    /// Returns the approximate memory of the sums.
    pub fn bytes(&self) -> usize {
        self.room.bytes()
    }

    /// Returns the time until the paths that wait are to be written. `None`: there are none.
    pub fn due(&self) -> Option<Duration> {
        let oldest = self.periods.values().map(PathPeriod::age).max();
        oldest.map(|age| LONGEST.saturating_sub(age))
    }

    /// Returns the paths that are to be written now, and how many reports told of others in vain since the last call.
    /// With `all`, none of them goes on waiting.
    pub fn take(&mut self, all: bool) -> (Vec<PathPeriod>, u64) {
        let all = all || self.room.rows() <= FEW;
        let periods = self.periods.iter();
        let due = periods.filter(|(_, period)| all || period.age() >= LONGEST);
        let due: Vec<u64> = due.map(|(begin_ns, _)| *begin_ns).collect();
        let due = due.iter();
        let taken: Vec<_> = due.filter_map(|due| self.periods.remove(due)).collect();
        taken.iter().for_each(|period| self.room.leave(period));
        (taken, std::mem::take(&mut self.room.dropped))
    }

    /// Adds to the paths of ten seconds.
    fn add_to(&mut self, begin_ns: u64, add: impl FnOnce(&mut PathPeriod, &mut PathRoom)) {
        let period = self.periods.entry(begin_ns).or_insert_with(|| {
            self.begun += 1;
            PathPeriod::new(self.begun, begin_ns)
        });
        add(period, &mut self.room);
        // There may have been no room.
        if period.is_empty() {
            self.periods.remove(&begin_ns);
        }
    }

    /// Adds the times of a packet to its path, and to that of its flow, of which `last` says where its last report counted.
    pub fn add(
        &mut self,
        begin_ns: u64,
        flow: Option<(&FlowName, &mut Option<FlowPathRow>)>,
        passed: PassedPath<'_>,
    ) {
        self.add_to(begin_ns, |period, room| period.add(flow, passed, room));
        if self.room.logged_bytes > self.most_logged_bytes {
            for period in self.periods.values_mut() {
                period.count(&mut self.columns, &mut self.room);
            }
        }
    }

    /// Adds the times of all packets.
    pub fn grow(&mut self, begin_ns: u64, growth: &PathGrowth) {
        self.add_to(begin_ns, |period, room| {
            let Some(row) = period.of_all(&growth.path, room) else {
                return;
            };
            for time in &growth.times {
                if let Some(sums) = row.times.get_mut(usize::from(time.place)) {
                    sums.grow(time);
                }
            }
        });
    }

    /// Adds the packets that came by the ends of segments.
    pub fn cross(&mut self, begin_ns: u64, crossed: &PathCrossed) {
        self.add_to(begin_ns, |period, room| {
            let Some(row) = period.of_all(&crossed.path, room) else {
                return;
            };
            for (place, counted) in &crossed.places {
                let sums = match *place {
                    CrossedPlace::Segment(at) => row.times.get_mut(usize::from(at)),
                    CrossedPlace::Queue(behind) => row.queues.get_mut(usize::from(behind)),
                };
                if let Some(sums) = sums {
                    sums.cross(*counted);
                }
            }
            for (place, routers) in &crossed.unseen {
                row.unseen.retain(|(known, _)| known != place);
                row.unseen.push((*place, *routers));
            }
        });
    }
}
