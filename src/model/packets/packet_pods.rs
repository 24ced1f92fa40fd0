//! The pods and containers that a packet came from, goes to, and is in.

use serde::{Deserialize, Serialize};

/// Their names, as far as they are known.
#[derive(Clone, Debug, Default, Eq, PartialEq, Deserialize, Serialize)]
pub struct PacketPods {
    /// Behind the interface that the packet came by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_pod: Option<String>,
    /// Behind the interface that the packet is to leave by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out_pod: Option<String>,
    /// The one in whose network, or at whose socket, the packet is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod: Option<String>,
}

impl PacketPods {
    pub fn are_known(&self) -> bool {
        *self != Self::default()
    }

    /// The one that misses the packet: where it is, or else to which it goes, or else from which it came.
    pub fn concerned(&self) -> Option<&str> {
        let first = self.pod.as_ref().or(self.out_pod.as_ref());
        first.or(self.in_pod.as_ref()).map(String::as_str)
    }
}
