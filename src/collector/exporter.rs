//! One exporter: its numbering, its node, and when it reported last.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;

use super::decoded::ReportGroup;
use super::numbering::{Continuity, Numbering};
use crate::model::hosts::SILENT_NS;
use crate::model::{Arrival, Body, ClockState, ExporterHealth, HwId, NodeId, ReportVersion};

/// An exporter that says how often it reports is silent after this number of its periods.
pub const PERIODS: u64 = 3;

const SECOND_NS: u64 = 1_000_000_000;

/// The key of a numbering at an address: the reporting subsystem and its node, so that several nodes behind one address
/// are told apart. Devices of v0.5 number all their reports in one sequence and name their node in some of them.
///
/// The source port is no part of the key, because switches vary it from report to report.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct NumberingKey {
    pub node: Option<NodeId>,
    pub hw_id: HwId,
    /// A host numbers its reports of each version apart.
    version: ReportVersion,
}

impl NumberingKey {
    pub fn of(group: &ReportGroup) -> Self {
        Self {
            node: group.node,
            hw_id: group.hw_id,
            version: group.version,
        }
    }
}

/// One exporter.
#[derive(Debug)]
pub(super) struct Exporter {
    pub key: NumberingKey,
    /// The node that its reports name, if the key has none.
    named: NamedNode,
    pub numbering: Numbering,
    pub reports: u64,
    pub last_seen_ns: u64,
    clock: Option<ClockState>,
    /// The period in which its node says that it lives.
    period_ns: Option<u64>,
}

/// The nodes that are named by the reports of one numbering.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum NamedNode {
    #[default]
    None,
    One(NodeId),
    /// Several devices share an address and a subsystem, so that the numbering belongs to no single node.
    Several,
}

impl NamedNode {
    fn add(&mut self, node: NodeId) {
        *self = match *self {
            Self::None => Self::One(node),
            Self::One(known) if known == node => Self::One(node),
            Self::One(_) | Self::Several => Self::Several,
        };
    }
}

impl Exporter {
    pub fn new(key: NumberingKey, sequence_bits: u32, now_ns: u64) -> Self {
        Self {
            key,
            named: NamedNode::None,
            numbering: Numbering::of_bits(sequence_bits),
            reports: 0,
            last_seen_ns: now_ns,
            clock: None,
            period_ns: None,
        }
    }

    /// One of which an earlier run heard last at this time.
    pub fn remembered(node: Option<NodeId>, last_ns: u64, silent_after_ns: u64) -> Self {
        let key = NumberingKey {
            node,
            hw_id: HwId::default(),
            version: ReportVersion::V05,
        };
        Self {
            period_ns: Some(silent_after_ns / PERIODS),
            ..Self::new(key, u32::BITS, last_ns)
        }
    }

    /// Counts a datagram.
    pub fn received(&mut self, arrival: Arrival, group: &ReportGroup) -> Continuity {
        self.reports += group.reports.len() as u64;
        self.last_seen_ns = arrival.received_ns;
        if self.key.node.is_none() {
            let reports = group.reports.iter();
            for node in reports.filter_map(|report| report.observation.reporter()) {
                self.named.add(node);
            }
        }
        let clock = group
            .reports
            .first()
            .and_then(|first| first.observation.clock);
        self.clock = clock.or(self.clock);
        match content_of(group) {
            Some(content) => self.numbering.arrived_with(group.sequence, content),
            None => self.numbering.arrived(group.sequence),
        }
    }

    /// Takes a sign of life of its node, which has no number, and the period of such signs if the node promises one.
    pub fn lives(&mut self, arrival: Arrival, period_s: Option<u16>) {
        self.last_seen_ns = arrival.received_ns;
        if let Some(period_s) = period_s {
            self.period_ns = Some(u64::from(period_s) * SECOND_NS).filter(|ns| *ns > 0);
        }
    }

    /// Takes the place of an exporter of the same node that has sent nothing but signs of life.
    pub fn follows(&mut self, before: &Self) {
        self.period_ns = before.period_ns;
    }

    /// True if nothing but signs of life has arrived.
    pub fn is_without_reports(&self) -> bool {
        self.numbering.counts().received == 0
    }

    /// The node whose exporter it is, if its reports name one.
    pub fn node(&self) -> Option<NodeId> {
        self.key.node.or(match self.named {
            NamedNode::One(node) => Some(node),
            NamedNode::None | NamedNode::Several => None,
        })
    }

    /// True if its reports come.
    pub fn reports_at(&self, now_ns: u64) -> bool {
        now_ns.saturating_sub(self.last_seen_ns) <= self.silent_after_ns()
    }

    fn silent_after_ns(&self) -> u64 {
        match self.period_ns {
            Some(period_ns) => PERIODS * period_ns,
            None => SILENT_NS,
        }
    }

    pub fn health(&self, address: IpAddr, now_ns: u64) -> ExporterHealth {
        let counts = self.numbering.counts();
        ExporterHealth {
            exporter: address,
            node: self.node(),
            hw_id: self.key.hw_id.get(),
            reports: self.reports,
            lost: counts.lost,
            duplicates: counts.duplicates,
            restarts: counts.restarts,
            unnumbered: counts.unnumbered,
            last_seen_ns: self.last_seen_ns,
            reporting: self.reports_at(now_ns),
            silent_after_ns: self.silent_after_ns(),
            clock: self.clock.and_then(|clock| clock.source.name()),
            clock_synchronised: self.clock.map(|clock| clock.synchronised),
            name: None,
            name_origin: None,
            name_contested: false,
            version: None,
            labels: BTreeMap::new(),
            interfaces: BTreeMap::new(),
            lacks: Vec::new(),
        }
    }
}

/// A hash of the packets that a datagram reports; `None` for reports that only hosts send, which are numbered.
fn content_of(group: &ReportGroup) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    for report in &group.reports {
        let Body::Packet(packet) = &report.observation.body else {
            return None;
        };
        packet.hash(&mut hasher);
    }
    Some(hasher.finish())
}
