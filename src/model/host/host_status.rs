//! The state of a host: attached programs, settings, counters, flows and peers.

use serde::{Deserialize, Serialize};

use std::net::{IpAddr, SocketAddr};

use crate::model::interned_name::{self, InternedName};
use crate::model::{
    ClockStatus, CounterStatus, DaemonCounter, FlowKey, HostName, KernelLack, Lease, NodeId,
    NodeOrigin, PathStatus, PostcardsStatus, Reason, SinkSettings, SummaryBudget, TcpStatus,
    TransitStatus,
};

/// The schema of a `HostStatus` as JSON.
pub const STATUS_SCHEMA: &str = "hostint.status/1";

/// Everything that `hostint status` shows. Times are ns since the Unix epoch.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct HostStatus {
    #[serde(deserialize_with = "interned_name::one")]
    pub schema: InternedName,
    /// The time since when hostint is off on this host; while it is not, this is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub off_since_ns: Option<u64>,
    pub node_id: Option<NodeId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_origin: Option<NodeOrigin>,
    /// The names of nodes, this host's among them, as far as they are known: labels beside IDs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<HostName>,
    pub clock: Option<ClockStatus>,
    /// `None`: no daemon of a source or sink told it.
    #[serde(default)]
    pub budget: Option<BudgetStatus>,
    pub sink: Option<SinkStatus>,
    pub source: Option<SourceStatus>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transit: Option<TransitStatus>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub postcards: Option<PostcardsStatus>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<TcpStatus>,
    /// The parts of the kernel that daemons asked for in vain.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<KernelLack>,
    /// Why packets are not tagged, not stripped or not measured, as far as counters show.
    pub why: Vec<Reason>,
}

impl HostStatus {
    /// A host on which nothing runs.
    pub fn of_nothing() -> Self {
        Self {
            schema: STATUS_SCHEMA,
            off_since_ns: None,
            node_id: None,
            node_origin: None,
            names: Vec::new(),
            clock: None,
            budget: None,
            sink: None,
            source: None,
            transit: None,
            postcards: None,
            tcp: None,
            lacks: Vec::new(),
            why: Vec::new(),
        }
    }
}

/// A program attached to an interface.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Attachment {
    pub dev: String,
    /// `xdp`, `tc` or `tc-ingress`
    #[serde(deserialize_with = "interned_name::one")]
    pub hook: InternedName,
    /// `native` or `generic`; `tcx` or `clsact`
    #[serde(deserialize_with = "interned_name::one")]
    pub mode: InternedName,
    /// For a sink: how the hook suits the interface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// For a source: its encapsulation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encapsulation: Option<String>,
    /// For a source: its handling of superpackets, named as in `--superpackets`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(default, deserialize_with = "interned_name::maybe")]
    pub superpackets: Option<InternedName>,
    /// For a source: transit hops that may push their entries where the sink reads them. Absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_hops: Option<u8>,
    /// For a source: what their entries tell besides node, ports and arrival, named as in `--path-items`. Absent if there are
    /// none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(deserialize_with = "interned_name::list")]
    pub path_items: Vec<InternedName>,
    /// For a sink in native XDP on a veth: whether received packets are merged (GRO) after stripping.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gro: Option<bool>,
    /// For a sink that asks the network card for arrival times: true. Absent for users who may not read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nic_timestamps: Option<bool>,
}

/// The sink of a host.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct SinkStatus {
    pub attachments: Vec<Attachment>,
    /// The daemon's process, if it has shown a sign of life in the last seconds.
    pub daemon_pid: Option<u64>,
    pub settings: SinkSettings,
    /// What the running daemon may spend on summaries; absent if none runs, or one of an older version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summaries: Option<SummaryBudget>,
    pub counters: Vec<CounterStatus>,
    pub daemon: Vec<DaemonCounter>,
    pub flows_total: usize,
    pub flows_max: u32,
    /// Flows with fine latency slots, and the most that can have them.
    #[serde(default)]
    pub flows_fine: usize,
    #[serde(default)]
    pub flows_fine_max: u32,
    pub flows: Vec<FlowStatus>,
    /// The paths over transit hops on which packets came, those with most packets first. None if no flows are asked for.
    #[serde(default)]
    pub paths: Vec<PathStatus>,
    /// Number of source addresses that hold a lease.
    pub leases_granted: usize,
    /// The hosts that hold them, ordered by address.
    #[serde(default)]
    pub grants: Vec<GrantStatus>,
    /// Interfaces by which tagged packets came in while no sink stripped there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub astray: Vec<AstrayStatus>,
    /// Each report goes to one of the collectors, not to all.
    #[serde(default)]
    pub spread: bool,
    /// The collectors of the running daemon.
    #[serde(default)]
    pub collectors: Vec<CollectorStatus>,
}

/// A host that holds a lease of this sink: its packets are stripped in every encapsulation that the sink recognises.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct GrantStatus {
    /// The address that its tagged packets come from.
    pub source: IpAddr,
    pub node: NodeId,
    /// Time until the grant ends unless the host asks again.
    pub left_ns: u64,
    /// Forms of which all probes of the last round arrived.
    #[serde(deserialize_with = "interned_name::list")]
    pub proved: Vec<InternedName>,
    /// The probes of the last round, by form; without forms of which none came, be it with another mark.
    pub probes: Vec<ArrivedProbes>,
    /// Packets stripped since the grant began, by encapsulation; without encapsulations that had none.
    pub stripped: Vec<StrippedPackets>,
    /// Sequence numbers declared lost since the grant began, less those that arrived later.
    pub lost: u64,
}

/// The probes of one form in a round.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ArrivedProbes {
    #[serde(deserialize_with = "interned_name::one")]
    pub form: InternedName,
    pub arrived: u32,
    /// The number of probes in a whole round.
    pub all: u32,
    /// Bits of the ToS byte that the path changed in some of them.
    pub tos_changed: u8,
}

/// The packets of a host that the sink stripped.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct StrippedPackets {
    #[serde(deserialize_with = "interned_name::one")]
    pub encapsulation: InternedName,
    pub packets: u64,
}

/// Tagged packets that came in by an interface without a sink.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct AstrayStatus {
    pub dev: String,
    pub packets: u64,
    /// Such packets came in so recently that the sink grants no leases.
    pub active: bool,
}

/// A collector as a sink's daemon knows it. Counts run since the daemon started, or since the collector was first
/// configured.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct CollectorStatus {
    pub address: SocketAddr,
    /// `answers`, `silent`, or `unprobed`, which means that it is not probed or has never answered.
    #[serde(deserialize_with = "interned_name::one")]
    pub state: InternedName,
    /// The time at which the state began.
    pub since_ns: u64,
    pub sent: u64,
    pub lost: u64,
    /// Reports sent to the collector between its last answer and the end of its run, or its falling silent. They may be
    /// lost.
    pub doubtful: u64,
    /// Fill level of the collector's queue at its last answer, in percent.
    pub queue_percent: Option<u8>,
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
    #[serde(deserialize_with = "interned_name::one")]
    pub encapsulation: InternedName,
    pub packets: u64,
    pub bytes: u64,
    /// Packets declared lost that have not arrived since.
    pub lost: u64,
    /// Packets that are missing, but not yet for the loss timeout.
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
    /// Slot n > 0 counts packets with a latency in [2^(n-1), 2^n) ns, slot 0 those with 0 or less.
    pub histogram: Vec<u32>,
    #[serde(default)]
    pub latency_p50_ns: Option<i64>,
    #[serde(default)]
    pub latency_p90_ns: Option<i64>,
    #[serde(default)]
    pub latency_p99_ns: Option<i64>,
    /// The slots that each power of two has: quantiles are too high by this part of themselves at most.
    #[serde(default)]
    pub latency_steps: Option<u8>,
    /// Packets by the greatest latency of their slot, of which each power of two has 8, or 1 as `latency_steps` says. They wrap
    /// around at 2^32.
    #[serde(default)]
    pub latency_slots: Vec<(i64, u32)>,
}

/// The source of a host.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct SourceStatus {
    pub attachments: Vec<Attachment>,
    /// Number of rules on the watchlist.
    pub rules_total: usize,
    /// The destinations of the rules that name a destination and nothing else.
    pub dests: Vec<DestStatus>,
    pub counters: Vec<CounterStatus>,
    pub flows_total: usize,
    pub flows_max: u32,
    pub peers_total: usize,
    pub peers: Vec<PeerStatus>,
}

/// The CPU time that hostint may take on this host, and what it takes, in millionths of that of all CPUs.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub struct BudgetStatus {
    /// 0: there is no budget.
    pub allowed_ppm: u32,
    /// As the daemon estimates it.
    pub spent_ppm: u32,
    /// One in this many flows of this host is measured.
    pub one_flow_in: u32,
    /// Other hosts are asked to measure one in this many flows to this one.
    pub asks_one_flow_in: u32,
    /// Time of the step of work that costs are counted in, on this machine.
    pub step_ns: u32,
}

/// One watched destination.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct DestStatus {
    pub prefix: String,
    pub name: String,
    /// Packets are tagged whether or not a sink answers.
    #[serde(rename = "static")]
    pub fixed: bool,
}

/// The sink in front of a destination, as this host's source knows it.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct PeerStatus {
    /// Source address of the packets that are, or would be, tagged.
    pub source: IpAddr,
    pub dest: IpAddr,
    /// `granted`: packets are tagged; `idle`: they will be tagged when there is traffic; any other state says why they
    /// are not.
    #[serde(deserialize_with = "interned_name::one")]
    pub state: InternedName,
    /// Time until the lease ends unless it is renewed; 0 if it has ended.
    pub lease_left_ns: u64,
    /// The sink's node ID, if the sink ever answered.
    pub node: Option<NodeId>,
    pub rtt_ns: Option<u32>,
    /// How far the sink's clock is ahead of this host's, as it is estimated; null if that is unknown.
    pub clock_offset_ns: Option<i64>,
    /// Greatest error of `clock_offset_ns`.
    pub clock_error_ns: Option<u64>,
    /// The least and the greatest that the true offset can be.
    #[serde(default)]
    pub clock_bound_ns: Option<[i64; 2]>,
    /// Time since the sink's clock was last compared.
    #[serde(default)]
    pub clock_age_ns: Option<u64>,
    /// The evidence of these figures.
    #[serde(default, deserialize_with = "interned_name::maybe")]
    pub clock_from: Option<InternedName>,
    pub clock_synchronised: Option<bool>,
    pub mtu: Option<u16>,
    pub tai_offset_s: Option<i16>,
    pub version: Option<String>,
    /// Forms that flows may have, by protocol: those that were proved to pass the path, or `unproved`.
    #[serde(default, deserialize_with = "interned_name::list")]
    pub ways: Vec<InternedName>,
    /// Forms whose probes, or packets, do not arrive, or not on every path; `stray packets`: those of connections that
    /// a firewall did not see begin.
    #[serde(default, deserialize_with = "interned_name::list")]
    pub eaten: Vec<InternedName>,
    /// Bits of the ToS byte that the path changes.
    #[serde(default)]
    pub tos_changed: u8,
    /// Time since the path was last proved, if it was.
    #[serde(default)]
    pub proved_ago_ns: Option<u64>,
    /// Length of the longest packets that were proved to pass; absent if no limit is known.
    #[serde(default)]
    pub proved_length: Option<u16>,
    /// A form was given up because flows in it came to nothing; it is proved again later.
    #[serde(default)]
    pub distrusted: bool,
    /// Without a key, the sink tells this host nothing about packets that another host sends through it.
    #[serde(default)]
    pub untold: bool,
    /// The sink reads no entries of the items that a source of this host asks transit hops for, so none may push.
    #[serde(default)]
    pub items_unread: bool,
    /// No daemon runs on the sink's host, and nothing showed yet that what that host answers outside of a tunnel arrives:
    /// nothing is tagged in a tunnel.
    #[serde(default)]
    pub unattended: bool,
    /// What keeps packets out of tunnels.
    #[serde(default, deserialize_with = "interned_name::maybe")]
    pub tunnel_obstacle: Option<InternedName>,
    /// Flows that went untagged because their tagged packets came to nothing.
    #[serde(default)]
    pub fallen: u64,
    #[serde(skip)]
    pub lease: Lease,
}
