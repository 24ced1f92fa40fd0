//! The tunnels whose packets are known by the flow inside, as the programs are told of them and tell of them.

use std::collections::BTreeSet;

use crate::datapath::abi::tunnel_kind;
use crate::model::{FlowKey, Tunnel, TunnelId, TunnelKind};

/// The number of a kind in the programs.
fn number(kind: TunnelKind) -> u32 {
    match kind {
        TunnelKind::Vxlan => tunnel_kind::TUNNEL_VXLAN.0,
        TunnelKind::Geneve => tunnel_kind::TUNNEL_GENEVE.0,
        TunnelKind::GtpU => tunnel_kind::TUNNEL_GTP_U.0,
    }
}

/// A bit for each kind.
pub fn bits(kinds: &BTreeSet<TunnelKind>) -> u32 {
    kinds.iter().fold(0, |bits, kind| bits | 1 << number(*kind))
}

/// The flow before NAT, or the tunnel: `other` is the one or the tunnel's own flow, as far as it is known.
pub fn known_by(kind: u32, id: u32, other: Option<FlowKey>) -> (Option<FlowKey>, Option<Tunnel>) {
    let kind = TunnelKind::EACH.into_iter().find(|it| number(*it) == kind);
    match (kind, other) {
        (Some(kind), Some(outer)) => {
            let which = TunnelId { kind, id };
            (None, Some(Tunnel { which, outer }))
        }
        (_, other) => (other, None),
    }
}
