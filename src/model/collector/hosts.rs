//! The hosts that a collector knows, and of which of them reports come.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::Serialize;

use crate::model::NodeId;

/// One that does not say how often it reports is silent after this time.
pub const SILENT_NS: u64 = 60_000_000_000;

/// A host that was silent for this time is not expected to report any more.
pub const GONE_NS: u64 = 86_400_000_000_000;

/// A node at an address, as a collector saw it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HostSeen {
    pub node: Option<NodeId>,
    pub address: IpAddr,
    pub name: Option<String>,
    /// Another node or another address claims the same name.
    pub name_contested: bool,
    /// The names of its interfaces, by port.
    pub interfaces: BTreeMap<u16, String>,
    /// The time of its last report.
    pub last_ns: u64,
    /// It counts as silent if no report comes for this time.
    pub silent_after_ns: u64,
}

/// A host of which no reports come.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct SilentHost {
    pub node: Option<NodeId>,
    /// The address from which its reports came.
    pub address: IpAddr,
    pub name: Option<String>,
    pub last_ns: u64,
}

/// How many hosts report, and which do not.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct HostsReporting {
    pub known: usize,
    pub reporting: usize,
    /// Those that fell silent last come first.
    pub silent: Vec<SilentHost>,
    /// The time when they were judged.
    #[serde(skip)]
    now_ns: u64,
    /// After how long each node counts as silent.
    #[serde(skip)]
    silent_after_ns: BTreeMap<NodeId, u64>,
}

impl HostsReporting {
    /// Judges hosts at a time; `lag_ns` is the time that the collector takes to keep what it saw.
    pub fn at(hosts: &[HostSeen], now_ns: u64, lag_ns: u64) -> Self {
        let mut last = BTreeMap::<Result<NodeId, IpAddr>, &HostSeen>::new();
        for host in hosts {
            let known = last.entry(host.node.ok_or(host.address)).or_insert(host);
            if known.last_ns < host.last_ns {
                *known = host;
            }
        }
        last.retain(|_, host| now_ns.saturating_sub(host.last_ns) <= GONE_NS);
        let silent = |host: &&&HostSeen| {
            now_ns.saturating_sub(host.last_ns) > host.silent_after_ns.saturating_add(lag_ns)
        };
        let mut found: Vec<SilentHost> = last
            .values()
            .filter(silent)
            .map(|host| SilentHost {
                node: host.node,
                address: host.address,
                name: host.name.clone(),
                last_ns: host.last_ns,
            })
            .collect();
        found.sort_by_key(|host| std::cmp::Reverse(host.last_ns));
        let nodes = last.iter();
        let nodes = nodes.filter_map(|(one, host)| Some((one.ok()?, host.silent_after_ns)));
        Self {
            known: last.len(),
            reporting: last.len() - found.len(),
            silent: found,
            now_ns,
            silent_after_ns: nodes.collect(),
        }
    }

    /// True if a sink reported nothing newer of something for the time after which the sink itself counts as silent.
    pub fn is_old(&self, sink: Option<NodeId>, last_ns: u64) -> bool {
        let reported = sink.and_then(|sink| self.silent_after_ns.get(&sink));
        let after_ns = reported.copied().unwrap_or(SILENT_NS);
        self.now_ns.saturating_sub(last_ns) > after_ns
    }
}
