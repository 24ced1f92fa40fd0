//! What hosts of an invented network report of their clocks each second: readings, answers and quick packets.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use hostint::model::*;
use hostint::wire::report_clock;

use super::telling::{InventedDatagram, address};
use super::world::InventedClock;
use super::{Draws, SLOT_NS, SLOT_S};

const SECOND: u64 = 1_000_000_000;
/// What the quickest packets take.
const QUICK_NS: u64 = 12_000;
/// The seconds of which a report has readings.
const READINGS: u64 = 4;

/// The clocks of a slot, and those of the slot before.
pub struct ClockReports {
    draws: Draws,
    before: BTreeMap<NodeId, InventedClock>,
    now: BTreeMap<NodeId, InventedClock>,
    begins_ns: u64,
}

impl Default for ClockReports {
    fn default() -> Self {
        Self {
            draws: Draws::seeded(7),
            before: BTreeMap::new(),
            now: BTreeMap::new(),
            begins_ns: 0,
        }
    }
}

fn clock(t: u64, ahead_ns: i64) -> u64 {
    t.wrapping_add_signed(ahead_ns)
}

/// A clock that is never set, and that began to run at another time on each host.
fn raw(t: u64, node: NodeId) -> u64 {
    t % (1_000_000 * SECOND) + u64::from(node.0) * 77 * SECOND
}

impl ClockReports {
    /// The datagrams of a slot's seconds.
    pub fn slot(
        &mut self,
        slot: &VerdictSlot,
        clocks: BTreeMap<NodeId, InventedClock>,
    ) -> Vec<InventedDatagram> {
        let before = std::mem::replace(&mut self.now, clocks);
        self.before = if before.is_empty() {
            self.now.clone()
        } else {
            before
        };
        self.begins_ns = slot.end_ns - SLOT_NS;
        let mut datagrams = Vec::new();
        for second in 1..=SLOT_S {
            let t = self.begins_ns + second * SECOND;
            for node in slot.hosts.iter().filter(|(_, host)| host.reports) {
                let node = *node.0;
                if !self.now.get(&node).is_some_and(|clock| clock.is_known) {
                    continue;
                }
                let evidence = self.evidence(node, t, slot);
                let arrival = Arrival {
                    exporter: SocketAddr::new(IpAddr::V4(address(node)), 40_000),
                    received_ns: t + 20_000_000,
                };
                let datagram = |bytes| InventedDatagram { arrival, bytes };
                let time_s = (t / SECOND) as u32;
                datagrams.extend(
                    report_clock::emit(&evidence, time_s)
                        .into_iter()
                        .map(datagram),
                );
            }
        }
        datagrams
    }

    /// By how much a node's clock is ahead at this time.
    fn at(&self, node: NodeId, t: u64) -> InventedClock {
        let clocks = if t > self.begins_ns {
            &self.now
        } else {
            &self.before
        };
        clocks.get(&node).copied().unwrap_or_default()
    }

    fn evidence(&mut self, node: NodeId, t: u64, slot: &VerdictSlot) -> ClockEvidence {
        let reading = |ago: u64| {
            let t = t - ago * SECOND;
            let ahead_ns = self.at(node, t).believed_ns;
            ClockReading {
                raw_ns: raw(t, node),
                took_ns: 100,
                clock_ns: clock(t, ahead_ns) + 50,
                steered_ppb: (0, 0),
                is_after_set: ahead_ns != self.at(node, t - SECOND).believed_ns,
            }
        };
        let readings = (0..READINGS).rev().map(reading).collect();
        let cells = slot.cells.keys();
        let mut peers: Vec<NodeId> = cells
            .filter(|id| id.sink == node)
            .map(|id| id.source)
            .collect();
        peers.dedup();
        peers.retain(|peer| self.now.get(peer).is_some_and(|clock| clock.is_known));
        let peers = peers.into_iter().map(|peer| self.peer(node, peer, t));
        ClockEvidence {
            node,
            instance: u64::from(node.0),
            readings,
            peers: peers.collect(),
            ..ClockEvidence::default()
        }
    }

    fn peer(&mut self, node: NodeId, peer: NodeId, t: u64) -> PeerEvidence {
        let (asked, arrived) = (t - SECOND / 2, t - SECOND / 4);
        let [own, other] = [node, peer].map(|node| self.at(node, asked));
        // The less is known, the longer answers take.
        let half_ns = own.error_ns + other.error_ns;
        let lasts_ns = self.draws.between(1.0, 1.5) * half_ns as f64;
        let answered = asked + (lasts_ns * self.draws.between(0.8, 1.2)) as u64;
        let exchange = LeaseExchange {
            asked_raw_ns: raw(asked, node),
            received_raw_ns: raw(asked + (2.0 * lasts_ns) as u64, node),
            answered_ns: clock(answered, other.believed_ns),
        };
        let quick_ns = QUICK_NS + self.draws.exponential(3_000.0) as u64;
        let stamps = [
            clock(arrived, own.ahead_ns),
            clock(arrived - quick_ns, other.ahead_ns),
        ];
        PeerEvidence {
            node: peer,
            packets: vec![QuickPacket {
                arrived_ns: stamps[0],
                latency_ns: stamps[0].wrapping_sub(stamps[1]) as i32,
            }],
            exchanges: vec![exchange],
        }
    }
}
