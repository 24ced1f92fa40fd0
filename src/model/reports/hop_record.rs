//! A hop as a JSON object in a report's record.

use serde::{Deserialize, Serialize};

use crate::model::{Hop, HopQueue, NodeId, NodePort};

/// A hop; timestamps are the low 32 bits of nanoseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Deserialize, Serialize)]
pub struct HopRecord {
    pub node: NodeId,
    pub ingress_port: u16,
    pub egress_port: u16,
    pub ingress_ts_ns: u32,
    pub egress_ts_ns: u32,
    /// The queue that the packet came to, in the unit of the node: hostint's hops count packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_occupancy: Option<u32>,
    /// The same in bytes, as IOAM has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_bytes: Option<u32>,
}

impl HopRecord {
    /// The ports that the packet came in and went out by.
    pub fn ports(&self) -> [NodePort; 2] {
        let node = self.node;
        [self.ingress_port, self.egress_port].map(|port| NodePort { node, port })
    }
}

impl From<&Hop> for HopRecord {
    fn from(hop: &Hop) -> Self {
        Self {
            node: hop.node,
            ingress_port: hop.ingress_port,
            egress_port: hop.egress_port,
            ingress_ts_ns: hop.ingress_ts,
            egress_ts_ns: hop.egress_ts,
            queue_occupancy: match hop.queue {
                Some(HopQueue::Occupancy(occupancy)) => Some(occupancy),
                Some(HopQueue::Bytes(_)) | None => None,
            },
            queue_bytes: match hop.queue {
                Some(HopQueue::Bytes(bytes)) => Some(bytes),
                Some(HopQueue::Occupancy(_)) | None => None,
            },
        }
    }
}

impl From<&HopRecord> for Hop {
    fn from(hop: &HopRecord) -> Self {
        Self {
            node: hop.node,
            ingress_port: hop.ingress_port,
            egress_port: hop.egress_port,
            ingress_ts: hop.ingress_ts_ns,
            egress_ts: hop.egress_ts_ns,
            queue: (hop.queue_bytes.map(HopQueue::Bytes))
                .or(hop.queue_occupancy.map(HopQueue::Occupancy)),
        }
    }
}
