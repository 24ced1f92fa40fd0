//! The settings of a sink as `hostint status` shows them.

use serde::{Deserialize, Serialize};

use crate::model::interned_name::{self, InternedName};

/// The sink's settings.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct SinkSettings {
    #[serde(deserialize_with = "interned_name::list")]
    pub encapsulations: Vec<InternedName>,
    pub dscp_value: u8,
    pub dscp_mask: u8,
    pub extension_port: u16,
    /// The mark of int-md packets; `None`: they are not recognised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub int_dscp_value: Option<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub int_dscp_mask: Option<u8>,
    pub report_period_ns: u64,
    pub loss_timeout_ns: u64,
    pub bucket_hold_ns: u64,
    pub drop_tagged: bool,
    /// The edges at which a flow changes to a higher and to a lower bucket.
    pub buckets: Vec<BucketEdge>,
    pub report_ports: Vec<u16>,
    /// The offset of the clock that stamps packets.
    pub clock_offset_ns: i64,
    /// Prefixes from which packets are stripped without a lease.
    pub allow: Vec<String>,
    /// Packets tagged by hosts without a lease are dropped.
    pub strict: bool,
    /// Lease messages are authenticated.
    pub lease_key: bool,
    /// The sink is about to be detached: it grants no leases.
    pub closing: bool,
}

/// One edge between two latency buckets.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct BucketEdge {
    pub up_ns: i32,
    pub down_ns: i32,
}
