//! A node's metadata about a packet: the items of INT and of telemetry reports.

use serde::{Deserialize, Serialize};

use crate::model::NodeId;

/// One node's metadata about one packet; an item that the node did not report is `None`.
///
/// Units are the device's own unless INT defines one. Timestamps and latencies are taken for nanoseconds; in INT and in
/// reports before v2.0, timestamps are their low 32 bits.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct Metadata {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// Level 1: physical ports, or the low 16 bits of interface indices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ingress_port: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub egress_port: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hop_latency_ns: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_id: Option<u8>,
    /// 24 bits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_occupancy: Option<u32>,
    #[serde(rename = "ingress_ts_ns", skip_serializing_if = "Option::is_none")]
    pub ingress_ts: Option<u64>,
    #[serde(rename = "egress_ts_ns", skip_serializing_if = "Option::is_none")]
    pub egress_ts: Option<u64>,
    /// Level 2: logical interfaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level2_ingress_port: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level2_egress_port: Option<u32>,
    /// INT v0.5 only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion_queue_id: Option<u8>,
    /// INT v0.5 only; 24 bits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_congestion: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tx_utilization: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer_id: Option<u8>,
    /// 24 bits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer_occupancy: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checksum_complement: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drop_reason: Option<u8>,
    /// The queue of the drop, if `queue_id` belongs to an occupancy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drop_queue_id: Option<u8>,
    /// Domain-specific metadata, unchanged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub domain_words: Vec<u32>,
    /// The words of reserved bits, except those that are all ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reserved: Vec<ReservedWord>,
}

/// The word that a reserved bit of an instruction bitmap or of RepMdBits stands for.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq, Deserialize, Serialize)]
pub struct ReservedWord {
    /// The bit's number; 0 is the most significant.
    pub bit: u8,
    pub word: u32,
}
