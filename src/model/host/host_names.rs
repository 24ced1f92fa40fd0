//! The names of other hosts, as a host knows them: labels beside node IDs, by which nothing is decided.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::model::{NameOrigin, NodeId};

/// A host that did not tell its name for this time has told it too long ago to contest that of another.
const RECENT_NS: u64 = 1_200_000_000_000;

/// A node's name in a status.
#[derive(Clone, Debug, Eq, PartialEq, Deserialize, Serialize)]
pub struct HostName {
    pub node: NodeId,
    pub name: String,
    /// `given` by this host's user, or `told` by the node.
    pub origin: NameOrigin,
    /// Another node, or another host with this node's ID, tells the same name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub contested: bool,
}

/// A name as it was given or told.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NameClaim {
    pub node: NodeId,
    pub name: String,
    pub origin: ClaimOrigin,
    /// When it was reported last.
    pub heard_ns: u64,
}

/// Where a name comes from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ClaimOrigin {
    /// The user's `[names]`.
    Given,
    /// This host itself.
    Own { instance: u64 },
    /// Another host, at an address.
    Told { address: IpAddr, instance: u64 },
}

impl ClaimOrigin {
    /// The host that claims it; `None` for a name that the user gave.
    pub fn instance(self) -> Option<u64> {
        match self {
            Self::Given => None,
            Self::Own { instance } | Self::Told { instance, .. } => Some(instance),
        }
    }
}

/// The name of each node: the one that the user gave, or else the one that the node reported last.
pub fn of_nodes(claims: &[NameClaim], now_ns: u64) -> Vec<HostName> {
    let mut best = BTreeMap::<NodeId, &NameClaim>::new();
    let mut claimants = BTreeMap::<&str, BTreeSet<(NodeId, u64)>>::new();
    let rank = |claim: &NameClaim| (claim.origin == ClaimOrigin::Given, claim.heard_ns);
    for claim in claims.iter().filter(|claim| !claim.name.is_empty()) {
        let known = best.entry(claim.node).or_insert(claim);
        if rank(known) < rank(claim) {
            *known = claim;
        }
        if let Some(instance) = claim.origin.instance()
            && now_ns.saturating_sub(claim.heard_ns) < RECENT_NS
        {
            let of_name = claimants.entry(&claim.name).or_default();
            of_name.insert((claim.node, instance));
        }
    }
    let names = best.into_iter().map(|(node, claim)| {
        let is_given = claim.origin == ClaimOrigin::Given;
        let claimants = claimants.get(claim.name.as_str());
        HostName {
            node,
            name: claim.name.clone(),
            origin: if is_given {
                NameOrigin::Given
            } else {
                NameOrigin::Told
            },
            contested: !is_given && claimants.is_some_and(|all| all.len() > 1),
        }
    });
    names.collect()
}
