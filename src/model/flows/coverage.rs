//! Coverage: of the packets that the watchlist asks for, those that were not measured, by reason.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::{NodeId, Span, Volume};

/// The name of a line about coverage.
pub const COVERAGE_SCHEMA: &str = "hostint.coverage/1";

/// The name of packets that the source tagged.
pub const TAGGED: &str = "tagged";

/// The number of the reason that the budget leaves their flows out.
pub const BUDGET: u8 = 32;
/// The same of a rule's sample.
const NOT_SAMPLED: u8 = 24;

/// The names of the reasons for which flows are left out by chance, so that the others tell of all.
pub fn by_chance() -> [&'static str; 2] {
    [BUDGET, NOT_SAMPLED].map(|number| MissedReason::Source(number).name())
}

/// Why packets were not tagged: the sink granted no lease, or did not answer.
pub const NO_LEASE: &str = "no_lease";

/// Why tagged packets were not measured: no sink told of them in time. They were lost, and nothing behind them showed it;
/// or the sink does not report.
pub const NO_SINK_TOLD: &str = "no_sink_told";

/// The time that a history keeps one sum of coverage for.
pub const PERIOD_NS: u64 = 600_000_000_000;

/// The span that the sums of a question about `span` have: all of the periods that it touches, as far as they are over.
pub fn covered(span: Span, now_ns: u64) -> Span {
    let end_ns = span.until_ns.div_ceil(PERIOD_NS).saturating_mul(PERIOD_NS);
    Span {
        since_ns: span.since_ns / PERIOD_NS * PERIOD_NS,
        until_ns: end_ns.min(now_ns.max(span.until_ns)),
    }
}

/// Why a packet was not measured. The number is that of a counter, which never changes.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum MissedReason {
    /// The source did not tag it.
    Source(u8),
    /// The sink stripped it, and could not assign it to a flow.
    Sink(u8),
}

/// A source's reasons by number; the others count packets that the watchlist does not ask for, or count some twice.
const OF_SOURCE: [(u8, &str); 21] = [
    (0, TAGGED),
    (4, "fragment"),
    (5, "may_fragment"),
    (6, "ip_options"),
    (7, "vlan"),
    (8, "too_long"),
    (9, "superpacket"),
    (14, "group_address"),
    (15, "table_full"),
    (16, "no_checksum_state"),
    (17, "cannot_resize"),
    (18, "undone"),
    (21, NO_LEASE),
    (NOT_SAMPLED, "not_sampled"),
    (25, "began_before_lease"),
    (27, "unproved"),
    (28, "left"),
    (29, "guarded"),
    (30, "signed"),
    (31, "no_option"),
    (BUDGET, "budget"),
];

/// A sink's reasons by number; the others count packets that are measured, or that have no INT that can be read.
const OF_SINK: [(u8, &str); 4] = [
    (14, "untracked"),
    (15, "bad_segment"),
    (26, "new_flow_limited"),
    (39, "damaged"),
];

impl MissedReason {
    /// No reason: packets that the source tagged are reported beside the others.
    pub const TAGGED: Self = Self::Source(0);

    /// Reasons of later versions are `other`.
    pub fn name(self) -> &'static str {
        let names: &[_] = match self {
            Self::Source(_) => &OF_SOURCE,
            Self::Sink(_) => &OF_SINK,
        };
        let found = names.iter().find(|(number, _)| *number == self.number());
        found.map_or("other", |(_, name)| name)
    }

    pub fn number(self) -> u8 {
        match self {
            Self::Source(number) | Self::Sink(number) => number,
        }
    }
}

/// The other end of a pair of nodes.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum PairEnd {
    /// A source reports: this is the node of the sink in front of the destination, if there ever was one.
    ToSink(Option<NodeId>),
    /// A sink reports: this is the source's node.
    FromSource(NodeId),
}

impl PairEnd {
    /// The source and the sink of a pair of which this node reports.
    pub fn pair(self, node: NodeId) -> (NodeId, Option<NodeId>) {
        match self {
            Self::ToSink(sink) => (node, sink),
            Self::FromSource(source) => (source, Some(node)),
        }
    }
}

/// The packets of a pair and class that were not measured, since an epoch; and those that the source tagged.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MissedPackets {
    pub other: PairEnd,
    pub class: Option<String>,
    pub by_reason: BTreeMap<MissedReason, Volume>,
}

/// A report of a source, or of a sink, about packets that it did not tag or measure.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CoverageReport {
    pub node: NodeId,
    /// The time from one report to the next.
    pub period_s: u16,
    /// Counting began at this time. Other counts have another epoch.
    pub epoch_ns: u64,
    pub missed: Vec<MissedPackets>,
}

/// The coverage of a pair and class since the collector started.
#[derive(Clone, Debug, Default, Eq, PartialEq, Deserialize, Serialize)]
pub struct CoverageRow {
    pub source: NodeId,
    pub sink: Option<NodeId>,
    pub class: Option<String>,
    /// Packets that the sink measured, those that were lost on the way included. `None`: it told nothing of this class,
    /// which its own rules may not name.
    pub measured: Option<u64>,
    /// Packets that the source tagged, as far as it told: of each flow 64 may be missing. `None`: it told nothing.
    #[serde(default)]
    pub tagged: Option<u64>,
    /// Packets that were not measured, by reason.
    pub missed: BTreeMap<String, u64>,
    /// The bytes of packets that the sink measured; those of packets that were lost are not known, and not in it. `None`:
    /// as of packets.
    #[serde(default)]
    pub measured_bytes: Option<u64>,
    /// The bytes of packets that the source tagged. `None`: it did not tell all of them.
    #[serde(default)]
    pub tagged_bytes: Option<u64>,
    /// The bytes of packets that were not measured, by reason. `None`: not all of them were reported.
    #[serde(default)]
    pub missed_bytes: BTreeMap<String, Option<u64>>,
}

/// Packets of a pair and class that the collector's history does not have yet.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CoverageGrowth {
    pub source: NodeId,
    pub sink: Option<NodeId>,
    pub class: Option<String>,
    /// The name of the reason why they were not measured, or [`TAGGED`]; `None`: they were.
    pub reason: Option<&'static str>,
    /// Negative: a sink reported later of packets of which none had reported.
    pub packets: i64,
    /// `None`: not known.
    pub bytes: Option<i64>,
}

/// What a report tells of a source, as a line of JSON.
#[derive(Clone, Debug, Serialize)]
pub struct CoverageRecord<'a> {
    pub schema: &'static str,
    pub exporter: std::net::IpAddr,
    pub received_ns: u64,
    /// The node that tells: the source, or a sink.
    pub node: NodeId,
    pub source: NodeId,
    pub period_s: u16,
    pub epoch_ns: u64,
    pub missed: Vec<MissedRecord<'a>>,
}

/// A pair and class of such a line. Packets count since the epoch.
#[derive(Clone, Debug, Serialize)]
pub struct MissedRecord<'a> {
    pub sink: Option<NodeId>,
    pub class: Option<&'a str>,
    /// Packets that were not tagged, or not measured, by reason.
    pub packets: BTreeMap<&'static str, u64>,
    /// Those that the source tagged; of a sink 0.
    pub tagged: u64,
    /// The bytes of each, `None` where the host does not tell them.
    pub bytes: BTreeMap<&'static str, Option<u64>>,
    pub tagged_bytes: Option<u64>,
}

/// True for such a line.
pub fn is_record(line: &[u8]) -> bool {
    line.trim_ascii_start()
        .starts_with(br#"{"schema":"hostint.coverage/1""#)
}

/// Packets that were not measured, by the name of the reason. Reasons of later versions share one.
pub fn named(by_reason: &BTreeMap<MissedReason, Volume>) -> BTreeMap<&'static str, Volume> {
    let mut named: BTreeMap<_, Volume> = BTreeMap::new();
    for (reason, volume) in by_reason {
        if *reason != MissedReason::TAGGED {
            named.entry(reason.name()).or_default().add(*volume);
        }
    }
    named
}

impl MissedPackets {
    /// Packets that were not measured, by the name of the reason.
    pub fn named(&self) -> BTreeMap<&'static str, Volume> {
        named(&self.by_reason)
    }

    /// Packets that the source tagged.
    pub fn tagged(&self) -> Volume {
        let tagged = self.by_reason.get(&MissedReason::TAGGED);
        tagged.copied().unwrap_or_default()
    }
}

impl CoverageReport {
    pub fn period_ns(&self) -> u64 {
        u64::from(self.period_s) * 1_000_000_000
    }

    /// The lines of a report that came from there, one for each source node.
    pub fn records(&self, exporter: std::net::IpAddr, received_ns: u64) -> Vec<CoverageRecord<'_>> {
        let mut by_source: BTreeMap<NodeId, Vec<MissedRecord<'_>>> = BTreeMap::new();
        for one in &self.missed {
            let (source, sink) = one.other.pair(self.node);
            let named = one.named();
            by_source.entry(source).or_default().push(MissedRecord {
                sink,
                class: one.class.as_deref(),
                packets: named.iter().map(|(why, of)| (*why, of.packets)).collect(),
                tagged: one.tagged().packets,
                bytes: named.into_iter().map(|(why, of)| (why, of.bytes)).collect(),
                tagged_bytes: one.tagged().bytes,
            });
        }
        let line = |(source, missed)| CoverageRecord {
            schema: COVERAGE_SCHEMA,
            exporter,
            received_ns,
            node: self.node,
            source,
            period_s: self.period_s,
            epoch_ns: self.epoch_ns,
            missed,
        };
        by_source.into_iter().map(line).collect()
    }
}
