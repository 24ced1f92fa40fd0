//! Evidence about clocks that waits to be reported: of many peers, each has its turn.

use std::collections::{BTreeMap, HashMap};

use crate::model::{LeaseExchange, NodeId, PeerEvidence, QuickPacket};

/// The most peers that are told of at a time: four datagrams.
pub const MOST_PEERS: usize = 72;
/// The newest packets that are kept of a peer until its turn.
const PACKETS: usize = 2;
/// A node whose packets stopped for this long is forgotten.
const FORGET_NS: u64 = 60_000_000_000;

/// The evidence of all peers since it was last told.
#[derive(Debug, Default)]
pub struct ClockNews {
    /// The arrival of the newest packet of each node that was noted.
    noted: HashMap<NodeId, u64>,
    waiting: BTreeMap<NodeId, PeerEvidence>,
    /// The last peer that was told of.
    last: NodeId,
}

impl ClockNews {
    fn peer(&mut self, node: NodeId) -> &mut PeerEvidence {
        self.waiting.entry(node).or_insert_with(|| PeerEvidence {
            node,
            ..PeerEvidence::default()
        })
    }

    /// Notes packets in any order. Those that were noted before are left out.
    pub fn note_packets(&mut self, mut found: Vec<(NodeId, QuickPacket)>, now_ns: u64) {
        found.sort_by_key(|(_, packet)| packet.arrived_ns);
        for (node, packet) in found {
            // A clock that was set back shows earlier times than those that were noted.
            let before = self.noted.get(&node).filter(|noted| **noted <= now_ns);
            if before.is_some_and(|noted| packet.arrived_ns <= *noted) {
                continue;
            }
            self.noted.insert(node, packet.arrived_ns);
            let packets = &mut self.peer(node).packets;
            packets.push(packet);
            if packets.len() > PACKETS {
                packets.remove(0);
            }
        }
        self.noted
            .retain(|_, noted| now_ns.saturating_sub(*noted) < FORGET_NS);
    }

    /// Keeps the quickest exchange with a peer: it bounds both clocks best.
    pub fn note_exchange(&mut self, node: NodeId, new: LeaseExchange) {
        let took = |one: &LeaseExchange| one.received_raw_ns.saturating_sub(one.asked_raw_ns);
        let exchanges = &mut self.peer(node).exchanges;
        if exchanges.first().is_none_or(|old| took(&new) <= took(old)) {
            *exchanges = vec![new];
        }
    }

    /// Takes the evidence of the peers behind the last one that was told of, in the order of their numbers.
    pub fn take(&mut self) -> Vec<PeerEvidence> {
        let behind = self
            .waiting
            .split_off(&NodeId(self.last.0.saturating_add(1)));
        let before = std::mem::take(&mut self.waiting);
        let mut turns = behind.into_values().chain(before.into_values());
        let taken: Vec<_> = turns.by_ref().take(MOST_PEERS).collect();
        self.waiting = turns.map(|peer| (peer.node, peer)).collect();
        self.last = taken.last().map_or(self.last, |peer| peer.node);
        taken
    }
}
