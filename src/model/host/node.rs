//! A node's 32-bit name, unique in its INT domain, and where a host has it from.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The 32-bit ID of a participant in an INT domain.
#[derive(
    Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd, Deserialize, Serialize,
)]
pub struct NodeId(pub u32);

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for NodeId {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

/// Where a host's node id comes from.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NodeOrigin {
    /// The user gave it.
    #[default]
    Given,
    /// It was derived from the machine id, which clones of a machine share.
    Derived,
}

/// A host's node id, and where it comes from.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct HostNode {
    pub id: NodeId,
    pub origin: NodeOrigin,
}

impl HostNode {
    pub fn given(id: NodeId) -> Self {
        Self {
            id,
            origin: NodeOrigin::Given,
        }
    }

    pub fn derived(id: NodeId) -> Self {
        Self {
            id,
            origin: NodeOrigin::Derived,
        }
    }
}
