//! The beginning of a packet, as a telemetry report carries it, and its parsed content.

use crate::model::{FlowKey, IntHeader};

/// The first header in a packet's bytes.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum FirstHeader {
    #[default]
    Ethernet,
    Ipv4,
    Ipv6,
}

/// A possibly truncated packet.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Packet {
    pub first: FirstHeader,
    /// Number of bytes in the report.
    pub length: usize,
    /// Those bytes; empty if the report was read back from JSON lines, which leave them out.
    pub bytes: Vec<u8>,
    /// The outermost flow, with the port that INT replaced.
    pub flow: Option<FlowKey>,
    /// The innermost flow, if the packet belongs to a tunnel.
    pub inner_flow: Option<FlowKey>,
    /// INT headers, outermost first.
    pub int: Vec<IntHeader>,
}
