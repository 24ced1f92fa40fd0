//! Per exporter: how many reports came, how many did not, and what could not be read.

use std::collections::HashMap;
use std::net::IpAddr;

use serde::Serialize;

use super::numbering::{Continuity, Numbering, NumberingCounts};
use super::undecodable::UndecodableCounts;
use super::{DecodeError, ReportGroup};
use crate::model::{Arrival, ClockState, ExporterHealth, HwId, NodeId};

/// Exporters whose numbers are followed, and addresses whose undecodable datagrams are counted
/// apart; what exceeds this is still counted in the totals.
pub const MAX_EXPORTERS: usize = 65_536;

/// Of those, from one address: whoever writes other nodes into each report takes no place of others.
pub const MAX_OF_ADDRESS: usize = 1_024;

/// Who was silent for this long makes room for others where there is none. Who was not, stays: no number of forged
/// exporters pushes out one that reports.
pub const IDLE_NS: u64 = 60_000_000_000;

/// The idle are looked for no more often, and only where something is full.
const SWEEP_NS: u64 = 1_000_000_000;

/// A numbering of an address: its reporting subsystem; from v1.0 on, of one node.
///
/// The source port is no part of it, because switches vary it from report to report.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Key {
    node: Option<NodeId>,
    hw_id: HwId,
    /// v2.0 numbers by itself.
    sequence_bits: u32,
}

impl Key {
    fn of(group: &ReportGroup) -> Self {
        Self {
            node: group.node,
            hw_id: group.hw_id,
            sequence_bits: group.sequence_bits,
        }
    }
}

/// One exporter.
#[derive(Debug)]
struct Followed {
    key: Key,
    numbering: Numbering,
    reports: u64,
    last_seen_ns: u64,
    clock: Option<ClockState>,
}

/// All exporters of one address, by their keys.
#[derive(Debug, Default)]
struct Address {
    followed: Vec<Followed>,
    swept_ns: Option<u64>,
}

/// What is known about one exporter.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct ExporterCounts {
    pub exporter: IpAddr,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    pub hw_id: u8,
    /// Individual reports.
    pub reports: u64,
    #[serde(flatten)]
    pub numbers: NumberingCounts,
}

/// Sums over all exporters, forgotten ones included.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct ExportersCounts {
    /// Those that are followed.
    pub exporters: usize,
    /// Those that made room for others.
    pub forgotten: u64,
    /// Datagrams that brought a report.
    pub decoded: u64,
    /// Datagrams that brought none.
    pub not_decoded: u64,
    /// Individual reports, those of untracked exporters included.
    pub reports: u64,
    /// Individual reports that could not be read, in datagrams that brought others.
    pub refused: u64,
    #[serde(flatten)]
    pub numbers: NumberingCounts,
    /// Datagrams of exporters that found the table full; their numbers are not followed.
    pub untracked: u64,
    pub undecodable: UndecodableCounts,
}

/// Everyone who sends reports, in bounded memory.
#[derive(Debug)]
pub struct Exporters {
    limit: usize,
    limit_of_address: usize,
    addresses: HashMap<IpAddr, Address>,
    /// And when it was seen.
    undecodable_from: HashMap<IpAddr, (UndecodableCounts, u64)>,
    swept_ns: Option<u64>,
    /// All but what is counted when it is asked for.
    sums: ExportersCounts,
    forgotten: NumberingCounts,
}

impl Default for Exporters {
    fn default() -> Self {
        Self::with_limits(MAX_EXPORTERS, MAX_OF_ADDRESS)
    }
}

impl Exporters {
    /// For so many exporters in all, and from one address.
    pub fn with_limits(limit: usize, limit_of_address: usize) -> Self {
        Self {
            limit,
            limit_of_address,
            addresses: HashMap::new(),
            undecodable_from: HashMap::new(),
            swept_ns: None,
            sums: ExportersCounts::default(),
            forgotten: NumberingCounts::default(),
        }
    }

    /// Takes note of a datagram of reports; `None` if its exporter is new and has no place.
    pub fn received(&mut self, arrival: Arrival, group: &ReportGroup) -> Option<Continuity> {
        for error in &group.refused {
            self.count_cause(arrival, error);
        }
        let count = group.reports.len() as u64;
        self.sums.reports += count;
        if count > 0 {
            self.sums.decoded += 1;
            self.sums.refused += group.refused.len() as u64;
        } else {
            self.sums.not_decoded += 1;
        }
        let Some(exporter) = self.follow(arrival, group) else {
            self.sums.untracked += 1;
            return None;
        };
        exporter.reports += count;
        exporter.last_seen_ns = arrival.received_ns;
        let mut clocks = group.reports.iter().map(|report| report.observation.clock);
        exporter.clock = clocks.next().flatten().or(exporter.clock);
        Some(exporter.numbering.arrived(group.sequence))
    }

    /// Takes note of another report of a group whose number is known already.
    pub fn another(&mut self, from: IpAddr, group: &ReportGroup) {
        let count = group.reports.len() as u64;
        self.sums.reports += count;
        if let Some(address) = self.addresses.get_mut(&from)
            && let Ok(place) = address.place_of(Key::of(group))
        {
            address.followed[place].reports += count;
        }
    }

    /// Takes note of a datagram that was no report.
    pub fn undecodable(&mut self, arrival: Arrival, error: &DecodeError) {
        self.sums.not_decoded += 1;
        self.count_cause(arrival, error);
    }

    fn count_cause(&mut self, arrival: Arrival, error: &DecodeError) {
        self.sums.undecodable.count(error.kind());
        let from = arrival.exporter.ip();
        if self.undecodable_from.len() >= self.limit && !self.undecodable_from.contains_key(&from) {
            self.sweep(arrival.received_ns);
            if self.undecodable_from.len() >= self.limit {
                return;
            }
        }
        let (counts, last_seen_ns) = self.undecodable_from.entry(from).or_default();
        counts.count(error.kind());
        *last_seen_ns = arrival.received_ns;
    }

    /// The datagram's exporter, if it has a place or gets one.
    fn follow(&mut self, arrival: Arrival, group: &ReportGroup) -> Option<&mut Followed> {
        let (from, key) = (arrival.exporter.ip(), Key::of(group));
        let place = self.addresses.get(&from).map(|known| known.place_of(key));
        if !matches!(place, Some(Ok(_))) {
            self.make_room(from, arrival.received_ns)?;
        }
        let address = self.addresses.entry(from).or_default();
        let place = address.place_of(key).unwrap_or_else(|place| {
            let new = Followed {
                key,
                numbering: Numbering::of_bits(group.sequence_bits),
                reports: 0,
                last_seen_ns: arrival.received_ns,
                clock: None,
            };
            // Most addresses have one.
            if address.followed.is_empty() {
                address.followed.reserve_exact(1);
            }
            address.followed.insert(place, new);
            self.sums.exporters += 1;
            place
        });
        address.followed.get_mut(place)
    }

    /// `None` if there is no room for one exporter more of this address.
    fn make_room(&mut self, from: IpAddr, now_ns: u64) -> Option<()> {
        let limit = self.limit_of_address;
        if let Some(address) = self.addresses.get_mut(&from)
            && address.followed.len() >= limit
            && is_due(&mut address.swept_ns, now_ns)
        {
            let forgotten = address.forget_idle(now_ns, &mut self.forgotten);
            self.sums.exporters -= forgotten;
            self.sums.forgotten += forgotten as u64;
        }
        if self.sums.exporters >= self.limit {
            self.sweep(now_ns);
        }
        let own = self.addresses.get(&from);
        let own = own.map_or(0, |address| address.followed.len());
        (own < limit && self.sums.exporters < self.limit).then_some(())
    }

    /// Forgets the idle, if that was not tried just now.
    fn sweep(&mut self, now_ns: u64) {
        if !is_due(&mut self.swept_ns, now_ns) {
            return;
        }
        let mut forgotten = 0;
        self.addresses.retain(|_, address| {
            forgotten += address.forget_idle(now_ns, &mut self.forgotten);
            !address.followed.is_empty()
        });
        self.sums.exporters -= forgotten;
        self.sums.forgotten += forgotten as u64;
        self.undecodable_from
            .retain(|_, (_, last_seen_ns)| !is_idle(*last_seen_ns, now_ns));
    }

    /// Every exporter that is followed, by address.
    pub fn each(&self) -> Vec<ExporterCounts> {
        let mut exporters: Vec<_> = self
            .all()
            .map(|(address, followed)| ExporterCounts {
                exporter: address,
                node: followed.key.node,
                hw_id: followed.key.hw_id.get(),
                reports: followed.reports,
                numbers: followed.numbering.counts(),
            })
            .collect();
        exporters.sort_by_key(|counts| (counts.exporter, counts.node, counts.hw_id));
        exporters
    }

    /// The health of so many exporters: those that lost most reports first, then those with most duplicates and
    /// restarts, then by address, node and subsystem.
    pub fn health(&self, most: usize) -> Vec<ExporterHealth> {
        let mut all: Vec<_> = self
            .all()
            .map(|(address, followed)| {
                let counts = followed.numbering.counts();
                let trouble = (counts.lost, counts.duplicates + counts.restarts);
                (std::cmp::Reverse(trouble), address, followed)
            })
            .collect();
        let order = |(trouble, address, followed): &(_, IpAddr, &Followed)| {
            (*trouble, *address, followed.key)
        };
        if all.len() > most {
            all.select_nth_unstable_by_key(most, order);
            all.truncate(most);
        }
        all.sort_unstable_by_key(order);
        let health = all.into_iter().map(|(_, address, one)| one.health(address));
        health.collect()
    }

    fn all(&self) -> impl Iterator<Item = (IpAddr, &Followed)> {
        self.addresses
            .iter()
            .flat_map(|(address, known)| known.followed.iter().map(|one| (*address, one)))
    }

    /// Undecodable datagrams by address, whether or not reports came from there as well.
    pub fn undecodable_by_address(&self) -> impl Iterator<Item = (IpAddr, UndecodableCounts)> {
        self.undecodable_from
            .iter()
            .map(|(address, (counts, _))| (*address, *counts))
    }

    pub fn counts(&self) -> ExportersCounts {
        let mut sums = self.sums;
        sums.numbers = self.forgotten;
        for (_, followed) in self.all() {
            sums.numbers.add(&followed.numbering.counts());
        }
        sums
    }
}

impl Address {
    /// Where it is, or where it would have to be.
    fn place_of(&self, key: Key) -> Result<usize, usize> {
        self.followed.binary_search_by_key(&key, |one| one.key)
    }

    /// How many were forgotten, whose counts are added to these.
    fn forget_idle(&mut self, now_ns: u64, counts: &mut NumberingCounts) -> usize {
        let before = self.followed.len();
        self.followed.retain(|one| {
            let idle = is_idle(one.last_seen_ns, now_ns);
            if idle {
                counts.add(&one.numbering.counts());
            }
            !idle
        });
        before - self.followed.len()
    }
}

impl Followed {
    fn health(&self, address: IpAddr) -> ExporterHealth {
        let counts = self.numbering.counts();
        ExporterHealth {
            exporter: address,
            node: self.key.node,
            hw_id: self.key.hw_id.get(),
            reports: self.reports,
            lost: counts.lost,
            duplicates: counts.duplicates,
            restarts: counts.restarts,
            last_seen_ns: self.last_seen_ns,
            clock: self.clock.and_then(|clock| clock.source.name()),
            clock_synchronised: self.clock.map(|clock| clock.synchronised),
        }
    }
}

fn is_idle(last_seen_ns: u64, now_ns: u64) -> bool {
    now_ns.saturating_sub(last_seen_ns) > IDLE_NS
}

/// Whether it is time to look for the idle, who are then looked for.
fn is_due(swept_ns: &mut Option<u64>, now_ns: u64) -> bool {
    // A clock that was set back is no reason to wait for what it said before.
    let due = swept_ns.is_none_or(|last| now_ns < last || now_ns - last >= SWEEP_NS);
    if due {
        *swept_ns = Some(now_ns);
    }
    due
}
