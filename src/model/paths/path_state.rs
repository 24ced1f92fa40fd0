//! What is known of the path to a peer, in a word.

use crate::model::PeerStatus;
use crate::model::interned_name::InternedName;

/// The state of the path to a peer that grants a lease.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PathState {
    /// No round of probes has ended: nothing is tagged yet.
    Proving,
    /// All forms that were probed pass.
    Proved,
    /// Some forms do not pass; flows have others.
    Partly,
    /// No form passes: packets stay untagged.
    Closed,
}

impl PathState {
    pub const ALL: [Self; 4] = [Self::Proving, Self::Proved, Self::Partly, Self::Closed];

    /// The state of the path to this peer; `None` if it grants no lease.
    pub fn of(peer: &PeerStatus) -> Option<Self> {
        if !["granted", "idle"].contains(&peer.state) {
            return None;
        }
        Some(match (peer.ways.is_empty(), peer.eaten.is_empty()) {
            _ if peer.untold => Self::Closed,
            (true, _) if peer.unattended => Self::Closed,
            _ if peer.proved_ago_ns.is_none() => Self::Proving,
            (true, _) => Self::Closed,
            (false, true) => Self::Proved,
            (false, false) => Self::Partly,
        })
    }

    pub fn name(self) -> InternedName {
        match self {
            Self::Proving => "proving",
            Self::Proved => "proved",
            Self::Partly => "partly",
            Self::Closed => "closed",
        }
    }
}
