//! What runs on a host, and what it has counted.

use serde::{Deserialize, Serialize};

use std::net::{IpAddr, SocketAddr};

use super::interned::{self, Name};
use super::{FlowKey, Lease, NodeId, Reason};

/// The schema of a `HostStatus` as JSON.
pub const STATUS_SCHEMA: &str = "hostint.status/1";

/// Everything that `hostint status` shows. Times are ns since the Unix epoch.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct HostStatus {
    #[serde(deserialize_with = "interned::one")]
    pub schema: Name,
    pub node_id: Option<NodeId>,
    pub clock: Option<ClockStatus>,
    pub sink: Option<SinkStatus>,
    pub source: Option<SourceStatus>,
    /// Why packets are not tagged, not stripped or not measured, as far as counters tell.
    pub why: Vec<Reason>,
}

/// The clock that stamps packets.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ClockStatus {
    /// `tai`: the kernel's TAI clock; `realtime`: its monotonic clock plus an offset
    #[serde(deserialize_with = "interned::one")]
    pub source: Name,
    /// Added to that clock's reading to get the time since the Unix epoch.
    pub offset_ns: i64,
    /// The kernel believes that something keeps it to UTC.
    pub synchronised: bool,
}

/// Where a program is attached.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Attachment {
    pub dev: String,
    /// `xdp`, `tc` or `tc-ingress`
    #[serde(deserialize_with = "interned::one")]
    pub hook: Name,
    /// `native` or `generic`; `tcx` or `clsact`
    #[serde(deserialize_with = "interned::one")]
    pub mode: Name,
    /// Of a source: how INT is carried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encapsulation: Option<String>,
    /// Of a source: what becomes of superpackets, as `--superpackets` names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(default, deserialize_with = "interned::maybe")]
    pub superpackets: Option<Name>,
    /// Of a sink in native XDP on a veth: whether received packets are merged after the strip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gro: Option<bool>,
    /// Of a sink that asks the network card when packets came: true, to who may know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nic_timestamps: Option<bool>,
}

/// One counter of the kernel programs.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct CounterStatus {
    #[serde(deserialize_with = "interned::one")]
    pub name: Name,
    #[serde(deserialize_with = "interned::one")]
    pub text: Name,
    pub packets: u64,
    pub bytes: u64,
}

/// One counter of the daemon.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct DaemonCounter {
    #[serde(deserialize_with = "interned::one")]
    pub name: Name,
    #[serde(deserialize_with = "interned::one")]
    pub text: Name,
    pub value: u64,
}

/// The sink of a host.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct SinkStatus {
    pub attachments: Vec<Attachment>,
    /// The daemon's process, if it gave a sign of life in the last seconds.
    pub daemon_pid: Option<u64>,
    pub settings: SinkSettings,
    pub counters: Vec<CounterStatus>,
    pub daemon: Vec<DaemonCounter>,
    pub flows_total: usize,
    pub flows_max: u32,
    pub flows: Vec<FlowStatus>,
    /// Source addresses that hold a lease.
    pub leases_granted: usize,
    /// Each report goes to one of the collectors, not to all.
    #[serde(default)]
    pub spread: bool,
    /// Those of a daemon that runs.
    #[serde(default)]
    pub collectors: Vec<CollectorStatus>,
}

/// A collector, as a sink's daemon knows it. Counts are since the daemon began, or named it first.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct CollectorStatus {
    pub address: SocketAddr,
    /// `answers`, `silent` or `unprobed`: it is not probed, or never answered.
    #[serde(deserialize_with = "interned::one")]
    pub state: Name,
    /// When it came to that.
    pub since_ns: u64,
    pub sent: u64,
    pub lost: u64,
    /// Reports that were sent to it between its last answer and the end of that run, or its silence.
    pub doubtful: u64,
    /// How full its queue was when it answered last, in percent.
    pub queue_percent: Option<u8>,
}

/// The sink's settings.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct SinkSettings {
    #[serde(deserialize_with = "interned::list")]
    pub encapsulations: Vec<Name>,
    pub dscp_value: u8,
    pub dscp_mask: u8,
    pub extension_port: u16,
    pub report_period_ns: u64,
    pub loss_timeout_ns: u64,
    pub bucket_hold_ns: u64,
    pub drop_tagged: bool,
    /// Where a flow leaves a bucket upwards and downwards.
    pub buckets: Vec<BucketEdge>,
    pub report_ports: Vec<u16>,
    /// Which clock stamps packets.
    pub clock_offset_ns: i64,
    /// Prefixes whose packets are stripped without a lease.
    pub allow: Vec<String>,
    /// What others tag is dropped.
    pub strict: bool,
    /// Lease messages are authenticated.
    pub lease_key: bool,
    /// About to be detached: no leases are granted.
    pub closing: bool,
}

/// One edge between two latency buckets.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct BucketEdge {
    pub up_ns: i32,
    pub down_ns: i32,
}

/// What the flows of a status are sorted by, largest first.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FlowSort {
    /// Lost packets.
    Loss,
    /// Mean latency.
    Latency,
    /// Packets.
    Packets,
}

impl FlowSort {
    const ALL: [Self; 3] = [Self::Loss, Self::Latency, Self::Packets];

    pub fn name(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::Latency => "latency",
            Self::Packets => "packets",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|sort| sort.name() == name)
    }
}

/// One flow at the sink.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct FlowStatus {
    pub flow: FlowKey,
    pub source_node: NodeId,
    pub source_port: u16,
    pub sink_port: u32,
    #[serde(deserialize_with = "interned::one")]
    pub encapsulation: Name,
    pub packets: u64,
    pub bytes: u64,
    /// Lost for good: declared lost and not come since.
    pub lost: u64,
    /// Missing, but not for long enough to be called lost.
    pub missing: u64,
    pub reordered: u64,
    pub duplicates: u64,
    pub late: u64,
    pub restarts: u32,
    pub latency_min_ns: i32,
    pub latency_mean_ns: i64,
    pub latency_max_ns: i32,
    pub latency_last_ns: i32,
    pub bucket: u8,
    pub first_ns: u64,
    pub last_ns: u64,
    /// Slot n > 0: packets with a latency in [2^(n-1), 2^n) ns; slot 0: 0 or less.
    pub histogram: Vec<u32>,
}

/// The source of a host.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct SourceStatus {
    pub attachments: Vec<Attachment>,
    /// Of the watchlist.
    pub rules_total: usize,
    /// Those of the rules that are about a destination and nothing else.
    pub dests: Vec<DestStatus>,
    pub counters: Vec<CounterStatus>,
    pub flows_total: usize,
    pub flows_max: u32,
    pub peers_total: usize,
    pub peers: Vec<PeerStatus>,
}

/// One watched destination.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct DestStatus {
    pub prefix: String,
    pub name: String,
    /// Tagged whether a sink answers or not.
    #[serde(rename = "static")]
    pub fixed: bool,
}

/// The sink before a destination, as this host's source knows it.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct PeerStatus {
    /// Of the packets that are, or would be, tagged.
    pub source: IpAddr,
    pub dest: IpAddr,
    /// `granted`: packets are tagged; `idle`: they will be, as soon as there are some; else why they are not.
    #[serde(deserialize_with = "interned::one")]
    pub state: Name,
    /// Until the lease ends, unless it is renewed; 0: it ended.
    pub lease_left_ns: u64,
    /// The sink's, if it ever answered.
    pub node: Option<NodeId>,
    pub rtt_ns: Option<u32>,
    /// By how much the sink's clock is ahead of this host's,
    pub clock_offset_ns: Option<i64>,
    /// give or take.
    pub clock_error_ns: Option<u64>,
    pub clock_synchronised: Option<bool>,
    pub mtu: Option<u16>,
    pub tai_offset_s: Option<i16>,
    pub version: Option<String>,
    #[serde(skip)]
    pub lease: Lease,
}
