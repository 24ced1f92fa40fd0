//! A collector's counts as metrics.

use std::collections::BTreeMap;

use super::page::{CountedField, MetricKind, MetricsPage, OTHER, Rising};
use super::{
    build_info, coverage, engines, host_drops, host_passages, host_queues, host_tcp,
    interface_info, mx_pairs, node_info, pairs, pods, seconds, segments, verdict,
};
use crate::model::metrics::MetricFamily;
use crate::model::{CollectStatus, ExporterHealth, MOST_NODES};

const COUNTED: [CountedField<CollectStatus>; 32] = [
    ("datagrams", "datagrams taken from sockets", |s| s.datagrams),
    ("bytes", "bytes of those datagrams", |s| s.bytes),
    (
        "socket_drops",
        "datagrams that the kernel dropped because the socket buffer was full",
        |s| s.socket_drops,
    ),
    ("receive_errors", "receive calls that failed", |s| {
        s.receive_errors
    }),
    (
        "probes",
        "probes: datagrams with which sinks ask whether the collector is there",
        |s| s.probes,
    ),
    (
        "probes_unanswered",
        "probes whose answer could not be sent",
        |s| s.probes_unanswered,
    ),
    (
        "queue_drops",
        "datagrams dropped because the queue to the decoder was full",
        |s| s.queue_drops,
    ),
    (
        "undecodable",
        "datagrams that held no readable report",
        |s| s.undecodable,
    ),
    ("reports", "individual reports", |s| s.reports),
    (
        "reports_refused",
        "individual reports of a group that could not be read",
        |s| s.reports_refused,
    ),
    (
        "reports_with_quirk",
        "reports that depart from the standard, and could be read in one way only",
        |s| s.reports_with_quirk,
    ),
    (
        "int_unread",
        "reports whose packet seems to have INT that could not be read",
        |s| s.int_unread,
    ),
    (
        "reports_lost",
        "numbers missing from exporters' sequences: reports lost on the way, or dropped here",
        |s| s.reports_lost,
    ),
    (
        "reports_duplicate",
        "reports that had been received before",
        |s| s.reports_duplicate,
    ),
    (
        "reports_unnumbered",
        "reports of exporters that do not number them: the number of the one before, and another content",
        |s| s.reports_unnumbered,
    ),
    (
        "summaries_incomplete",
        "summaries that lost a part on the way; the next one of their subject has their packets",
        |s| s.summaries_incomplete,
    ),
    (
        "summaries_repeated",
        "summaries of what fell silent, which only repeat the ones before, in case those were lost",
        |s| s.summaries_repeated,
    ),
    (
        "summaries_untracked",
        "summaries of flows, source nodes and classes beyond the limit of followed ones",
        |s| s.summaries_untracked,
    ),
    (
        "mx_joined",
        "reports about packets in INT-MX that were joined with what all transit hops of the flow reported",
        |s| s.mx_joined,
    ),
    (
        "mx_incomplete",
        "reports about packets in INT-MX of which a transit hop of the flow reported nothing",
        |s| s.mx_incomplete,
    ),
    (
        "mx_without_sink",
        "packets in INT-MX that transit hops reported, and no sink",
        |s| s.mx_without_sink,
    ),
    (
        "drop_counts_untracked",
        "counts of dropped packets beyond the limit of followed ones, which are in no sum",
        |s| s.drop_counts_untracked,
    ),
    (
        "queue_reports_untracked",
        "reports of episodes of queues beyond the limit of followed ones, which the history has and no sum",
        |s| s.queue_reports_untracked,
    ),
    (
        "connections_untracked",
        "reports of TCP connections beyond the limit of followed ones, which the history has and no sum",
        |s| s.connections_untracked,
    ),
    (
        "clock_contradictions",
        "contradictions between the clocks of nodes: a stamp was false, or a crystal drifts more than any should",
        |s| s.clock_contradictions,
    ),
    ("lines", "lines written", |s| s.lines),
    ("lines_lost", "lines that could not be written", |s| {
        s.lines_lost
    }),
    ("stored", "reports in the store", |s| s.stored),
    (
        "rolled_up_only",
        "reports that are only in the store's figures, because there was no time to write them singly",
        |s| s.rolled_up_only,
    ),
    (
        "store_drops",
        "reports that the store does not have, because its queue was full or they could not be written",
        |s| s.store_drops,
    ),
    (
        "told_drops",
        "what reports had of paths and coverage that the store does not have, because more came at once than it adds up or it could not be written",
        |s| s.told_drops,
    ),
    (
        "exporters_untracked",
        "datagrams of exporters beyond the limit of followed ones",
        |s| s.exporters_untracked,
    ),
];

/// The exporters of one node.
#[derive(Default)]
struct Node {
    exporters: u64,
    reports: u64,
    lost: u64,
    duplicates: u64,
    restarts: u64,
    last_seen_ns: u64,
    synchronised: Option<bool>,
}

impl Node {
    fn add(&mut self, exporter: &ExporterHealth) {
        self.exporters += 1;
        self.reports += exporter.reports;
        self.lost += exporter.lost;
        self.duplicates += exporter.duplicates;
        self.restarts += exporter.restarts;
        self.last_seen_ns = self.last_seen_ns.max(exporter.last_seen_ns);
        if let Some(one) = exporter.clock_synchronised {
            self.synchronised = Some(one && self.synchronised.unwrap_or(true));
        }
    }
}

/// Exporters by node. Those that do not name their node share a sum, and those beyond the limit share another.
fn by_node(exporters: &[ExporterHealth]) -> BTreeMap<String, Node> {
    let mut nodes = BTreeMap::<String, Node>::new();
    for exporter in exporters {
        let mut label = exporter
            .node
            .map_or_else(|| "unknown".to_owned(), |node| node.to_string());
        if nodes.len() >= MOST_NODES && !nodes.contains_key(&label) {
            OTHER.clone_into(&mut label);
        }
        nodes.entry(label).or_default().add(exporter);
    }
    nodes
}

/// The metrics. `rising` must be the same from call to call.
pub fn families(status: &CollectStatus, rising: &mut Rising) -> Vec<MetricFamily> {
    let mut page = MetricsPage::default();
    build_info(&mut page);
    let name = "hostint_collect_start_time_seconds";
    page.family(
        name,
        MetricKind::Gauge,
        "start of the collector, seconds since the Unix epoch",
    )
    .value(&[], seconds(status.started_ns));
    for (name, help, of) in COUNTED {
        let value = rising.at_least(name, "", of(status));
        let name = format!("hostint_collect_{name}_total");
        page.family(&name, MetricKind::Counter, help)
            .value(&[], value);
    }
    engines::write(&mut page, &status.engines, rising);
    let name = "hostint_collect_exporters";
    let help = "followed sequences of reports, one for each address, node and subsystem";
    page.family(name, MetricKind::Gauge, help)
        .value(&[], status.exporters_total);
    let name = "hostint_collect_hosts";
    let help = "hosts and devices that reported since the start and within a day, by whether reports still come";
    let silent = status.hosts_known.saturating_sub(status.hosts_reporting);
    let mut family = page.family(name, MetricKind::Gauge, help);
    family.value(&[("state", "reporting")], status.hosts_reporting);
    family.value(&[("state", "silent")], silent);
    let name = "hostint_collect_clocks";
    let help = "nodes that report what they know about clocks, by whether their clock is known against another one's";
    let unknown = status.clocks_telling.saturating_sub(status.clocks_known);
    let mut family = page.family(name, MetricKind::Gauge, help);
    family.value(&[("state", "known")], status.clocks_known);
    family.value(&[("state", "unknown")], unknown);
    let nodes = by_node(&status.exporters);
    exporters(&mut page, &nodes, rising);
    node_info::write(&mut page, &status.exporters);
    coverage::write(&mut page, &status.coverage);
    segments::write(&mut page, &status.segments);
    interface_info::write(&mut page, &status.exporters, &status.segments);
    mx_pairs::write(&mut page, &status.mx_pairs);
    pairs::write(&mut page, &status.traffic);
    host_drops::write(&mut page, &status.drop_sums);
    host_passages::write(&mut page, &status.hops);
    host_queues::write(&mut page, &status.queues);
    host_tcp::write(&mut page, &status.tcp);
    pods::write(&mut page, status.pods.as_ref());
    verdict::write(&mut page, status);
    page.0
}

fn exporters(page: &mut MetricsPage, nodes: &BTreeMap<String, Node>, rising: &mut Rising) {
    let counted: [CountedField<Node>; 4] = [
        (
            "hostint_exporter_reports_total",
            "individual reports, by reporting node",
            |node| node.reports,
        ),
        (
            "hostint_exporter_reports_lost_total",
            "numbers missing from its sequences",
            |node| node.lost,
        ),
        (
            "hostint_exporter_reports_duplicate_total",
            "reports that had been received before",
            |node| node.duplicates,
        ),
        (
            "hostint_exporter_restarts_total",
            "sequences that began anew",
            |node| node.restarts,
        ),
    ];
    for (name, help, of) in counted {
        let mut family = page.family(name, MetricKind::Counter, help);
        for (label, node) in nodes {
            let value = rising.at_least(name, label, of(node));
            family.value(&[("node", label)], value);
        }
    }
    let name = "hostint_exporter_last_seen_time_seconds";
    let help = "time of the last report, seconds since the Unix epoch";
    let mut family = page.family(name, MetricKind::Gauge, help);
    for (label, node) in nodes.iter().filter(|(_, node)| node.last_seen_ns > 0) {
        family.value(&[("node", label)], seconds(node.last_seen_ns));
    }
    let name = "hostint_exporter_clock_synchronised";
    let help = "1 if the exporter says that its clock is synchronised to UTC";
    let mut family = page.family(name, MetricKind::Gauge, help);
    for (label, node) in nodes {
        if let Some(synchronised) = node.synchronised {
            family.value(&[("node", label)], u8::from(synchronised));
        }
    }
}
