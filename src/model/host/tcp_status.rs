//! The state of a daemon that watches TCP connections: its counts, and its own losses.

use serde::{Deserialize, Serialize};

use crate::model::{NodeId, TcpTotals};

/// The TCP connections of a host, as their daemon reports.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct TcpStatus {
    pub daemon_pid: u32,
    /// The id by which collectors know the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_id: Option<NodeId>,
    /// The time at which counts began.
    pub since_ns: u64,
    pub sample_period_ns: u64,
    pub report_period_ns: u64,
    /// Addresses with ports.
    pub collectors: Vec<String>,
    /// Reports to them, and those that could not be sent.
    pub reports_sent: u64,
    pub reports_lost: u64,
    pub connections_max: u32,
    #[serde(flatten)]
    pub totals: TcpTotals,
}
