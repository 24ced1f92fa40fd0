//! Freshness: of which hosts reports come, and which fell silent.

use std::collections::HashMap;
use std::net::IpAddr;

use super::exporter::Exporter;
use crate::model::NodeId;
pub use crate::model::hosts::{GONE_NS, SILENT_NS};

/// Hosts and devices: a node is one, however many addresses it has, and so is an address whose node is not known.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Hosts {
    /// Those that are expected to report.
    pub known: usize,
    pub reporting: usize,
    /// The time of the last report of all; 0 without any.
    pub last_report_ns: u64,
}

impl Hosts {
    pub(super) fn count<'a>(
        exporters: impl Iterator<Item = (IpAddr, &'a Exporter)>,
        now_ns: u64,
    ) -> Self {
        let mut last_report_ns = 0;
        let mut hosts = HashMap::<Result<NodeId, IpAddr>, bool>::new();
        for (address, one) in exporters {
            last_report_ns = one.last_seen_ns.max(last_report_ns);
            if now_ns.saturating_sub(one.last_seen_ns) <= GONE_NS {
                let host = hosts.entry(one.node().ok_or(address)).or_default();
                *host |= one.reports_at(now_ns);
            }
        }
        Self {
            known: hosts.len(),
            reporting: hosts.values().filter(|reporting| **reporting).count(),
            last_report_ns,
        }
    }
}
