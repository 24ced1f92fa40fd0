//! The report of a host about all packets that it dropped: sums since an epoch, by reason and place.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::model::{DropCount, DropPosition, KernelReason, NodeId};

/// The name of a line about such sums.
pub const DROPS_SCHEMA: &str = "hostint.drops/1";

/// What identifies a sum of a host.
#[derive(Clone, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd, Deserialize, Serialize)]
pub struct DropSubject {
    #[serde(flatten)]
    pub reason: KernelReason,
    /// The kernel's function, or the kernel's counter of drops without a packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
    pub netns: u32,
    pub position: DropPosition,
    /// The node that tagged the packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tagged_by: Option<NodeId>,
    /// Packets dropped for this reason are no loss.
    pub ignored: bool,
    /// Only a counter of the kernel reports these drops: there was no packet, or it was freed as if it had arrived.
    pub without_packet: bool,
}

/// A sum of a host since the epoch.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct DropSum {
    #[serde(flatten)]
    pub subject: DropSubject,
    #[serde(flatten)]
    pub count: DropCount,
}

/// A sum of a node, as a collector knows it: of the time since it started.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct HostDropRow {
    pub node: NodeId,
    #[serde(flatten)]
    pub subject: DropSubject,
    #[serde(flatten)]
    pub count: DropCount,
}

/// One of a host's sums, as a collector tells it to its engines with the packets that were added. No host sends it alone.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HostDropSum {
    /// When it was reported, in whole seconds since the Unix epoch.
    pub time_s: u32,
    pub node: NodeId,
    pub subject: DropSubject,
}

/// A host's sums. A report may have a part of them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DropTotalsReport {
    pub node: NodeId,
    /// The time from one report to the next.
    pub period_s: u16,
    /// Counting began at this time. Other counts have another epoch.
    pub epoch_ns: u64,
    pub sums: Vec<DropSum>,
}

/// Such a report as a line of JSON.
#[derive(Clone, Debug, Serialize)]
pub struct DropTotalsRecord<'a> {
    pub schema: &'static str,
    pub exporter: IpAddr,
    pub received_ns: u64,
    pub reporter_node: NodeId,
    pub period_s: u16,
    pub epoch_ns: u64,
    pub sums: &'a [DropSum],
}

/// True for such a line.
pub fn is_record(line: &[u8]) -> bool {
    line.trim_ascii_start()
        .starts_with(br#"{"schema":"hostint.drops/1""#)
}

impl DropTotalsReport {
    /// The line of a report that came from there.
    pub fn record(&self, exporter: IpAddr, received_ns: u64) -> DropTotalsRecord<'_> {
        DropTotalsRecord {
            schema: DROPS_SCHEMA,
            exporter,
            received_ns,
            reporter_node: self.node,
            period_s: self.period_s,
            epoch_ns: self.epoch_ns,
            sums: &self.sums,
        }
    }
}
