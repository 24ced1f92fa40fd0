//! Per exporter: how many reports came, how many did not, and what could not be read.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::net::IpAddr;

use serde::Serialize;

use super::numbering::{Continuity, Numbering, NumberingCounts};
use super::{DecodeError, DecodeErrorKind, ReportGroup};
use crate::model::{HwId, NodeId};

/// Exporters whose numbers are followed, and addresses whose undecodable datagrams are counted
/// apart; what exceeds this is still counted in the totals.
pub const MAX_EXPORTERS: usize = 65_536;

/// One numbering: an address and its reporting subsystem; from v1.0 on, of one node.
///
/// The source port is no part of it, because switches vary it from report to report.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ExporterKey {
    pub address: IpAddr,
    pub node: Option<NodeId>,
    pub hw_id: HwId,
    /// v2.0 numbers by itself.
    pub sequence_bits: u32,
}

impl ExporterKey {
    fn of(address: IpAddr, group: &ReportGroup) -> Self {
        Self {
            address,
            node: group.node,
            hw_id: group.hw_id,
            sequence_bits: group.sequence_bits,
        }
    }
}

/// What was no report, by cause: datagrams, and individual reports in groups.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct UndecodableCounts {
    pub truncated: u64,
    pub version: u64,
    pub kind: u64,
    pub length: u64,
    pub field: u64,
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

/// Sums over all exporters.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct ExportersCounts {
    pub exporters: usize,
    /// Individual reports, those of untracked exporters included.
    pub reports: u64,
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
    numberings: HashMap<ExporterKey, (Numbering, u64)>,
    undecodable_from: HashMap<IpAddr, UndecodableCounts>,
    undecodable: UndecodableCounts,
    reports: u64,
    untracked: u64,
}

impl Default for Exporters {
    fn default() -> Self {
        Self::with_limit(MAX_EXPORTERS)
    }
}

impl Exporters {
    pub fn with_limit(limit: usize) -> Self {
        Self {
            limit,
            numberings: HashMap::new(),
            undecodable_from: HashMap::new(),
            undecodable: UndecodableCounts::default(),
            reports: 0,
            untracked: 0,
        }
    }

    /// Takes note of a datagram of reports; `None` if its exporter is new and the table full.
    pub fn received(&mut self, from: IpAddr, group: &ReportGroup) -> Option<Continuity> {
        let key = ExporterKey::of(from, group);
        for error in &group.refused {
            self.undecodable(from, error);
        }
        let count = group.reports.len() as u64;
        self.reports += count;
        let full = self.numberings.len() >= self.limit;
        let (numbering, reports) = match self.numberings.entry(key) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(_) if full => {
                self.untracked += 1;
                return None;
            }
            Entry::Vacant(new) => new.insert((Numbering::of_bits(group.sequence_bits), 0)),
        };
        *reports += count;
        Some(numbering.arrived(group.sequence))
    }

    /// Takes note of another report of a group whose number is known already.
    pub fn another(&mut self, from: IpAddr, group: &ReportGroup) {
        self.reports += group.reports.len() as u64;
        if let Some((_, reports)) = self.numberings.get_mut(&ExporterKey::of(from, group)) {
            *reports += group.reports.len() as u64;
        }
    }

    /// Takes note of what was no report: a datagram, or an individual one in a group.
    pub fn undecodable(&mut self, from: IpAddr, error: &DecodeError) {
        self.undecodable.count(error.kind());
        let full = self.undecodable_from.len() >= self.limit;
        match self.undecodable_from.get_mut(&from) {
            Some(counts) => counts.count(error.kind()),
            None if full => {}
            None => self
                .undecodable_from
                .entry(from)
                .or_default()
                .count(error.kind()),
        }
    }

    /// Every exporter, by address.
    pub fn each(&self) -> Vec<ExporterCounts> {
        let mut exporters: Vec<_> = self
            .numberings
            .iter()
            .map(|(key, (numbering, reports))| ExporterCounts {
                exporter: key.address,
                node: key.node,
                hw_id: key.hw_id.get(),
                reports: *reports,
                numbers: numbering.counts(),
            })
            .collect();
        exporters.sort_by_key(|counts| (counts.exporter, counts.node, counts.hw_id));
        exporters
    }

    /// Undecodable datagrams by address, whether or not reports came from there as well.
    pub fn undecodable_by_address(&self) -> impl Iterator<Item = (IpAddr, UndecodableCounts)> {
        self.undecodable_from
            .iter()
            .map(|(address, counts)| (*address, *counts))
    }

    pub fn counts(&self) -> ExportersCounts {
        let mut numbers = NumberingCounts::default();
        for (numbering, _) in self.numberings.values() {
            numbers.add(&numbering.counts());
        }
        ExportersCounts {
            exporters: self.numberings.len(),
            reports: self.reports,
            numbers,
            untracked: self.untracked,
            undecodable: self.undecodable,
        }
    }
}

impl fmt::Display for UndecodableCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let causes = [
            ("truncated", self.truncated),
            ("version", self.version),
            ("kind", self.kind),
            ("length", self.length),
            ("field", self.field),
        ];
        let told = causes.iter().filter(|(_, count)| *count > 0);
        for (index, (cause, count)) in told.enumerate() {
            write!(f, "{}{cause} {count}", if index > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

impl UndecodableCounts {
    pub fn total(&self) -> u64 {
        self.truncated + self.version + self.kind + self.length + self.field
    }

    fn count(&mut self, kind: DecodeErrorKind) {
        *match kind {
            DecodeErrorKind::Truncated => &mut self.truncated,
            DecodeErrorKind::Version => &mut self.version,
            DecodeErrorKind::Kind => &mut self.kind,
            DecodeErrorKind::Length => &mut self.length,
            DecodeErrorKind::Field => &mut self.field,
        } += 1;
    }
}
