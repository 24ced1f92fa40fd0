//! The packets that source, transit hop and sink of this host counted as they came by, in the map that all share.

use std::collections::HashMap;
use std::io;

use crate::datapath::abi::{crossing, crossing_key};
use crate::datapath::kernel::map_names::CROSSINGS;
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::pins::Pins;
use crate::datapath::source::source_links;
use crate::datapath::transit::transit_links;
use crate::model::NodeId;
use crate::model::crossing_tally::{CrossingNews, CrossingTally};
use crate::model::crossings::{
    BLOCK_NS, CoveredFlows, CrossingCounts, CrossingFlow, CrossingPlace, SteadyTtl,
};
use crate::os::netdev;

/// A record that is made this long after the map was full may be of packets that came before.
const FULL_NS: u64 = 16 * BLOCK_NS;

/// Records that one system call reads.
const BATCH: usize = 256;

/// The counts of this host, and what was read of them before.
#[derive(Default)]
pub struct Crossings {
    tally: CrossingTally<CrossingKey>,
    /// The map that was read last.
    map: Option<u32>,
    /// When there was no room for other records.
    full_ns: Option<u64>,
}

/// What is to be reported.
#[derive(Default)]
pub struct ReportedCrossings {
    pub first_block: u64,
    pub counts: Vec<CrossingCounts>,
    pub covered: Option<CoveredFlows>,
}

/// A place and a flow: source node, destination, interface, and the number of the place.
type CrossingKey = (u32, u32, u32, u32);

/// The interfaces at which programs count, and since when, by the place.
type Counting = HashMap<(CrossingPlace, u32), u64>;

/// Returns what is attached now. What arrives at a port of a bridge arrives at the bridge, too, where it is counted if the
/// hop is attached to both. Of a VLAN's interface and the one below it, arrivals at both would be some twice and some once.
fn counting(pins: &Pins) -> io::Result<Counting> {
    let mut counting = Counting::new();
    for seen in source_links::inspect(pins)? {
        let since = counting.entry((CrossingPlace::Tagged, 0)).or_default();
        *since = seen.attached_ns().max(*since);
    }
    let hops = transit_links::inspect(pins)?;
    let hops: Vec<_> = hops.into_iter().filter(|seen| seen.alive).collect();
    for seen in &hops {
        let since = seen.attached_ns();
        for place in [CrossingPlace::Departed, CrossingPlace::Sent] {
            counting.insert((place, seen.ifindex), since);
        }
        counting.insert((CrossingPlace::Arrived, seen.ifindex), since);
    }
    for upper in &hops {
        for (lower, is_port) in upper
            .name
            .as_deref()
            .map_or_else(Vec::new, netdev::directly_below)
        {
            let Some(lower) = hops.iter().find(|hop| hop.name.as_ref() == Some(&lower)) else {
                continue;
            };
            counting.remove(&(CrossingPlace::Arrived, lower.ifindex));
            if !is_port {
                counting.remove(&(CrossingPlace::Arrived, upper.ifindex));
            }
        }
    }
    Ok(counting)
}

impl Crossings {
    /// True if the map was full a short time ago, so that packets may not have been counted.
    fn was_full(&self, now_ns: u64) -> bool {
        let since = self.full_ns.map(|full_ns| now_ns.saturating_sub(full_ns));
        since.is_some_and(|since| since < FULL_NS)
    }

    /// Returns what is to be reported, and forgets counts that are idle.
    ///
    /// Behind queues packets are counted only while a daemon has the program for that, which then `tells_sent`.
    pub fn news(
        &mut self,
        pins: &Pins,
        now_ns: u64,
        tells_sent: bool,
    ) -> io::Result<ReportedCrossings> {
        let Some(map) = Map::<crossing_key, crossing>::open(&pins.map(CROSSINGS))? else {
            *self = Self::default();
            return Ok(ReportedCrossings::default());
        };
        let id = map.id()?;
        if self.map.replace(id).is_some_and(|before| before != id) {
            self.tally = CrossingTally::default();
        }
        let counting = counting(pins)?;
        let mut records = Vec::new();
        let mut ttls = HashMap::new();
        map.for_each_in_batches(BATCH, |key, count| {
            let id = (key.source_node, key.dest, key.ifindex, key.place);
            records.push((id, count.packets));
            if let Some(ttl) = u8::try_from(count.ttl).ok().filter(|ttl| *ttl != 0) {
                let from_block = count.ttl_from.into();
                ttls.insert(id, SteadyTtl { ttl, from_block });
            }
        })?;
        let is_full = records.len() >= map.capacity() as usize / 4 * 3;
        if is_full {
            self.full_ns = Some(now_ns);
        }
        let was_full = self.was_full(now_ns);
        let CrossingNews {
            first_block,
            mut counts,
            idle,
        } = self.tally.look(now_ns, &records, is_full, |key| {
            match place_of(key)? {
                // The sink grants leases only while it is attached.
                CrossingPlace::Received => Some(0),
                // Packets may leave by another interface than the one that they are tagged at.
                CrossingPlace::Tagged => counting.get(&(CrossingPlace::Tagged, 0)).copied(),
                CrossingPlace::Sent if !tells_sent => None,
                place => counting.get(&(place, key.2)).copied(),
            }
        });
        for key in idle {
            map.remove(&kernel_key(key))?;
        }
        counts.sort_unstable_by_key(|(key, _)| *key);
        let counts = counts
            .into_iter()
            .filter_map(|(key, packets)| counts_of(&key, packets, ttls.get(&key).copied()));
        Ok(ReportedCrossings {
            first_block,
            counts: counts.collect(),
            covered: (!was_full).then_some(CoveredFlows::ALL),
        })
    }
}

fn kernel_key((source_node, dest, ifindex, place): CrossingKey) -> crossing_key {
    crossing_key {
        source_node,
        dest,
        ifindex,
        place,
    }
}

fn counts_of(
    key: &CrossingKey,
    packets: Vec<Option<u32>>,
    ttl: Option<SteadyTtl>,
) -> Option<CrossingCounts> {
    Some(CrossingCounts {
        flow: CrossingFlow {
            source: NodeId(key.0),
            dest: key.1,
        },
        place: place_of(key)?,
        port: key.2 as u16,
        packets,
        ttl,
    })
}

fn place_of(key: &CrossingKey) -> Option<CrossingPlace> {
    CrossingPlace::of_number(u8::try_from(key.3).ok()?)
}
