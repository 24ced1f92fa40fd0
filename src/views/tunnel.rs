//! A tunnel as text.

use std::fmt;

use crate::model::{Tunnel, TunnelId};

/// Displays `vxlan 42`.
pub struct TunnelName(pub TunnelId);

impl fmt::Display for TunnelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0.kind.name(), self.0.id)
    }
}

/// Displays `vxlan 42 (udp 192.0.2.1:51000 > 192.0.2.2:4789)`.
pub struct TunnelText<'a>(pub &'a Tunnel);

impl fmt::Display for TunnelText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tunnel { which, outer } = self.0;
        write!(f, "{} ({outer})", TunnelName(*which))
    }
}
