//! What each view of the page needs of a collector's status: of 1,000 hosts the whole status is a megabyte.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use serde::Serialize;

use crate::model::{CollectStatus, ExporterHealth, NetworkVerdict, NodeId};

/// Counts of all, and what all views show of hosts.
#[derive(Serialize)]
pub(super) struct ShortStatus<'a> {
    schema: &'static str,
    reports: u64,
    socket_drops: u64,
    queue_drops: u64,
    store_drops: u64,
    hosts_known: usize,
    hosts_reporting: usize,
    last_report_ns: u64,
    exporters: ExporterColumns<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'a NetworkVerdict>,
}

/// The exporters by column, which is shorter than one by one.
#[derive(Serialize)]
struct ExporterColumns<'a> {
    node: Vec<Option<NodeId>>,
    /// Where the node is not known.
    exporter: Vec<Option<IpAddr>>,
    name: Vec<Option<&'a str>>,
    name_contested: Vec<bool>,
    interfaces: Vec<&'a BTreeMap<u16, String>>,
    reporting: Vec<bool>,
    silent_after_ns: Vec<u64>,
    /// Of those that are silent.
    last_seen_ns: Vec<Option<u64>>,
    /// Of those that lost any.
    reports: Vec<u64>,
    lost: Vec<u64>,
    /// The values of labels by key.
    labels: BTreeMap<&'a str, Vec<Option<&'a str>>>,
}

impl<'a> ExporterColumns<'a> {
    fn of(all: &'a [ExporterHealth]) -> Self {
        fn column<'a, T>(
            all: &'a [ExporterHealth],
            of: impl Fn(&'a ExporterHealth) -> T,
        ) -> Vec<T> {
            all.iter().map(of).collect()
        }
        let keys: BTreeSet<&str> = all
            .iter()
            .flat_map(|one| one.labels.keys().map(String::as_str))
            .collect();
        let value = |key: &str, one: &'a ExporterHealth| one.labels.get(key).map(String::as_str);
        Self {
            node: column(all, |one| one.node),
            exporter: column(all, |one| one.node.is_none().then_some(one.exporter)),
            name: column(all, |one| one.name.as_deref()),
            name_contested: column(all, |one| one.name_contested),
            interfaces: column(all, |one| &one.interfaces),
            reporting: column(all, |one| one.reporting),
            silent_after_ns: column(all, |one| one.silent_after_ns),
            last_seen_ns: column(all, |one| (!one.reporting).then_some(one.last_seen_ns)),
            reports: column(all, |one| if one.lost > 0 { one.reports } else { 0 }),
            lost: column(all, |one| one.lost),
            labels: keys
                .into_iter()
                .map(|key| (key, column(all, |one| value(key, one))))
                .collect(),
        }
    }
}

impl<'a> From<&'a CollectStatus> for ShortStatus<'a> {
    fn from(status: &'a CollectStatus) -> Self {
        Self {
            schema: status.schema,
            reports: status.reports,
            socket_drops: status.socket_drops,
            queue_drops: status.queue_drops,
            store_drops: status.store_drops,
            hosts_known: status.hosts_known,
            hosts_reporting: status.hosts_reporting,
            last_report_ns: status.last_report_ns,
            exporters: ExporterColumns::of(&status.exporters),
            verdict: status.verdict.as_deref(),
        }
    }
}
