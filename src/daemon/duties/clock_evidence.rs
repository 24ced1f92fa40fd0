//! Tells collectors what this host knows about clocks: its own readings, quick packets, and answers to lease questions.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::clocks::Reading;
use crate::daemon::duty::Duty;
use crate::daemon::tells_collectors::TellsCollectors;
use crate::datapath::minima::MinimaTable;
use crate::model::{ClockEvidence, ClockReading, NodeId, PeerEvidence, QuickPacket};
use crate::os::{clock, netns};

/// Readings that are told: a datagram may be lost, and readings of two that follow each other have to meet.
const READINGS: usize = 6;
/// A node whose packets stopped for this long is forgotten.
const FORGET_NS: u64 = 60_000_000_000;

/// The duty to do so.
#[derive(Default)]
pub struct TellClocks {
    /// The arrival of the newest packet of each node that was told.
    told: HashMap<NodeId, u64>,
}

impl<D: TellsCollectors> Duty<D> for TellClocks {
    fn task(&self) -> &'static str {
        "tell collectors what this host knows about clocks"
    }

    fn period(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn turn(&mut self, daemon: &mut D, _now: Instant) -> Result<()> {
        let exchanges = match &mut daemon.side().leases {
            Some(leases) => leases.take_exchanges(),
            None => Vec::new(),
        };
        if !daemon.tells_extended() {
            return Ok(());
        }
        let mut peers: BTreeMap<NodeId, PeerEvidence> = BTreeMap::new();
        for (node, exchange) in exchanges {
            peer(&mut peers, node).exchanges.push(exchange);
        }
        let now_ns = clock::realtime_ns();
        if let Some((sink, _)) = daemon.sink() {
            for (node, packet) in self.new_packets(&sink.minima, now_ns)? {
                peer(&mut peers, node).packets.push(packet);
            }
        }
        // If the clock was set while those packets arrived, this reading shows it.
        daemon.side().read_clock()?;
        let readings = daemon.side().own_clock.newest(READINGS);
        let evidence = ClockEvidence {
            readings: readings.map(told).collect(),
            node: daemon.node()?,
            instance: netns::instance()?,
            peers: peers.into_values().collect(),
        };
        let time_s = (now_ns / 1_000_000_000) as u32;
        daemon.emitter().tell_clocks(&evidence, time_s);
        Ok(())
    }
}

impl TellClocks {
    /// The quickest packets that were not told before, oldest first.
    fn new_packets(
        &mut self,
        minima: &MinimaTable,
        now_ns: u64,
    ) -> Result<Vec<(NodeId, QuickPacket)>> {
        let mut found = Vec::new();
        minima.for_each(now_ns, |minimum| {
            // A clock that was set back shows earlier times than those that were told.
            let before = self.told.get(&minimum.source_node);
            let before = before.filter(|told| **told <= now_ns);
            if before.is_none_or(|told| minimum.arrived_ns > *told) {
                let packet = QuickPacket {
                    arrived_ns: minimum.arrived_ns,
                    latency_ns: minimum.latency_ns,
                };
                found.push((minimum.source_node, packet));
            }
        })?;
        found.sort_by_key(|(_, packet)| packet.arrived_ns);
        for (node, packet) in &found {
            self.told.insert(*node, packet.arrived_ns);
        }
        self.told
            .retain(|_, told| now_ns.saturating_sub(*told) < FORGET_NS);
        Ok(found)
    }
}

fn peer(peers: &mut BTreeMap<NodeId, PeerEvidence>, node: NodeId) -> &mut PeerEvidence {
    peers.entry(node).or_insert_with(|| PeerEvidence {
        node,
        ..PeerEvidence::default()
    })
}

fn told(reading: &Reading) -> ClockReading {
    let unsigned = |ns: i128| u64::try_from(ns).unwrap_or(0);
    let rate = |ppb: i64| ppb.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
    let (least, most) = reading.steered_ppb;
    ClockReading {
        raw_ns: unsigned(reading.raw_ns),
        took_ns: u32::try_from(reading.took_ns).unwrap_or(u32::MAX),
        clock_ns: unsigned(reading.clock_ns),
        steered_ppb: (rate(least), rate(most)),
    }
}
