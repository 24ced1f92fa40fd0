//! A minute of the counters of this host.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::time::{Duration, Instant};

use super::counters::{self, CounterMeaning};
use crate::datapath::kernel::map_names::{
    DAEMON_COUNTERS, PEER_COUNTERS, SINK_COUNTERS, SOURCE_COUNTERS,
};
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::pins::Pins;
use crate::model::RecentCounts;

/// The time that is looked back.
const WINDOW: Duration = Duration::from_secs(60);

/// The values of all counters that a host has.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct CounterValues {
    pub source: BTreeMap<&'static str, u64>,
    pub sink: BTreeMap<&'static str, u64>,
    pub daemon: BTreeMap<&'static str, u64>,
}

impl CounterValues {
    /// Reads them. Those of a side that is not there are missing.
    ///
    /// # Errors
    /// If a map cannot be read.
    pub fn read(pins: &Pins) -> io::Result<Self> {
        let mut source = of_side(pins, SOURCE_COUNTERS, counters::SOURCE)?;
        source.extend(of_side(pins, PEER_COUNTERS, counters::PEER)?);
        let mut daemon = BTreeMap::new();
        if let Some(map) = Map::<u32, u64>::open(&pins.map(DAEMON_COUNTERS))? {
            for meaning in counters::DAEMON {
                let value = map.get(&meaning.index)?.unwrap_or_default();
                daemon.insert(meaning.name, value);
            }
        }
        Ok(Self {
            source,
            sink: of_side(pins, SINK_COUNTERS, counters::SINK)?,
            daemon,
        })
    }
}

fn of_side(
    pins: &Pins,
    map: &str,
    meanings: &'static [CounterMeaning],
) -> io::Result<BTreeMap<&'static str, u64>> {
    let counts = counters::read_all(pins, map, meanings)?;
    let by_name = counts.into_iter();
    Ok(by_name
        .map(|(meaning, count)| (meaning.name, count.packets))
        .collect())
}

/// The values at several times, the oldest of which is a minute old.
#[derive(Debug, Default)]
pub struct RecentValues {
    kept: VecDeque<(Instant, CounterValues)>,
}

impl RecentValues {
    /// Keeps values that were read just now.
    pub fn keep(&mut self, values: CounterValues, now: Instant) {
        self.kept.push_back((now, values));
        // The second oldest is enough if it is a minute old.
        while (self.kept.get(1)).is_some_and(|(when, _)| now.duration_since(*when) >= WINDOW) {
            self.kept.pop_front();
        }
    }

    /// The growth up to values that were read just now; `None` if none were kept.
    pub fn until(&self, values: &CounterValues, now: Instant) -> Option<RecentCounts> {
        let (since, before) = self.kept.front()?;
        Some(RecentCounts {
            seconds: now.duration_since(*since).as_secs(),
            source: growth(&before.source, &values.source),
            sink: growth(&before.sink, &values.sink),
            daemon: growth(&before.daemon, &values.daemon),
        })
    }
}

/// A counter that is smaller than before began anew.
fn growth(
    before: &BTreeMap<&'static str, u64>,
    now: &BTreeMap<&'static str, u64>,
) -> BTreeMap<String, u64> {
    let grown = now.iter().filter_map(|(name, value)| {
        let before = before.get(name).copied().unwrap_or(0);
        let more = value.checked_sub(before).unwrap_or(*value);
        (more > 0).then(|| ((*name).to_owned(), more))
    });
    grown.collect()
}
