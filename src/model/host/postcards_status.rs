//! The state of a daemon of postcards: what it watches, its counts, and its own losses.

use serde::{Deserialize, Serialize};

use crate::model::interned_name::{self, InternedName};
use crate::model::{DropTotals, NodeId, PassageTotals, QueueTotals};

/// The postcards of a host, as their daemon reports.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct PostcardsStatus {
    pub daemon_pid: u32,
    /// The id by which collectors know the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_id: Option<NodeId>,
    /// The time at which counts began.
    pub since_ns: u64,
    pub report_period_ns: u64,
    /// Addresses with ports.
    pub collectors: Vec<String>,
    /// Reports to them, and those that could not be sent.
    pub reports_sent: u64,
    pub reports_lost: u64,
    /// Interfaces behind which a pod or container is known by name.
    #[serde(default)]
    pub named_links: usize,
    /// Absent if drops are not watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drops: Option<DropsStatus>,
    /// Absent if hops are not watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hops: Option<HopsStatus>,
    /// Absent if queues are not watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queues: Option<QueuesStatus>,
}

/// The queues that a daemon of postcards watches.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct QueuesStatus {
    /// The names and patterns of interfaces that rules have.
    pub devs: Vec<String>,
    #[serde(flatten)]
    pub totals: QueueTotals,
}

/// The hops that a daemon of postcards watches.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct HopsStatus {
    /// The interfaces by which packets come and leave.
    pub devs: Vec<String>,
    /// The watchlist decides which packets are timed.
    pub by_rules: bool,
    pub flows_total: usize,
    pub flows_max: u32,
    #[serde(flatten)]
    pub totals: PassageTotals,
}

/// The drops that a daemon of postcards watches.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct DropsStatus {
    /// The namespaces whose drops count: `own` or `all`.
    #[serde(deserialize_with = "interned_name::one")]
    pub netns: InternedName,
    /// The kernel gives a reason for each drop.
    pub gives_reasons: bool,
    pub ignored_reasons: Vec<String>,
    pub flows_total: usize,
    pub flows_max: u32,
    #[serde(flatten)]
    pub totals: DropTotals,
}
