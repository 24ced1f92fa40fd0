//! An INT header found in a reported packet.

use serde::{Deserialize, Serialize};

use crate::model::{Metadata, Quirk};

/// The version of an INT header; v2.0 and v2.1 look the same.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq, Deserialize, Serialize)]
pub enum IntVersion {
    #[serde(rename = "0.5")]
    V05,
    #[serde(rename = "1.0")]
    V10,
    #[serde(rename = "2")]
    V2,
}

/// The INT mode: which nodes use the header, and how.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum IntType {
    /// INT-MD, formerly called hop-by-hop: each hop embeds its metadata.
    Md,
    /// Destination type: for the INT sink only.
    Destination,
    /// INT-MX: each hop exports its metadata.
    Mx,
    /// Host-INT's block: one hop and a sequence number.
    HostInt,
}

/// One INT header and its metadata stack.
#[derive(Clone, Debug, Eq, Hash, PartialEq, Deserialize, Serialize)]
pub struct IntHeader {
    pub version: IntVersion,
    #[serde(rename = "type")]
    pub kind: IntType,
    /// The instruction bitmap; bit 0 is the most significant.
    pub instructions: u16,
    /// Rep: 1 for copies to each member of a LAG, 2 for copies to each ECMP next hop, 3 for both.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub replication: u8,
    /// C: this packet is a copy.
    #[serde(default, skip_serializing_if = "is_false")]
    pub copy: bool,
    /// D: the INT sink discards the packet.
    #[serde(default, skip_serializing_if = "is_false")]
    pub discard: bool,
    /// E: a hop found the hop count exceeded.
    #[serde(default, skip_serializing_if = "is_false")]
    pub hops_exceeded: bool,
    /// M: a hop left its metadata out because of the MTU.
    #[serde(default, skip_serializing_if = "is_false")]
    pub mtu_exceeded: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_hops: Option<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remaining_hops: Option<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<IntDomain>,
    /// The hops' metadata, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hops: Vec<Metadata>,
    /// Domain-specific words that only the INT source wrote, below the stack.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub source_words: Vec<u32>,
    /// The packet's DSCP, destination port and IP protocol before INT, if the header carries them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original_dscp: Option<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original_dport: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original_protocol: Option<u8>,
    /// The flow's sequence number, in Host-INT's block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u32>,
    /// The report was cut before the stack's end.
    #[serde(default, skip_serializing_if = "is_false")]
    pub truncated: bool,
    /// What the header states otherwise than the standard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quirk: Option<Quirk>,
}

/// The domain-specific part of an INT v2.x header.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq, Deserialize, Serialize)]
pub struct IntDomain {
    pub id: u16,
    pub instructions: u16,
    pub flags: u16,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde calls it so
pub(in crate::model) fn is_false(flag: &bool) -> bool {
    !flag
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde calls it so
fn is_zero(value: &u8) -> bool {
    *value == 0
}

impl IntVersion {
    /// Number of bits in a timestamp of this version.
    pub fn timestamp_bits(self) -> u32 {
        match self {
            Self::V05 | Self::V10 => 32,
            Self::V2 => 64,
        }
    }
}

impl IntHeader {
    /// Number of bits in its timestamps.
    pub fn timestamp_bits(&self) -> u32 {
        let is_long = |hop: &Metadata| hop.ingress_ts.is_some_and(|ts| ts > u32::MAX.into());
        match self.version {
            // Those of some devices are as long as in v2.x.
            IntVersion::V10 if self.hops.iter().any(is_long) => IntVersion::V2.timestamp_bits(),
            version => version.timestamp_bits(),
        }
    }

    /// A header with nothing set except these.
    pub fn new(version: IntVersion, kind: IntType, instructions: u16) -> Self {
        Self {
            version,
            kind,
            instructions,
            replication: 0,
            copy: false,
            discard: false,
            hops_exceeded: false,
            mtu_exceeded: false,
            max_hops: None,
            remaining_hops: None,
            domain: None,
            hops: Vec::new(),
            source_words: Vec::new(),
            original_dscp: None,
            original_dport: None,
            original_protocol: None,
            seq: None,
            truncated: false,
            quirk: None,
        }
    }
}
