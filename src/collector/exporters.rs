//! The exporters: for each one the reports that arrived, those that were lost, and those that could not be decoded.

use std::collections::HashMap;
use std::net::IpAddr;

use serde::Serialize;

use super::address_exporters::{AddressExporters, is_due, is_idle};
use super::decoded::{DecodeError, NodeNotice, ReportGroup};
use super::exporter::{Exporter, NumberingKey};
use super::freshness::Hosts;
use super::identities::Identities;
use super::numbering::{Continuity, NumberingCounts};
use super::undecodable::{UndecodableCounts, UndecodableFrom};
use crate::model::{Arrival, Body, ExporterHealth, NameOrigin, NodeId, SeededHash};

/// The most exporters whose numbering is followed, and the most addresses whose undecodable datagrams are counted
/// apart. Beyond that, datagrams count in the totals only.
pub const MAX_EXPORTERS: usize = 65_536;

/// The most exporters of one address: a sender that writes other nodes into each report takes no place of other
/// senders.
pub const MAX_OF_ADDRESS: usize = 1_024;

/// The counts of one exporter.
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

/// Sums over all exporters, including those that were forgotten.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct ExportersCounts {
    /// Exporters that are followed.
    pub exporters: usize,
    /// Exporters that made room for others.
    pub forgotten: u64,
    /// Datagrams with at least one report.
    pub decoded: u64,
    /// Datagrams without a report.
    pub not_decoded: u64,
    /// Individual reports, including those of untracked exporters.
    pub reports: u64,
    /// Individual reports that could not be decoded, in datagrams with others that could.
    pub refused: u64,
    /// Reports that depart from the standard, and could be read in one way only.
    pub quirks: u64,
    /// Reports whose packet seems to have INT that could not be read.
    pub int_unread: u64,
    #[serde(flatten)]
    pub numbers: NumberingCounts,
    /// Datagrams of exporters for which the table had no room. Their numbering is not followed.
    pub untracked: u64,
    pub undecodable: UndecodableCounts,
}

fn quirks_in(group: &ReportGroup) -> u64 {
    let bodies = group.reports.iter().map(|report| &report.observation.body);
    let quirky = bodies.filter(|body| match body {
        Body::Packet(packet) => packet.quirks().next().is_some(),
        _ => false,
    });
    quirky.count() as u64
}

/// All senders of reports, in bounded memory.
#[derive(Debug)]
pub struct Exporters {
    pub(super) limit: usize,
    limit_of_address: usize,
    pub(super) addresses: HashMap<IpAddr, AddressExporters, SeededHash>,
    /// Undecodable datagrams by address, with the time of the last one.
    undecodable_from: HashMap<IpAddr, UndecodableFrom>,
    swept_ns: Option<u64>,
    pub(super) identities: Identities,
    /// The sender of the last datagram or report that could not be decoded, and the reason.
    last_undecodable: Option<(IpAddr, DecodeError)>,
    /// The sums without `numbers`, which are added up when the counts are read.
    pub(super) sums: ExportersCounts,
    forgotten: NumberingCounts,
}

impl Default for Exporters {
    fn default() -> Self {
        Self::with_limits(MAX_EXPORTERS, MAX_OF_ADDRESS)
    }
}

impl Exporters {
    /// Sets the most exporters in all, and of one address.
    pub fn with_limits(limit: usize, limit_of_address: usize) -> Self {
        Self {
            limit,
            limit_of_address,
            addresses: HashMap::default(),
            undecodable_from: HashMap::new(),
            swept_ns: None,
            identities: Identities::default(),
            last_undecodable: None,
            sums: ExportersCounts::default(),
            forgotten: NumberingCounts::default(),
        }
    }

    /// Counts a datagram of reports. Returns `None` if it has no number, or if its exporter is new and the table has no
    /// room for it.
    pub fn received(&mut self, arrival: Arrival, group: &ReportGroup) -> Option<Continuity> {
        for error in group.refused.iter().chain(&group.unread_int) {
            self.count_cause(arrival, error);
        }
        self.sums.int_unread += group.unread_int.len() as u64;
        if let Some(notice) = &group.notice {
            self.noticed(arrival, group, notice);
            return None;
        }
        let count = group.reports.len() as u64;
        self.sums.reports += count;
        self.sums.quirks += quirks_in(group);
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
        Some(exporter.received(arrival, group))
    }

    /// Takes what a node says beside its reports for a sign of life.
    fn noticed(&mut self, arrival: Arrival, group: &ReportGroup, notice: &NodeNotice) {
        match notice {
            NodeNotice::Identity(identity) => {
                self.identities
                    .learn(arrival.exporter.ip(), identity, arrival.received_ns);
                self.lives(arrival, group, identity.node, Some(identity.period_s));
            }
            // It comes only after periods with packets, so its period promises nothing.
            NodeNotice::Coverage(coverage) => self.lives(arrival, group, coverage.node, None),
            _ => {
                self.sums.decoded += 1;
                if let Some(node) = group.node {
                    self.shows_life(arrival, node, None);
                }
            }
        }
    }

    /// Takes a sign of life of all exporters of a node, with the period of such signs if it promises one. The node of a
    /// sink without packets has none yet.
    fn lives(
        &mut self,
        arrival: Arrival,
        group: &ReportGroup,
        node: NodeId,
        period_s: Option<u16>,
    ) {
        self.sums.decoded += 1;
        if self.shows_life(arrival, node, period_s) {
            return;
        }
        match self.follow(arrival, group) {
            Some(new) => new.lives(arrival, period_s),
            None => self.sums.untracked += 1,
        }
    }

    /// Notes that a node lives. Returns false if it has no exporter yet.
    fn shows_life(&mut self, arrival: Arrival, node: NodeId, period_s: Option<u16>) -> bool {
        let known = self.addresses.get_mut(&arrival.exporter.ip());
        let followed = known.into_iter().flat_map(|address| &mut address.followed);
        let mut is_known = false;
        for one in followed.filter(|one| one.node() == Some(node)) {
            one.lives(arrival, period_s);
            is_known = true;
        }
        is_known
    }

    /// Counts more reports of a group whose sequence number was counted already.
    pub fn another(&mut self, from: IpAddr, group: &ReportGroup) {
        let count = group.reports.len() as u64;
        self.sums.reports += count;
        if let Some(address) = self.addresses.get_mut(&from)
            && let Ok(place) = address.place_of(NumberingKey::of(group))
        {
            address.followed[place].reports += count;
        }
    }

    /// Counts a datagram without a report.
    pub fn undecodable(&mut self, arrival: Arrival, error: &DecodeError) {
        self.sums.not_decoded += 1;
        self.count_cause(arrival, error);
    }

    fn count_cause(&mut self, arrival: Arrival, error: &DecodeError) {
        self.sums.undecodable.count(error.kind());
        let from = arrival.exporter.ip();
        self.last_undecodable = Some((from, *error));
        if self.undecodable_from.len() >= self.limit && !self.undecodable_from.contains_key(&from) {
            self.sweep(arrival.received_ns);
            if self.undecodable_from.len() >= self.limit {
                return;
            }
        }
        let known = self.undecodable_from.entry(from).or_default();
        known.counts.count(error.kind());
        known.last = Some(*error);
        known.last_seen_ns = arrival.received_ns;
    }

    /// Returns the datagram's exporter, or `None` if it is new and the table has no room for it.
    fn follow(&mut self, arrival: Arrival, group: &ReportGroup) -> Option<&mut Exporter> {
        let (from, key) = (arrival.exporter.ip(), NumberingKey::of(group));
        let place = self.addresses.get(&from).map(|known| known.place_of(key));
        if let Some(Ok(place)) = place {
            return self.addresses.get_mut(&from)?.followed.get_mut(place);
        }
        self.make_room(from, arrival.received_ns)?;
        let address = self.addresses.entry(from).or_default();
        let place = address.place_of(key).unwrap_or_else(|_| {
            let mut new = Exporter::new(key, group.sequence_bits(), arrival.received_ns);
            if let Some(before) = key.node.and_then(|node| address.take_without_reports(node)) {
                new.follows(&before);
                self.sums.exporters -= 1;
            }
            let place = address.place_of(key).unwrap_or_else(|place| place);
            // Most addresses have one exporter.
            if address.followed.is_empty() {
                address.followed.reserve_exact(1);
            }
            address.followed.insert(place, new);
            self.sums.exporters += 1;
            place
        });
        address.followed.get_mut(place)
    }

    /// Makes room for another exporter of this address. Returns `None` if there is none.
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
        let own = self
            .addresses
            .get(&from)
            .map_or(0, |address| address.followed.len());
        (own < limit && self.sums.exporters < self.limit).then_some(())
    }

    /// Forgets idle exporters, unless that was tried just now.
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
            .retain(|_, known| !is_idle(known.last_seen_ns, now_ns));
    }

    /// Returns the counts of all followed exporters, sorted by address.
    pub fn each(&self) -> Vec<ExporterCounts> {
        let mut exporters: Vec<_> = self
            .all()
            .map(|(address, followed)| ExporterCounts {
                exporter: address,
                node: followed.node(),
                hw_id: followed.key.hw_id.get(),
                reports: followed.reports,
                numbers: followed.numbering.counts(),
            })
            .collect();
        exporters.sort_by_key(|counts| (counts.exporter, counts.node, counts.hw_id));
        exporters
    }

    /// Returns the health of at most `most` exporters: first those that fell silent, then those that lost most reports,
    /// then those with most duplicates and restarts, then by address, node and subsystem.
    pub fn health(&self, most: usize, now_ns: u64) -> Vec<ExporterHealth> {
        let mut all: Vec<_> = self
            .all()
            .map(|(address, followed)| {
                let counts = followed.numbering.counts();
                let silent = !followed.reports_at(now_ns);
                let trouble = (silent, counts.lost, counts.duplicates + counts.restarts);
                (std::cmp::Reverse(trouble), address, followed)
            })
            .collect();
        let order = |(trouble, address, followed): &(_, IpAddr, &Exporter)| {
            (*trouble, *address, followed.key)
        };
        if all.len() > most {
            all.select_nth_unstable_by_key(most, order);
            all.truncate(most);
        }
        all.sort_unstable_by_key(order);
        all.into_iter()
            .map(|(_, address, one)| self.named(one.health(address, now_ns)))
            .collect()
    }

    /// Adds what the exporter's node told of itself.
    fn named(&self, mut health: ExporterHealth) -> ExporterHealth {
        let node = health.node;
        let reported = node.and_then(|node| self.identities.of(node, health.exporter));
        if let Some(reported) = reported {
            health.name = Some(reported.name.clone()).filter(|name| !name.is_empty());
            health.name_origin = health.name.is_some().then_some(NameOrigin::Told);
            health.name_contested = self.identities.is_contested(&reported.name);
            health.version = Some(reported.version.clone()).filter(|version| !version.is_empty());
            health.labels.clone_from(&reported.labels);
            health.interfaces.clone_from(&reported.interfaces);
            health.lacks = reported.lacks.lacks();
        }
        health
    }

    /// Forgets the identities of nodes that have not told one for a long time.
    pub fn forget_old_identities(&mut self, now_ns: u64) {
        self.identities.forget_old(now_ns);
    }

    /// Returns how many hosts there are, and of how many of them reports come.
    pub fn hosts(&self, now_ns: u64) -> Hosts {
        Hosts::count(self.all(), now_ns)
    }

    fn all(&self) -> impl Iterator<Item = (IpAddr, &Exporter)> {
        self.addresses
            .iter()
            .flat_map(|(address, known)| known.followed.iter().map(|one| (*address, one)))
    }

    /// Returns the sender of the last undecodable datagram, the field that was wrong, and what was expected there.
    pub fn last_undecodable(&self) -> Option<String> {
        let (from, error) = self.last_undecodable.as_ref()?;
        Some(format!("{from}: {error}"))
    }

    /// Iterates over the undecodable datagrams of each address.
    pub fn undecodable_by_address(&self) -> impl Iterator<Item = (IpAddr, &UndecodableFrom)> {
        self.undecodable_from
            .iter()
            .map(|(address, known)| (*address, known))
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
