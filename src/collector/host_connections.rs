//! The TCP connections of hosts: what each report adds to those that earlier ones told of, and their sums.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

use super::run_start::begins_in_run;
use crate::model::{
    Arrival, CONNECTION_SILENT_NS, ConnectionCounts, ConnectionReport, HostTcpRow, Limit,
    LimitedTimes, NodeId, TcpGrowth,
};

/// The most connections that are followed.
const MOST: usize = 1 << 17;

/// The most hosts whose sums are kept.
const MOST_HOSTS: usize = 4096;

/// When there is no room, connections that were not reported for this time make some.
const QUIET_NS: u64 = 600 * NS_PER_S;

const NS_PER_S: u64 = 1_000_000_000;

/// A host, and its number of a connection.
type ConnectionName = (IpAddr, NodeId, u64);

/// What a host reported last of a connection.
#[derive(Debug)]
struct LastState {
    time_ns: u64,
    seen_ns: u64,
    is_over: bool,
    limited: Limit,
    times: LimitedTimes,
    counts: ConnectionCounts,
}

/// The connections of hosts since the collector started.
#[derive(Debug)]
pub struct HostConnections {
    most: usize,
    started_ns: u64,
    known: HashMap<ConnectionName, LastState>,
    swept_ns: u64,
    sums: BTreeMap<(NodeId, Limit), (u64, ConnectionCounts)>,
    /// Reports of connections beyond the limit.
    untracked: u64,
}

impl Default for HostConnections {
    fn default() -> Self {
        Self::new(MOST)
    }
}

impl HostConnections {
    /// Follows at most `most` connections.
    pub fn new(most: usize) -> Self {
        Self {
            most,
            started_ns: 0,
            known: HashMap::new(),
            swept_ns: 0,
            sums: BTreeMap::new(),
            untracked: 0,
        }
    }

    /// Leaves out what connections did before this time: an earlier run may have counted it.
    pub fn start_at(&mut self, started_ns: u64) {
        self.started_ns = started_ns;
    }

    /// Returns what a report adds. `None`: it is late, or was reported before. The first report of a connection that
    /// began before the collector adds nothing.
    pub fn grow(&mut self, report: &ConnectionReport, arrival: Arrival) -> Option<TcpGrowth> {
        let told = &report.connection;
        let now = LastState {
            time_ns: told.sample.time_ns,
            seen_ns: arrival.received_ns,
            is_over: told.why.is_last(),
            limited: told.limited,
            times: told.times,
            counts: ConnectionCounts::of(told),
        };
        let name = (arrival.exporter.ip(), report.node, told.id);
        let is_followed = self.known.contains_key(&name);
        if !is_followed && !self.has_room(arrival.received_ns) {
            self.untracked += 1;
            return Some(TcpGrowth::default());
        }
        let growth = match self.known.get(&name) {
            Some(last) if last.is_over || now.time_ns < last.time_ns => return None,
            Some(last) if now.time_ns == last.time_ns && !now.is_over => return None,
            Some(last) => growth(
                told.limited,
                now.times.since(&last.times),
                now.counts.since(&last.counts),
            ),
            None if self.is_new(told.sample.begun_ns) => {
                growth(told.limited, now.times, now.counts)
            }
            None => growth(
                told.limited,
                LimitedTimes::default(),
                ConnectionCounts::default(),
            ),
        };
        self.known.insert(name, now);
        self.add(report.node, &growth);
        // Connections that add nothing are shown, too.
        self.sum(report.node, told.limited);
        Some(growth)
    }

    fn is_new(&self, begun_ns: Option<u64>) -> bool {
        begun_ns.is_some_and(|begun_ns| begins_in_run(begun_ns, self.started_ns))
    }

    /// Makes room at most once a second.
    fn has_room(&mut self, now_ns: u64) -> bool {
        if self.known.len() >= self.most && now_ns.saturating_sub(self.swept_ns) >= NS_PER_S {
            self.swept_ns = now_ns;
            self.known.retain(|_, last| {
                // The end of a connection is reported twice.
                let keep_ns = if last.is_over {
                    CONNECTION_SILENT_NS
                } else {
                    QUIET_NS
                };
                last.seen_ns.saturating_add(keep_ns) >= now_ns
            });
        }
        self.known.len() < self.most
    }

    fn add(&mut self, node: NodeId, growth: &TcpGrowth) {
        for limit in Limit::ALL {
            let us = growth.times.of(limit);
            if us > 0
                && let Some(sum) = self.sum(node, limit)
            {
                sum.0 = sum.0.saturating_add(us);
            }
        }
        if let Some(sum) = self.sum(node, growth.limited) {
            sum.1.add(&growth.counts);
        }
    }

    fn sum(&mut self, node: NodeId, limited: Limit) -> Option<&mut (u64, ConnectionCounts)> {
        let has_room = self.sums.len() < MOST_HOSTS * Limit::ALL.len();
        match self.sums.entry((node, limited)) {
            Entry::Occupied(known) => Some(known.into_mut()),
            Entry::Vacant(new) => has_room.then(|| new.insert(Default::default())),
        }
    }

    /// Reports of connections beyond the limit: they are kept, but not in sums.
    pub fn untracked(&self) -> u64 {
        self.untracked
    }

    /// The sums of each host, by node.
    pub fn rows(&self, most: usize, now_ns: u64) -> Vec<HostTcpRow> {
        let mut open: HashMap<(NodeId, Limit), u64> = HashMap::new();
        for ((_, node, _), last) in &self.known {
            if !last.is_over && last.seen_ns.saturating_add(CONNECTION_SILENT_NS) >= now_ns {
                *open.entry((*node, last.limited)).or_default() += 1;
            }
        }
        let rows = self.sums.iter().map(|(key, (us, counts))| HostTcpRow {
            node: key.0,
            limited: key.1,
            open: open.get(key).copied().unwrap_or_default(),
            us: *us,
            counts: *counts,
        });
        rows.take(most).collect()
    }
}

fn growth(told: Limit, times: LimitedTimes, counts: ConnectionCounts) -> TcpGrowth {
    let limited = match times.is_empty() {
        true => told,
        false => times.most(),
    };
    TcpGrowth {
        times,
        limited,
        counts,
    }
}
