//! The values that name a flow.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize};

/// The ids of the VLAN tags around a packet, 12 bits each; 0 means no tag. A single tag is the inner one.
#[derive(
    Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd, Deserialize, Serialize,
)]
#[serde(default)]
pub struct Vlans {
    #[serde(rename = "outer_vlan", skip_serializing_if = "is_no_tag")]
    pub outer: u16,
    #[serde(rename = "vlan", skip_serializing_if = "is_no_tag")]
    pub inner: u16,
}

impl Vlans {
    pub const NONE: Self = Self { outer: 0, inner: 0 };
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde calls it so
fn is_no_tag(id: &u16) -> bool {
    *id == 0
}

/// A flow named by its addresses, ports, IP protocol number and VLANs; ports are 0 if the protocol has none.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Deserialize, Serialize)]
pub struct FlowKey {
    pub src: IpAddr,
    pub dst: IpAddr,
    pub sport: u16,
    pub dport: u16,
    pub protocol: u8,
    #[serde(flatten)]
    pub vlans: Vlans,
}

impl Hash for FlowKey {
    /// Passes few words, as each of them takes a while.
    fn hash<H: Hasher>(&self, to: &mut H) {
        match (self.src, self.dst) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => {
                to.write_u64(u64::from(src.to_bits()) << 32 | u64::from(dst.to_bits()));
            }
            (src, dst) => {
                src.hash(to);
                dst.hash(to);
            }
        }
        let numbers = [self.sport, self.dport, self.vlans.outer, self.vlans.inner];
        let numbers = numbers
            .iter()
            .fold(0, |word, number| word << 16 | u64::from(*number));
        to.write_u64(numbers);
        to.write_u8(self.protocol);
    }
}

impl FlowKey {
    /// The flow of the answers.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self {
            src: self.dst,
            dst: self.src,
            sport: self.dport,
            dport: self.sport,
            ..*self
        }
    }

    /// The same flow outside of any VLAN, as the sending host's TCP knows it.
    #[must_use]
    pub fn without_vlans(&self) -> Self {
        Self {
            vlans: Vlans::NONE,
            ..*self
        }
    }
}

impl fmt::Display for FlowKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match protocol_name(self.protocol) {
            Some(name) => f.write_str(name)?,
            None => write!(f, "protocol-{}", self.protocol)?,
        }
        match self.protocol {
            6 | 17 | 132 => write!(
                f,
                " {} > {}",
                SocketAddr::new(self.src, self.sport),
                SocketAddr::new(self.dst, self.dport)
            )?,
            _ => write!(f, " {} > {}", self.src, self.dst)?,
        }
        match (self.vlans.outer, self.vlans.inner) {
            (0, 0) => Ok(()),
            (0, inner) => write!(f, " vlan {inner}"),
            (outer, inner) => write!(f, " vlan {outer}.{inner}"),
        }
    }
}

fn protocol_name(protocol: u8) -> Option<&'static str> {
    match protocol {
        1 => Some("icmp"),
        6 => Some("tcp"),
        17 => Some("udp"),
        58 => Some("icmpv6"),
        132 => Some("sctp"),
        _ => None,
    }
}

/// The transport protocols that carry INT between hosts.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
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

    /// Bytes of the transport header that a report quotes: all 8 bytes of UDP, the first 20 of TCP.
    pub fn quoted_bytes(self) -> usize {
        match self {
            Self::Tcp => 20,
            Self::Udp => 8,
        }
    }
}
