//! A tunnel as text.

use std::fmt;

use crate::model::Tunnel;

/// Displays `vxlan 42 (udp 192.0.2.1:51000 > 192.0.2.2:4789)`.
pub struct TunnelText<'a>(pub &'a Tunnel);

impl fmt::Display for TunnelText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tunnel { which, outer } = self.0;
        write!(f, "{} {} ({outer})", which.kind.name(), which.id)
    }
}
