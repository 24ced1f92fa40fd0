//! The source's counts of watched packets, tagged ones and by reason the others, by pair and class.

use std::io;

use crate::datapath::abi::{
    address_pair, missed_counts, missed_key, missed_limit, source_counter, source_lease,
};
use crate::datapath::kernel::map_names::{SOURCE_LEASES, SOURCE_MISSED};
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::pins::Pins;
use crate::model::{MOST_SHIFT, NodeId, Volume};

/// Room for each reason.
pub const REASONS: usize = missed_limit::MISSED_REASONS.0 as usize;

// The kernel half leaves out a reason that has no room.
const _: () = assert!(source_counter::COUNT_SOURCE_BUDGET.0 as usize <= REASONS);

/// A pair of addresses, and the number of a class. All zeros: those that found no room.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct MissedKey {
    source: [u32; 4],
    dest: [u32; 4],
    pub class: u32,
}

/// The tables of a source.
pub struct MissedTable {
    missed: Map<missed_key, missed_counts>,
    leases: Map<address_pair, source_lease>,
}

/// Adds the entry for what finds no room of its own.
pub fn make_room_for_others(pins: &Pins) -> io::Result<()> {
    match Map::<missed_key, missed_counts>::open(&pins.map(SOURCE_MISSED))? {
        Some(map) => map.set(&missed_key::default(), &missed_counts::default()),
        None => Ok(()),
    }
}

impl MissedTable {
    /// Returns `None` if this host has no source.
    pub fn open(pins: &Pins) -> io::Result<Option<Self>> {
        let missed = Map::open(&pins.map(SOURCE_MISSED))?;
        let leases = Map::open(&pins.map(SOURCE_LEASES))?;
        Ok(missed
            .zip(leases)
            .map(|(missed, leases)| Self { missed, leases }))
    }

    /// A number that other tables do not have.
    pub fn id(&self) -> io::Result<u32> {
        self.missed.id()
    }

    /// Calls `visit` with the packets of each pair and class, by the number of the reason.
    pub fn for_each(&self, mut visit: impl FnMut(MissedKey, &[Volume; REASONS])) -> io::Result<()> {
        self.missed.for_each(|key, counts| {
            let key = MissedKey {
                source: key.saddr,
                dest: key.daddr,
                class: key.class,
            };
            let mut volumes = [Volume::default(); REASONS];
            let packets = counts.packets.iter().zip(&counts.bytes);
            for (volume, (packets, bytes)) in volumes.iter_mut().zip(packets) {
                *volume = Volume::of(*packets, *bytes);
            }
            visit(key, &volumes);
        })
    }

    /// True if there is hardly room for more.
    pub fn is_nearly_full(&self, entries: usize) -> bool {
        entries > self.missed.capacity() as usize / 4 * 3
    }

    pub fn remove(&self, key: &MissedKey) -> io::Result<()> {
        if *key == MissedKey::default() {
            return Ok(());
        }
        let key = missed_key {
            saddr: key.source,
            daddr: key.dest,
            class: key.class,
        };
        self.missed.remove(&key).map(drop)
    }

    /// The node of the sink in front of the destination, if it ever answered.
    pub fn sink_of(&self, key: &MissedKey) -> io::Result<Option<NodeId>> {
        let lease = self.lease_of(key)?.filter(|lease| lease.has_answer != 0);
        Ok(lease.map(|lease| NodeId(lease.sink_node)))
    }

    /// The share of the pair's flows that its sink asks for, one in two to the power of this.
    pub fn asked_shift(&self, key: &MissedKey) -> io::Result<u32> {
        let lease = self.lease_of(key)?;
        Ok(lease.map_or(0, |lease| lease.asked_shift.min(MOST_SHIFT)))
    }

    fn lease_of(&self, key: &MissedKey) -> io::Result<Option<source_lease>> {
        self.leases.get(&address_pair {
            saddr: key.source,
            daddr: key.dest,
        })
    }
}
