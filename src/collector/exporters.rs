//! Per exporter: how many reports came, how many did not, and what could not be read.

use std::collections::HashMap;
use std::net::IpAddr;

use serde::Serialize;

use super::numbering::{Continuity, Numbering, NumberingCounts};
use super::{DecodeError, DecodeErrorKind};
use crate::model::{HwId, Report};

/// Exporters whose numbers are followed, and addresses whose undecodable datagrams are counted
/// apart; what exceeds this is still counted in the totals.
pub const MAX_EXPORTERS: usize = 65_536;

/// One numbering: an address and its reporting subsystem.
///
/// The source port is no part of it, because switches vary it from report to report.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ExporterKey {
    pub address: IpAddr,
    pub hw_id: HwId,
}

/// Datagrams that were no reports, by cause.
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
    pub hw_id: u8,
    #[serde(flatten)]
    pub numbers: NumberingCounts,
}

/// Sums over all exporters.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct ExportersCounts {
    pub exporters: usize,
    #[serde(flatten)]
    pub numbers: NumberingCounts,
    /// Reports of exporters that found the table full; their numbers are not followed.
    pub untracked: u64,
    pub undecodable: UndecodableCounts,
}

/// Everyone who sends reports, in bounded memory.
#[derive(Debug)]
pub struct Exporters {
    limit: usize,
    numberings: HashMap<ExporterKey, Numbering>,
    undecodable_from: HashMap<IpAddr, UndecodableCounts>,
    undecodable: UndecodableCounts,
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
            untracked: 0,
        }
    }

    /// Takes note of a report; `None` if its exporter is new and the table full.
    pub fn received(&mut self, from: IpAddr, report: &Report) -> Option<Continuity> {
        let key = ExporterKey {
            address: from,
            hw_id: report.observation.hw_id,
        };
        let full = self.numberings.len() >= self.limit;
        match self.numberings.get_mut(&key) {
            Some(numbering) => Some(numbering.arrived(report.sequence)),
            None if full => {
                self.untracked += 1;
                None
            }
            None => Some(
                self.numberings
                    .entry(key)
                    .or_default()
                    .arrived(report.sequence),
            ),
        }
    }

    /// Takes note of a datagram that was no report.
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
            .map(|(key, numbering)| ExporterCounts {
                exporter: key.address,
                hw_id: key.hw_id.get(),
                numbers: numbering.counts(),
            })
            .collect();
        exporters.sort_by_key(|counts| (counts.exporter, counts.hw_id));
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
        for numbering in self.numberings.values() {
            numbers.add(&numbering.counts());
        }
        ExportersCounts {
            exporters: self.numberings.len(),
            numbers,
            untracked: self.untracked,
            undecodable: self.undecodable,
        }
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
