//! Which hosts reach each other, by what sources report of packets that they tag or have no lease for.

use std::collections::{BTreeMap, HashMap};

use crate::model::coverage::{CoverageGrowth, NO_LEASE, TAGGED};
use crate::model::{HostInSlot, NodeId, NodePair, PairReach};

/// The most pairs that are remembered. Of others nothing is said.
const MOST_PAIRS: usize = 65_536;

/// Packets of ten seconds without a lease that show that none is granted. A host with very many leases lets those of idle
/// pairs end, and a few packets go before the next one.
const MANY_PACKETS: i64 = 100;

/// The pairs of hosts that reached each other.
#[derive(Debug, Default)]
pub struct ReachGatherer {
    /// Which of both directions were measured: from the first node of the pair, and to it.
    known: HashMap<NodePair, [bool; 2]>,
}

impl ReachGatherer {
    /// The pairs that have many packets in these ten seconds, and that reached each other before.
    pub fn take(&mut self, grown: &[CoverageGrowth]) -> BTreeMap<NodePair, PairReach> {
        let mut now = BTreeMap::<NodePair, (bool, i64)>::new();
        for one in grown.iter().filter(|one| one.packets > 0) {
            let (Some(sink), Some(reason)) = (one.sink, one.reason) else {
                continue;
            };
            let pair = NodePair::of(one.source, sink);
            if reason == TAGGED {
                now.entry(pair).or_default().0 = true;
                self.see(pair, one.source);
            } else if reason == NO_LEASE {
                let without_lease = &mut now.entry(pair).or_default().1;
                *without_lease = without_lease.saturating_add(one.packets);
            }
        }
        let many = now
            .into_iter()
            .filter(|(_, (is_tagged, without_lease))| *is_tagged || *without_lease >= MANY_PACKETS);
        let known = many.filter_map(|(pair, (is_tagged, _))| {
            let both_ways = *self.known.get(&pair)? == [true; 2];
            let reach = PairReach {
                reached: is_tagged,
                both_ways,
            };
            Some((pair, reach))
        });
        known.collect()
    }

    fn see(&mut self, pair: NodePair, source: NodeId) {
        if self.known.len() < MOST_PAIRS || self.known.contains_key(&pair) {
            self.known.entry(pair).or_default()[usize::from(source != pair.first())] = true;
        }
    }

    /// Forgets pairs of hosts that are not among these.
    pub fn retain(&mut self, hosts: &BTreeMap<NodeId, HostInSlot>) {
        (self.known).retain(|pair, _| pair.ends().iter().all(|end| hosts.contains_key(end)));
    }
}
