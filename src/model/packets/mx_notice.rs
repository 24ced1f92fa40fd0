//! What a transit hop tells of a packet in INT-MX, in which it changes nothing.

use crate::model::FirstHeader;

/// A packet that passed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MxNotice {
    /// Since the Unix epoch; `None` if it is not known.
    pub arrived_ns: Option<u64>,
    pub left_ns: u64,
    /// The low 16 bits of the interfaces' indices.
    pub ingress_port: u16,
    pub egress_port: u16,
    /// Packets in the root queue of the interface; `None` if that is not known.
    pub queue_packets: Option<u32>,
    pub first: FirstHeader,
    /// The packet's IP, L4 and INT headers.
    pub quote: Vec<u8>,
}
