//! The times of all packets over transit hops, in the maps that the sink's program writes.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::time::Duration;

use crate::datapath::abi::{path_time, path_time_key, sink_path};
use crate::datapath::host::settings_status;
use crate::datapath::kernel::map_names::{SINK_PATH_TIMES, SINK_PATHS};
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::pins::Pins;
use crate::model::{
    FlowSlots, LatencyHistogram, LatencyResolution, NodeId, NodePort, PassageTimes, Path, PathHop,
    PathStatus, PathTotals, PlaceTotals, ReportedTotals, WideSlots,
};

/// Records that one system call reads. Each has 3.5 KiB.
const BATCH: usize = 64;

/// The counts of a segment with this many packets are widened.
const WIDE_PACKETS: u64 = 1 << 31;

/// A path without packets for this time is forgotten.
const IDLE: Duration = Duration::from_secs(600);

/// The most paths in a status, those with most packets.
const MOST_SHOWN: usize = 64;

/// The key of a path, and the place of a segment in it.
type TimeId = (u64, u32);

/// Reads the paths of this host's sink, those with most packets first.
pub fn read(pins: &Pins) -> io::Result<Vec<PathStatus>> {
    let (Some(paths), Some(times), Some(node)) = (
        Map::open(&pins.map(SINK_PATHS))?,
        Map::open(&pins.map(SINK_PATH_TIMES))?,
        settings_status::node(pins)?,
    ) else {
        return Ok(Vec::new());
    };
    PathTables::of(paths, times).status(node.id)
}

/// The kernel's tables of paths and of their times.
pub struct PathTables {
    paths: Map<u64, sink_path>,
    times: Map<path_time_key, path_time>,
    /// The counts with enough packets to make those of the kernel wrap around.
    wide: HashMap<TimeId, (u64, WideSlots)>,
    reported: ReportedTotals<TimeId>,
}

impl PathTables {
    pub fn of(paths: Map<u64, sink_path>, times: Map<path_time_key, path_time>) -> Self {
        Self {
            paths,
            times,
            wide: HashMap::new(),
            reported: ReportedTotals::default(),
        }
    }

    /// Returns the totals of the paths that had packets since the last call, or shortly before, and forgets those that are
    /// idle at `now_ns`. The paths end at this node.
    pub fn news(&mut self, sink: NodeId, now_ns: u64) -> io::Result<Vec<PathTotals>> {
        let mut changed: BTreeMap<u64, Vec<PlaceTotals>> = BTreeMap::new();
        let mut newest: HashMap<u64, u64> = HashMap::new();
        let (wide, reported) = (&mut self.wide, &mut self.reported);
        self.times.for_each_in_batches(BATCH, |key, time| {
            let last_ns = newest.entry(key.path).or_default();
            *last_ns = time.last_ns.max(*last_ns);
            let id = (key.path, key.place);
            if reported.take(id, time.packets) {
                let totals = totals(key.place, &time, wide, id);
                changed.entry(key.path).or_default().push(totals);
            }
        })?;
        let mut news = Vec::new();
        for (id, mut times) in changed {
            // Another process may have forgotten the path.
            let Some(path) = self.paths.get(&id)? else {
                continue;
            };
            times.sort_unstable_by_key(|time| time.place);
            news.push(PathTotals {
                path: path_of(&path, sink),
                times,
            });
        }
        let idle_ns = IDLE.as_nanos() as u64;
        for (id, last_ns) in newest {
            if now_ns.saturating_sub(last_ns) >= idle_ns {
                self.forget(id)?;
            }
        }
        Ok(news)
    }

    /// Returns the paths with most packets, which end at this node.
    pub fn status(&self, sink: NodeId) -> io::Result<Vec<PathStatus>> {
        let mut read: HashMap<u64, BTreeMap<u32, PlaceTimes>> = HashMap::new();
        self.times.for_each_in_batches(BATCH, |key, time| {
            let id = (key.path, key.place);
            let times = PlaceTimes {
                first_ns: time.first_ns,
                last_ns: time.last_ns,
                latency: latency(&time, &mut HashMap::new(), id),
            };
            read.entry(key.path).or_default().insert(key.place, times);
        })?;
        let mut found = Vec::new();
        for (id, mut places) in read {
            let Some(whole) = places.remove(&0) else {
                continue;
            };
            let Some(path) = self.paths.get(&id)? else {
                continue;
            };
            let path = path_of(&path, sink);
            let mut segment = |place| {
                places
                    .remove(&place)
                    .map(|times| PassageTimes(times.latency))
            };
            let segments = (1..).take(path.segment_count());
            found.push(PathStatus {
                first_ns: whole.first_ns,
                last_ns: whole.last_ns,
                segments: (segments.map(|place| segment(place).unwrap_or_default())).collect(),
                whole: PassageTimes(whole.latency),
                source: path.source,
                hops: path.hops,
                sink: path.sink,
            });
        }
        found.sort_by_key(|path| std::cmp::Reverse(path.whole.0.samples()));
        found.truncate(MOST_SHOWN);
        Ok(found)
    }

    fn forget(&mut self, id: u64) -> io::Result<()> {
        self.times.remove_where(|key| key.path == id)?;
        self.paths.remove(&id)?;
        self.reported.keep(|time| time.0 != id);
        self.wide.retain(|time, _| time.0 != id);
        Ok(())
    }
}

/// The times at a place of a path.
struct PlaceTimes {
    first_ns: u64,
    last_ns: u64,
    latency: LatencyHistogram,
}

/// The times of a record.
fn latency(
    time: &path_time,
    wide: &mut HashMap<TimeId, (u64, WideSlots)>,
    id: TimeId,
) -> LatencyHistogram {
    let slots = FlowSlots::fine(&time.count);
    let ends = (time.min_ns, time.max_ns);
    if time.packets < WIDE_PACKETS {
        return slots.histogram(ends, time.sum_ns.into());
    }
    let mean_ns = time.sum_ns / i64::try_from(time.packets).unwrap_or(i64::MAX);
    let new = || {
        let slots = WideSlots::new(&slots, time.packets, mean_ns);
        (time.first_ns, slots)
    };
    let known = wide.entry(id).or_insert_with(new);
    if known.0 != time.first_ns {
        *known = new();
    }
    known.1.read(&slots);
    known.1.histogram(ends, time.sum_ns.into())
}

/// The same times as they are reported: in few slots, as those of flows are.
fn totals(
    place: u32,
    time: &path_time,
    wide: &mut HashMap<TimeId, (u64, WideSlots)>,
    id: TimeId,
) -> PlaceTotals {
    PlaceTotals {
        place: u8::try_from(place).unwrap_or(u8::MAX),
        epoch_ns: time.first_ns,
        last_ns: time.last_ns,
        latency: latency(time, wide, id).coarsened(LatencyResolution::Middle),
    }
}

fn path_of(path: &sink_path, sink: NodeId) -> Path {
    let node = |word: u64| NodeId((word >> 32) as u32);
    let (high, low) = (|word: u64| (word >> 16) as u16, |word: u64| word as u16);
    let hops = usize::try_from(path.hops).unwrap_or(usize::MAX);
    let newest_first = path.hop.iter().take(hops);
    let hops = newest_first.rev().map(|word| PathHop {
        node: node(*word),
        ingress_port: high(*word),
        egress_port: low(*word),
    });
    Path {
        source: NodePort {
            node: node(path.ends),
            port: high(path.ends),
        },
        hops: hops.collect(),
        sink: NodePort {
            node: sink,
            port: low(path.ends),
        },
    }
}
