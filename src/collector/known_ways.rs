//! The paths that packets of each pair of nodes take at present.

use std::collections::{BTreeMap, HashMap};

use crate::model::{NodeId, Path};

/// The most pairs, and paths of a pair, that are known. Those that come later are not.
const MOST_PAIRS: usize = 1 << 14;
const MOST_WAYS: usize = 16;

/// A path that was not seen for this time is forgotten. Sinks tell of each that has packets every few seconds.
const SILENT_NS: u64 = 120_000_000_000;

/// The paths, by source and sink, and when each was seen last.
#[derive(Debug, Default)]
pub struct KnownWays(HashMap<(NodeId, NodeId), BTreeMap<Path, u64>>);

impl KnownWays {
    pub fn see(&mut self, path: &Path, now_ns: u64) {
        let pair = (path.source.node, path.sink.node);
        if self.0.len() >= MOST_PAIRS && !self.0.contains_key(&pair) {
            return;
        }
        let ways = self.0.entry(pair).or_default();
        if let Some(seen_ns) = ways.get_mut(path) {
            *seen_ns = now_ns;
        } else if ways.len() < MOST_WAYS {
            ways.insert(path.clone(), now_ns);
        }
    }

    pub fn forget(&mut self, now_ns: u64) {
        self.0.retain(|_, ways| {
            ways.retain(|_, seen_ns| seen_ns.saturating_add(SILENT_NS) > now_ns);
            !ways.is_empty()
        });
    }

    /// The paths of a pair. One whose hops are some of those of another path is the same way: a hop pushed no entry onto
    /// packets that have no room for it.
    pub fn of(&self, pair: (NodeId, NodeId)) -> Vec<&Path> {
        let ways: Vec<&Path> = self
            .0
            .get(&pair)
            .into_iter()
            .flat_map(BTreeMap::keys)
            .collect();
        let is_whole = |path: &&&Path| !ways.iter().any(|other| path.lacks_hops_of(other));
        ways.iter().filter(is_whole).copied().collect()
    }
}
