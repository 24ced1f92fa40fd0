//! A telemetry report about one packet, in any version of the standard.

use serde::{Deserialize, Serialize};

use crate::model::{Flags, FlowKey, IntType, Metadata, NodeId, Packet, Quirk};

/// The version of a telemetry report.
#[derive(
    Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd, Deserialize, Serialize,
)]
pub enum ReportVersion {
    #[default]
    #[serde(rename = "0.5")]
    V05,
    #[serde(rename = "1.0")]
    V10,
    #[serde(rename = "2.0")]
    V20,
}

/// A packet that a node saw, and the node's metadata about it.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct PacketReport {
    pub version: ReportVersion,
    /// The node that reports; v0.5 does not always name it.
    pub node: Option<NodeId>,
    /// The node's own metadata, including the header's timestamp (before v2.0).
    pub metadata: Metadata,
    /// Domain-specific metadata of v2.0, unless all of it is 0.
    pub domain: Option<ReportDomain>,
    pub packet: Option<Packet>,
    /// Domain-specific extension data of v2.0, and TLVs other than the first packet.
    pub extensions: Vec<Extension>,
    /// What the report's header states otherwise than the standard.
    pub quirk: Option<Quirk>,
}

/// The domain of a v2.0 report's domain-specific metadata, and the bits that name it.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq, Deserialize, Serialize)]
pub struct ReportDomain {
    pub id: u16,
    /// DSMdBits.
    pub bits: u16,
    /// DSMdstatus.
    pub status: u16,
}

/// Domain-specific data, unchanged.
#[derive(Clone, Debug, Eq, Hash, PartialEq, Deserialize, Serialize)]
pub struct Extension {
    /// TLVType, if the data came as a TLV.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<u8>,
    /// The TLV's template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<u16>,
    #[serde(with = "crate::model::hex")]
    pub data: Vec<u8>,
}

impl ReportVersion {
    /// Number of bits in a timestamp of this version.
    pub fn timestamp_bits(self) -> u32 {
        match self {
            Self::V05 | Self::V10 => 32,
            Self::V20 => 64,
        }
    }
}

impl PacketReport {
    /// One word for the kind of report.
    pub fn kind(&self, flags: Flags) -> &'static str {
        match self.version {
            ReportVersion::V05 if self.node.is_none() => "ethernet",
            ReportVersion::V05 if self.metadata.drop_reason.is_some() => "drop",
            ReportVersion::V05 => "local",
            _ if flags.dropped || self.metadata.drop_reason.is_some() => "drop",
            _ if flags.intermediate => "intermediate",
            _ if self.metadata == Metadata::default() => "packet",
            _ => "local",
        }
    }

    pub fn flow(&self) -> Option<FlowKey> {
        self.packet.as_ref().and_then(|packet| packet.flow)
    }

    pub fn inner_flow(&self) -> Option<FlowKey> {
        self.packet.as_ref().and_then(|packet| packet.inner_flow)
    }

    /// Nanoseconds from the INT source's ingress timestamp to the reporting node's, or to the newest hop's if the node
    /// reports none.
    ///
    /// The latency is signed, and right if the true value is at most half the range of the narrower timestamp. `None`
    /// for Host-INT's block, whose clock is not the reporting node's.
    pub fn latency_ns(&self) -> Option<i64> {
        let header = self.packet.as_ref()?.int.first()?;
        if header.truncated || header.kind != IntType::Md {
            return None;
        }
        let bits = header.timestamp_bits();
        let (newest, oldest) = (header.hops.first()?, header.hops.last()?);
        let begin = oldest.ingress_ts?;
        let (end, bits) = match self.metadata.ingress_ts {
            Some(own) => (own, bits.min(self.version.timestamp_bits())),
            None if header.hops.len() > 1 => (newest.ingress_ts?, bits),
            None => return None,
        };
        let elapsed = end.wrapping_sub(begin);
        Some(match bits {
            32 => i64::from(elapsed as u32 as i32),
            _ => elapsed as i64,
        })
    }

    /// The nodes on the path, oldest first, as far as the stack and the report name them.
    pub fn path(&self) -> Vec<NodeId> {
        let hops = self.packet.iter().flat_map(|packet| packet.int.first());
        let mut path: Vec<_> = hops
            .flat_map(|header| header.hops.iter().rev())
            .filter_map(|hop| hop.node)
            .collect();
        if path.last().copied() != self.node {
            path.extend(self.node);
        }
        path
    }

    /// All that the device wrote otherwise than the standards say.
    pub fn quirks(&self) -> impl Iterator<Item = Quirk> {
        let headers = self.packet.iter().flat_map(|packet| &packet.int);
        self.quirk
            .into_iter()
            .chain(headers.filter_map(|header| header.quirk))
    }
}
