//! The identities of nodes: what each one tells of itself from each address, and the names that several claim.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use crate::model::{NodeId, NodeIdentity};

/// The most nodes and addresses whose identities are kept. Those that came first stay.
const MOST: usize = 65_536;

/// An identity that was not reported again for this time gives its place and its name to others.
const OLD_NS: u64 = 3_600_000_000_000;

/// What nodes reported, by node and address. Text from the wire is bounded and printable before it comes here.
#[derive(Debug, Default)]
pub struct Identities {
    known: HashMap<(NodeId, IpAddr), StoredIdentity>,
    /// The addresses and nodes that claim a name.
    claims: HashMap<String, HashSet<(NodeId, IpAddr)>>,
}

#[derive(Debug)]
struct StoredIdentity {
    identity: NodeIdentity,
    last_ns: u64,
}

impl Identities {
    /// Takes what a node tells from an address.
    pub fn learn(&mut self, from: IpAddr, identity: &NodeIdentity, now_ns: u64) {
        let key = (identity.node, from);
        if self.known.len() >= MOST && !self.known.contains_key(&key) {
            return;
        }
        let before = self.known.get_mut(&key);
        if let Some(known) = before
            && known.identity == *identity
        {
            known.last_ns = now_ns;
            return;
        }
        let known = StoredIdentity {
            identity: identity.clone(),
            last_ns: now_ns,
        };
        if let Some(before) = self.known.insert(key, known) {
            self.give_up(&before.identity.name, key);
        }
        if !identity.name.is_empty() {
            self.claims
                .entry(identity.name.clone())
                .or_default()
                .insert(key);
        }
    }

    fn give_up(&mut self, name: &str, key: (NodeId, IpAddr)) {
        if let Some(claims) = self.claims.get_mut(name) {
            claims.remove(&key);
            if claims.is_empty() {
                self.claims.remove(name);
            }
        }
    }

    /// Forgets what was not reported for a long time.
    pub fn forget_old(&mut self, now_ns: u64) {
        let old = |known: &StoredIdentity| now_ns.saturating_sub(known.last_ns) > OLD_NS;
        let gone = self.known.iter().filter(|(_, known)| old(known));
        let gone: Vec<_> = gone
            .map(|(key, known)| (*key, known.identity.name.clone()))
            .collect();
        for (key, name) in gone {
            self.known.remove(&key);
            self.give_up(&name, key);
        }
    }

    /// Returns what a node told from an address.
    pub fn of(&self, node: NodeId, from: IpAddr) -> Option<&NodeIdentity> {
        self.known.get(&(node, from)).map(|known| &known.identity)
    }

    /// The nodes that tell a name.
    pub fn named_nodes(&self) -> HashSet<NodeId> {
        let named = self.known.iter();
        let named = named.filter(|(_, known)| !known.identity.name.is_empty());
        named.map(|((node, _), _)| *node).collect()
    }

    /// True if another node or another address claims the same name.
    pub fn is_contested(&self, name: &str) -> bool {
        self.claims.get(name).is_some_and(|claims| claims.len() > 1)
    }
}
