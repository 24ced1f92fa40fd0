//! The names of nodes beside their IDs, and how many hosts report.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use crate::model::{HostSeen, HostsReporting, NodeId};

/// The most silent hosts that are named in a line.
const MOST_NAMED: usize = 3;

/// What a history knows of hosts.
#[derive(Clone, Debug, Default)]
pub struct KnownHosts {
    /// The name of each node that has one.
    pub names: BTreeMap<NodeId, String>,
    /// `None` if the answer is not about the present.
    pub reporting: Option<HostsReporting>,
}

/// A name beside the ID that it stands with.
#[derive(Debug, Serialize)]
pub struct NodeName<'a> {
    node: NodeId,
    name: &'a str,
}

impl KnownHosts {
    /// The name of a node is the one that it told last. A `?` marks a name that others claim.
    pub fn new(hosts: &[HostSeen], reporting: Option<HostsReporting>) -> Self {
        let mut last = BTreeMap::<NodeId, &HostSeen>::new();
        for host in hosts {
            let Some(node) = host.node.filter(|_| host.name.is_some()) else {
                continue;
            };
            let known = last.entry(node).or_insert(host);
            if known.last_ns < host.last_ns {
                *known = host;
            }
        }
        let names = last.into_iter().filter_map(|(node, host)| {
            let mark = if host.name_contested { "?" } else { "" };
            Some((node, format!("{}{mark}", host.name.as_ref()?)))
        });
        Self {
            names: names.collect(),
            reporting,
        }
    }

    /// `web-3 (7)`, `7` without a name, `?` for a node that is not known.
    pub fn named(&self, node: Option<NodeId>) -> String {
        let Some(node) = node else {
            return "?".to_owned();
        };
        match self.names.get(&node) {
            Some(name) => format!("{name} ({node})"),
            None => node.to_string(),
        }
    }

    /// Each name beside its ID.
    pub fn list(&self) -> Vec<NodeName<'_>> {
        let names = self.names.iter();
        names
            .map(|(node, name)| NodeName { node: *node, name })
            .collect()
    }

    /// `5 of 6 hosts report; web-3 (7) silent since ...`, or nothing if no host is known.
    pub fn line(&self, moment: impl Fn(u64) -> String) -> String {
        let Some(found) = self.reporting.as_ref().filter(|found| found.known > 0) else {
            return String::new();
        };
        let hosts = if found.known == 1 {
            "host reports"
        } else {
            "hosts report"
        };
        let mut line = format!("{} of {} {hosts}", found.reporting, found.known);
        for host in found.silent.iter().take(MOST_NAMED) {
            let name = match host.node {
                Some(node) if self.names.contains_key(&node) => self.named(host.node),
                Some(node) => format!("node {node}"),
                None => host.address.to_string(),
            };
            let _ = write!(line, "; {name} silent since {} UTC", moment(host.last_ns));
        }
        if found.silent.len() > MOST_NAMED {
            let _ = write!(line, "; {} more silent", found.silent.len() - MOST_NAMED);
        }
        line + "\n"
    }
}
