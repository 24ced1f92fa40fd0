//! The tunnel that a packet is in, where its flow is the one inside.

use serde::{Deserialize, Serialize};

use crate::model::FlowKey;

/// A kind of tunnel over UDP.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TunnelKind {
    Vxlan,
    Geneve,
    GtpU,
}

impl TunnelKind {
    /// All kinds, by their numbers on the wire and in the kernel, from 1 on.
    pub const EACH: [Self; 3] = [Self::Vxlan, Self::Geneve, Self::GtpU];

    pub fn number(self) -> u8 {
        self as u8 + 1
    }

    pub fn from_number(number: u8) -> Option<Self> {
        let index = usize::from(number).checked_sub(1)?;
        Self::EACH.get(index).copied()
    }

    /// The name in JSON, and of the setting.
    pub fn name(self) -> &'static str {
        match self {
            Self::Vxlan => "vxlan",
            Self::Geneve => "geneve",
            Self::GtpU => "gtp-u",
        }
    }
}

/// Which tunnel: networks with the same addresses are told apart by it.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Deserialize, Serialize)]
pub struct TunnelId {
    pub kind: TunnelKind,
    /// The network's number (VNI), or that of the end of GTP-U's tunnel (TEID).
    pub id: u32,
}

/// A tunnel, and its own flow, which the network between the hosts sees.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Deserialize, Serialize)]
pub struct Tunnel {
    #[serde(flatten)]
    pub which: TunnelId,
    /// Of the first packet.
    pub outer: FlowKey,
}
