//! The names of nodes beside their IDs, and how many hosts report.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use super::shortened::shortened;
use crate::model::{
    HostSeen, HostStatus, HostsReporting, NodeId, NodePort, PortNames, RecordPort, port_names,
};

/// The most silent hosts that are named in a line.
const MOST_NAMED: usize = 3;

/// The greatest width of a node's name and ID in the lists of a status, unless the ID is longer.
pub const NODE_WIDTH: usize = 28;

/// A name of at most this length: without its domain if it is longer, and then without its middle.
pub fn short_name(name: &str, width: usize) -> String {
    if name.chars().count() <= width {
        return name.to_owned();
    }
    let host = name.split('.').next().unwrap_or_default();
    // The first part of an address is no name.
    if !host.contains(char::is_alphabetic) {
        return shortened(name, width, "…");
    }
    let is_contested = name.ends_with('?') && host != name;
    let mark = if is_contested { "?" } else { "" };
    shortened(&format!("{host}{mark}"), width, "…")
}

/// What a history knows of hosts.
#[derive(Clone, Debug, Default)]
pub struct KnownHosts {
    /// The name of each node that has one.
    pub names: BTreeMap<NodeId, String>,
    /// The name of each interface that has one.
    pub interfaces: PortNames,
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
    /// The name of a node is the one that it reported last. A `?` marks a name that others claim.
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
            interfaces: port_names(
                hosts
                    .iter()
                    .filter_map(|host| Some((host.node?, &host.interfaces))),
            ),
            reporting,
        }
    }

    /// What a host knows of those that it exchanges leases with.
    pub fn of_status(status: &HostStatus) -> Self {
        let names = status.names.iter().map(|one| {
            let mark = if one.contested { "?" } else { "" };
            (one.node, format!("{}{mark}", one.name))
        });
        Self {
            names: names.collect(),
            ..Self::default()
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

    /// `web-3 (7) eth0`, or `web-3 (7) port 2` if the interface has no name.
    pub fn port(&self, at: NodePort) -> String {
        let node = self.named(Some(at.node));
        match self.interfaces.get(&at) {
            Some(name) => format!("{node} {name}"),
            None => format!("{node} port {}", at.port),
        }
    }

    /// Both ports of a hop: `leaf (9) eth0 -> eth1`, or `leaf (9) port 2 -> 3` without names.
    pub fn ports(&self, from: NodePort, to: NodePort) -> String {
        let has_names = self.interfaces.contains_key(&from);
        let to = match self.interfaces.get(&to) {
            Some(name) => name.clone(),
            None if has_names => format!("port {}", to.port),
            None => to.port.to_string(),
        };
        format!("{} -> {to}", self.port(from))
    }

    pub fn name(&self, node: NodeId) -> Option<&str> {
        self.names.get(&node).map(String::as_str)
    }

    /// The same as [`Self::named`], with a shorter name if it is longer than `width`. The ID is whole.
    pub fn named_within(&self, node: NodeId, width: usize) -> String {
        let whole = self.named(Some(node));
        match self.name(node) {
            Some(name) if whole.chars().count() > width => {
                let others = whole.chars().count() - name.chars().count();
                let room = width.saturating_sub(others);
                format!("{} ({node})", short_name(name, room))
            }
            _ => whole,
        }
    }

    /// The same with names that are no longer than suits a terminal of this width. IDs stay whole.
    pub fn cut_to(mut self, columns: usize) -> Self {
        let longest = (columns / 8).clamp(10, 24);
        for name in self.names.values_mut() {
            *name = short_name(name, longest);
        }
        // "eth0.100" is no host in a domain.
        for name in self.interfaces.values_mut() {
            *name = shortened(name, longest, "…");
        }
        self
    }

    /// The time of a row's last report, if that is old though the answer is about the present.
    pub fn old_since(&self, sink: Option<NodeId>, last_ns: Option<u64>) -> Option<u64> {
        let reporting = self.reporting.as_ref()?;
        last_ns.filter(|last_ns| reporting.is_old(sink, *last_ns))
    }

    /// Each name beside its ID.
    pub fn list(&self) -> Vec<NodeName<'_>> {
        let names = self.names.iter();
        names
            .map(|(node, name)| NodeName { node: *node, name })
            .collect()
    }

    /// Each interface that has a name.
    pub fn interface_list(&self) -> Vec<RecordPort> {
        let all = self.interfaces.iter();
        all.map(|(at, name)| RecordPort {
            at: *at,
            name: name.clone(),
        })
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
