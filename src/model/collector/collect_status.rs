//! A collector's counts of received, lost and stored reports, and the health of each exporter.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::model::coverage::CoverageRow;
use crate::model::{
    EngineStatus, EventRefusal, HostDropRow, HostQueueRow, HostTcpRow, InterfacePassage,
    KernelLack, MxPairRow, NetworkVerdict, NodeId, PairTraffic, PairUsuals, PodsStatus,
    SegmentTally,
};

/// The schema of a [`CollectStatus`] as JSON.
pub const COLLECT_SCHEMA: &str = "hostint.collect-status/1";

/// Counts since the collector started; times are ns since the Unix epoch.
///
/// Every datagram that reached the kernel's socket buffers is counted in exactly one of `socket_drops`, `probes`,
/// `queue_drops`, `undecodable` and `decoded`, unless it still waits for the decoder; `datagrams` counts all of them
/// except `socket_drops`. Every report is counted in exactly one of `lines` and `lines_lost` if lines are written, where
/// lines about coverage count too, and in exactly one of `stored`, `rolled_up_only` and `store_drops` if there is a store, as soon as it has left the
/// queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CollectStatus {
    pub schema: &'static str,
    pub started_ns: u64,
    /// Datagrams taken from sockets.
    pub datagrams: u64,
    pub bytes: u64,
    /// Datagrams that the kernel dropped because the socket buffer was full.
    pub socket_drops: u64,
    /// Receive calls that failed.
    pub receive_errors: u64,
    /// Datagrams with which sinks asked whether the collector is there.
    pub probes: u64,
    /// Probes whose answer could not be sent.
    pub probes_unanswered: u64,
    /// Datagrams dropped because the queue to the decoder was full.
    pub queue_drops: u64,
    /// Datagrams that held no readable report.
    pub undecodable: u64,
    /// The sender of the last one, the field that was wrong, and what was expected there.
    pub undecodable_last: Option<String>,
    /// Datagrams that held at least one readable report.
    pub decoded: u64,
    /// Individual reports in the decoded datagrams.
    pub reports: u64,
    /// Individual reports that could not be read in a v2.0 group that had readable ones. A report with an impossible
    /// length counts once together with everything behind it in the group.
    pub reports_refused: u64,
    /// Reports that depart from the standard, and could be read in one way only.
    pub reports_with_quirk: u64,
    /// Reports whose packet seems to have INT that could not be read; `undecodable_last` names the field.
    pub int_unread: u64,
    /// Sequence numbers missing from exporters' reports: lost on the way, or dropped by this collector.
    pub reports_lost: u64,
    pub reports_duplicate: u64,
    /// Datagrams of exporters that do not number: with the number and without the content of the one before them.
    pub reports_unnumbered: u64,
    /// Summaries that lost a part on the way. The next summary of their subject has their packets.
    pub summaries_incomplete: u64,
    /// Summaries of what fell silent, which only repeat the ones before, in case those were lost.
    pub summaries_repeated: u64,
    /// Packets in INT-MX: those that all hops of their flow told of, those that lacked one, and those without a sink's report.
    pub mx_joined: u64,
    pub mx_incomplete: u64,
    pub mx_without_sink: u64,
    /// Counts of dropped packets that hosts reported, and for which there was no room.
    pub drop_counts_untracked: u64,
    /// Reports of episodes of queues beyond the limit of followed ones: the history has them, and no sum.
    pub queue_reports_untracked: u64,
    /// Summaries of flows, source nodes and classes beyond the limit of followed ones.
    pub summaries_untracked: u64,
    /// Reports of TCP connections beyond the limit of followed ones: the history has them, and no sums.
    pub connections_untracked: u64,
    /// Nodes that tell what they know about clocks, and those of them whose clock is known against another one's.
    pub clocks_telling: usize,
    pub clocks_known: usize,
    /// Contradictions between the stamps of nodes: a stamp was false, or a crystal drifts more than any should.
    pub clock_contradictions: u64,
    /// The nodes of the last one.
    pub clock_contradicting: Vec<NodeId>,
    /// Reports that were written as lines.
    pub lines: u64,
    /// Reports whose lines could not be written, because the disk was full for instance.
    pub lines_lost: u64,
    /// Reports that the store keeps both singly and in its roll-ups.
    pub stored: u64,
    /// Reports that are only in the store's roll-ups, because there was no time to write them singly.
    pub rolled_up_only: u64,
    /// Reports that the store does not have, because its queue was full or they could not be written.
    pub store_drops: u64,
    /// What reports told of paths and coverage that the store does not have, because more came at once than it adds up,
    /// it had forgotten their flow among many others, or it could not be written.
    pub told_drops: u64,
    /// The deliveries of each engine.
    pub engines: Vec<EngineStatus>,
    /// Hosts and devices that reported, to an earlier run that kept a history too, but for those that were silent for a
    /// day.
    pub hosts_known: usize,
    /// Those of which reports come. One is silent after three of the periods in which it says that it reports, or
    /// after a minute if it says none.
    pub hosts_reporting: usize,
    /// The time of the last report; 0 before the first.
    pub last_report_ns: u64,
    /// Exporters that the collector follows.
    pub exporters_total: usize,
    /// Silent exporters that were forgotten to make room for others.
    pub exporters_forgotten: u64,
    /// Datagrams of exporters beyond the limit of followed ones.
    pub exporters_untracked: u64,
    /// The followed exporters, or if there are many a part of them: those that fell silent first, then those that lost
    /// most reports, then those with most duplicates and restarts.
    pub exporters: Vec<ExporterHealth>,
    /// Packets that the watchlists of hosts ask for, measured and not, since the collector started: for each pair and
    /// class, or for those with most packets that were not measured.
    pub coverage: Vec<CoverageRow>,
    /// How packets in INT-MX fared by pair: all pairs, or those with most reports that lack a hop.
    pub mx_pairs: Vec<MxPairRow>,
    /// The times of segments of paths, for metrics.
    #[serde(skip)]
    pub segments: Vec<SegmentTally>,
    /// The times of packets between interfaces of hosts, for metrics.
    #[serde(skip)]
    pub hops: Vec<(NodeId, InterfacePassage)>,
    /// The sums of pairs and classes, which are metrics only: the page asks the store.
    #[serde(skip)]
    pub traffic: PairTraffic,
    /// Packets that hosts dropped, as they tell them, since the collector started: all reasons, or those with most.
    pub drops: Vec<HostDropRow>,
    /// All of them by node, reason and position, for metrics.
    #[serde(skip)]
    pub drop_sums: Vec<HostDropRow>,
    /// The episodes of hosts' queues, for metrics.
    #[serde(skip)]
    pub queues: Vec<HostQueueRow>,
    /// Events that were posted, and those that were refused.
    #[serde(default)]
    pub events: u64,
    #[serde(skip)]
    pub events_refused: BTreeMap<EventRefusal, u64>,
    /// Verdicts that the webhook took, and those that it did not.
    #[serde(skip)]
    pub webhook_sent: u64,
    #[serde(skip)]
    pub webhook_failed: u64,
    /// The pods of a cluster, if its API server is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pods: Option<PodsStatus>,
    /// The last verdict, and how long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Box<NetworkVerdict>>,
    #[serde(skip)]
    pub verdict_ns: u64,
    /// What is usual for each pair now: the page compares pairs with it.
    #[serde(skip)]
    pub usual: Arc<PairUsuals>,
    /// The TCP connections of hosts by what limits them: all hosts, or the first of them by node.
    pub tcp: Vec<HostTcpRow>,
}

/// The health of one exporter, as its reports show it.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct ExporterHealth {
    pub exporter: IpAddr,
    pub node: Option<NodeId>,
    pub hw_id: u8,
    pub reports: u64,
    pub lost: u64,
    pub duplicates: u64,
    pub restarts: u64,
    /// Datagrams with the number and without the content of the one before them. If there are any, the exporter does not
    /// number, so that its losses and duplicates are unknown.
    pub unnumbered: u64,
    pub last_seen_ns: u64,
    /// Its reports come.
    pub reporting: bool,
    /// It counts as silent if no report comes for this time.
    pub silent_after_ns: u64,
    /// The clock that stamps packets at the exporter, and whether it is synchronised to UTC, if the exporter says so.
    pub clock: Option<&'static str>,
    pub clock_synchronised: Option<bool>,
    /// The name of its node: the one that the collector was told, or else the one that the node reports, or else that
    /// of its address in DNS.
    pub name: Option<String>,
    /// Where the name comes from, if there is one.
    pub name_origin: Option<NameOrigin>,
    /// Another node or another address claims the same name.
    pub name_contested: bool,
    /// The version of hostint that runs there.
    pub version: Option<String>,
    /// What else the node reports, such as rack, zone and role.
    pub labels: BTreeMap<String, String>,
    /// The names of its interfaces, by port.
    pub interfaces: BTreeMap<u16, String>,
    /// What its kernel lacks or refuses of what its daemons ask for.
    pub lacks: Vec<KernelLack>,
}

/// Where the name of a node comes from.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NameOrigin {
    /// The user of the collector, or of this host, gave it.
    Given,
    /// The node tells it.
    Told,
    /// DNS has it for the exporter's address.
    Dns,
}
