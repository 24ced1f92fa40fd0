//! The beginning of a packet, as a telemetry report carries it, and what it says.

use super::{FlowKey, IntHeader};

/// What the bytes of a packet begin with.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum FirstHeader {
    #[default]
    Ethernet,
    Ipv4,
    Ipv6,
}

/// A possibly truncated packet.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Packet {
    pub first: FirstHeader,
    /// How many bytes the report carried.
    pub length: usize,
    /// Those bytes; none if the report was read back from JSON lines, which leave them out.
    pub bytes: Vec<u8>,
    /// The outermost flow, with the port that INT took from it.
    pub flow: Option<FlowKey>,
    /// The innermost flow, if the packet is a tunnel's.
    pub inner_flow: Option<FlowKey>,
    /// INT headers, outermost first.
    pub int: Vec<IntHeader>,
}
