//! The values that name a flow.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use serde::Serialize;

/// A flow by its addresses, ports and IP protocol number; ports are 0 where the protocol has none.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub struct FlowKey {
    pub src: IpAddr,
    pub dst: IpAddr,
    pub sport: u16,
    pub dport: u16,
    pub protocol: u8,
}

impl fmt::Display for FlowKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.protocol {
            1 => "icmp",
            6 => "tcp",
            17 => "udp",
            58 => "icmpv6",
            132 => "sctp",
            other => return write!(f, "protocol-{other} {} > {}", self.src, self.dst),
        };
        match self.protocol {
            1 | 58 => write!(f, "{name} {} > {}", self.src, self.dst),
            _ => write!(
                f,
                "{name} {} > {}",
                SocketAddr::new(self.src, self.sport),
                SocketAddr::new(self.dst, self.dport)
            ),
        }
    }
}

/// The transport protocols that carry INT between hosts.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Transport {
    Tcp,
    Udp,
}

impl Transport {
    /// The IP protocol number.
    pub fn protocol(self) -> u8 {
        match self {
            Self::Tcp => 6,
            Self::Udp => 17,
        }
    }

    pub fn from_protocol(protocol: u8) -> Option<Self> {
        match protocol {
            6 => Some(Self::Tcp),
            17 => Some(Self::Udp),
            _ => None,
        }
    }

    /// Bytes of the transport header that a report quotes: all 8 of UDP, the first 20 of TCP.
    pub fn quoted_bytes(self) -> usize {
        match self {
            Self::Tcp => 20,
            Self::Udp => 8,
        }
    }
}

/// A TCP or UDP flow over IPv4: what a drop-summary report can name.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Ipv4Flow {
    pub src: Ipv4Addr,
    pub dst: Ipv4Addr,
    pub sport: u16,
    pub dport: u16,
    pub transport: Transport,
}

impl From<Ipv4Flow> for FlowKey {
    fn from(flow: Ipv4Flow) -> Self {
        Self {
            src: flow.src.into(),
            dst: flow.dst.into(),
            sport: flow.sport,
            dport: flow.dport,
            protocol: flow.transport.protocol(),
        }
    }
}

/// Why a flow key is not an [`Ipv4Flow`].
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("flow {0} is not TCP or UDP over IPv4")]
pub struct NotIpv4Transport(pub FlowKey);

impl TryFrom<FlowKey> for Ipv4Flow {
    type Error = NotIpv4Transport;

    fn try_from(key: FlowKey) -> Result<Self, Self::Error> {
        let transport = Transport::from_protocol(key.protocol);
        match (key.src, key.dst, transport) {
            (IpAddr::V4(src), IpAddr::V4(dst), Some(transport)) => Ok(Self {
                src,
                dst,
                sport: key.sport,
                dport: key.dport,
                transport,
            }),
            _ => Err(NotIpv4Transport(key)),
        }
    }
}
