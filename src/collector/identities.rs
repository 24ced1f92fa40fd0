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
    told: HashMap<(NodeId, IpAddr), Told>,
    /// The addresses and nodes that claim a name.
    claims: HashMap<String, HashSet<(NodeId, IpAddr)>>,
}

#[derive(Debug)]
struct Told {
    identity: NodeIdentity,
    last_ns: u64,
}

impl Identities {
    /// Takes what a node tells from an address.
    pub fn learn(&mut self, from: IpAddr, identity: &NodeIdentity, now_ns: u64) {
        let key = (identity.node, from);
        if self.told.len() >= MOST && !self.told.contains_key(&key) {
            return;
        }
        let before = self.told.get_mut(&key);
        if let Some(told) = before
            && told.identity == *identity
        {
            told.last_ns = now_ns;
            return;
        }
        let told = Told {
            identity: identity.clone(),
            last_ns: now_ns,
        };
        if let Some(before) = self.told.insert(key, told) {
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
        let old = |told: &Told| now_ns.saturating_sub(told.last_ns) > OLD_NS;
        let gone = self.told.iter().filter(|(_, told)| old(told));
        let gone: Vec<_> = gone
            .map(|(key, told)| (*key, told.identity.name.clone()))
            .collect();
        for (key, name) in gone {
            self.told.remove(&key);
            self.give_up(&name, key);
        }
    }

    /// Returns what a node told from an address.
    pub fn of(&self, node: NodeId, from: IpAddr) -> Option<&NodeIdentity> {
        self.told.get(&(node, from)).map(|told| &told.identity)
    }

    /// The nodes that tell a name.
    pub fn named_nodes(&self) -> HashSet<NodeId> {
        let named = self.told.iter();
        let named = named.filter(|(_, told)| !told.identity.name.is_empty());
        named.map(|((node, _), _)| *node).collect()
    }

    /// True if another node or another address claims the same name.
    pub fn is_contested(&self, name: &str) -> bool {
        self.claims.get(name).is_some_and(|claims| claims.len() > 1)
    }
}
