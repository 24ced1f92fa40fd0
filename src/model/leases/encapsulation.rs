//! Encapsulations: the forms in which packets carry INT between source and sink.

use std::fmt;
use std::str::FromStr;

/// The place of the INT block in a packet.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Encapsulation {
    /// Between the TCP or UDP header and its payload, marked by a DSCP bit.
    #[default]
    OverTcpUdp,
    /// Behind an inserted UDP header, marked by its destination port.
    ExtensionUdp,
    /// In a VXLAN-GPE tunnel around the whole packet.
    VxlanGpe,
    /// Between the TCP or UDP header and its payload as INT-MD 2.1, marked by a DSCP of its own.
    IntMd,
    /// In IPv6 hop-by-hop options, as IOAM that routers fill in.
    Ioam,
    /// In an option of the packet's own TCP or UDP header; it stays there.
    Options,
}

impl Encapsulation {
    pub const ALL: [Self; 6] = [
        Self::OverTcpUdp,
        Self::ExtensionUdp,
        Self::VxlanGpe,
        Self::IntMd,
        Self::Ioam,
        Self::Options,
    ];

    /// Those whose packets leases count. Those of int-md, ioam and options count as over-tcp-udp's: no source sends both.
    pub const COUNTED: [Self; 3] = [Self::OverTcpUdp, Self::ExtensionUdp, Self::VxlanGpe];

    pub fn name(self) -> &'static str {
        match self {
            Self::OverTcpUdp => "over-tcp-udp",
            Self::ExtensionUdp => "extension-udp",
            Self::VxlanGpe => "vxlan-gpe",
            Self::IntMd => "int-md",
            Self::Ioam => "ioam",
            Self::Options => "options",
        }
    }
}

impl fmt::Display for Encapsulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that names no encapsulation.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "unknown encapsulation {0:?}: expected over-tcp-udp, extension-udp, vxlan-gpe, int-md, ioam or options"
)]
pub struct UnknownEncapsulation(pub String);

impl FromStr for Encapsulation {
    type Err = UnknownEncapsulation;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|encapsulation| encapsulation.name() == text)
            .ok_or_else(|| UnknownEncapsulation(text.to_owned()))
    }
}
