//! The fine latency slots of the sink's flows, and the indices of those that are free.

use std::collections::HashSet;
use std::io;

use libbpf_rs::{MapCore, MapFlags, MapHandle, MapMut};

use super::abi::{bytes_of, fine_slots, flow_key, read_from, sink_flow, sink_flow_shape};
use super::map_names::{SINK_FINE_FREE, SINK_FINE_SLOTS, SINK_FLOWS};
use super::maps::Map;
use super::pins::{Pins, remove};
use crate::model::{FINE_SLOTS, FlowSlots, LATENCY_SLOTS};
use crate::os::log;

/// The bits of a recent latency that name its slot; the others are its packets.
const RECENT_SLOT_BITS: u32 = sink_flow_shape::RECENT_SLOT_BITS.0;

/// The slots of all flows.
pub struct FineSlots {
    slots: Map<u32, fine_slots>,
    /// A queue.
    free: MapHandle,
}

impl sink_flow {
    /// The index of the flow's fine slots, if it has any.
    pub fn fine_index(&self) -> Option<u32> {
        self.fine_slots.checked_sub(1)
    }

    /// The counts of the flow's fine slots, which are these in their table, with the recent latencies.
    pub fn fine_counts(&self, slots: &fine_slots) -> [u32; FINE_SLOTS] {
        let mut counts = slots.count;
        for recent in self.recent.map(u32::from) {
            let slot = (recent & ((1 << RECENT_SLOT_BITS) - 1)) as usize;
            if let Some(count) = counts.get_mut(slot) {
                *count = count.wrapping_add(recent >> RECENT_SLOT_BITS);
            }
        }
        counts
    }

    /// The counts in powers of two of a flow without fine slots, with the recent latencies.
    pub fn coarse_counts(&self) -> [u32; LATENCY_SLOTS] {
        let recent = FlowSlots::fine(&self.fine_counts(&fine_slots::default())).powers();
        let counted = self.histogram;
        std::array::from_fn(|slot| counted[slot].wrapping_add(recent[slot]))
    }
}

/// The latency counts of a flow to whose record no packet is added any more. Without slots, its programs are older.
pub fn latency_counts(slots: Option<&FineSlots>, flow: &sink_flow) -> io::Result<FlowSlots> {
    match slots {
        Some(slots) => slots.of_flow(flow),
        None => Ok(FlowSlots::coarse(&flow.coarse_counts())),
    }
}

/// Does the same while packets may be added; returns the record for which the counts are right. Returns `None` if the
/// flow was removed.
pub fn read_latency_counts(
    slots: Option<&FineSlots>,
    flows: &Map<flow_key, sink_flow>,
    key: &flow_key,
    mut flow: sink_flow,
) -> io::Result<Option<(sink_flow, FlowSlots)>> {
    loop {
        let counts = latency_counts(slots, &flow)?;
        let Some(now) = flows.get(key)? else {
            return Ok(None);
        };
        // Otherwise the recent latencies may be in the slots, too, or in neither; or the record is another flow's.
        let is_whole = flow.recent_turn.is_multiple_of(2) && now.recent_turn == flow.recent_turn;
        if is_whole && now.fine_slots == flow.fine_slots && now.epoch_ns() == flow.epoch_ns() {
            return Ok(Some((flow, counts)));
        }
        flow = now;
    }
}

/// Leaves either all of the maps of flows and slots pinned or none, because flows know their slots by index. Returns true
/// if the slots will be new.
pub(super) fn match_pins(pins: &Pins) -> io::Result<bool> {
    let [flows, slots, free] = [SINK_FLOWS, SINK_FINE_SLOTS, SINK_FINE_FREE].map(|it| pins.map(it));
    if flows.exists() && slots.exists() && free.exists() {
        return Ok(false);
    }
    for path in [&slots, &free].into_iter().filter(|path| path.exists()) {
        remove(path)?;
    }
    // Flows of a version without fine slots stay.
    if let Some(known) = Map::<flow_key, sink_flow>::open(&flows)? {
        let mut used = false;
        known.for_each(|_, flow| used |= flow.fine_slots != 0)?;
        if used {
            log::warning(format_args!(
                "flows are tracked anew, because the number of those with fine slots changed"
            ));
            remove(&flows)?;
        }
    }
    Ok(true)
}

impl FineSlots {
    /// Wraps the maps of a program that was just loaded.
    pub fn of(slots: &MapMut<'_>, free: &MapMut<'_>) -> io::Result<Self> {
        Ok(Self {
            slots: Map::of(slots)?,
            free: MapHandle::try_from(free).map_err(io::Error::other)?,
        })
    }

    /// Opens the pinned maps. Returns `None` if there are none: the sink's programs are older.
    pub fn open(pins: &Pins) -> io::Result<Option<Self>> {
        let free = pins.map(SINK_FINE_FREE);
        let Some(slots) = Map::open(&pins.map(SINK_FINE_SLOTS))?.filter(|_| free.exists()) else {
            return Ok(None);
        };
        let free = MapHandle::from_pinned_path(&free).map_err(io::Error::other)?;
        Ok(Some(Self { slots, free }))
    }

    /// A second handle of the same maps.
    pub fn share(&self) -> io::Result<Self> {
        Ok(Self {
            slots: self.slots.share()?,
            free: MapHandle::try_from(&self.free).map_err(io::Error::other)?,
        })
    }

    /// The number of flows that can have fine slots.
    pub fn capacity(&self) -> u32 {
        self.slots.capacity()
    }

    /// The latency counts of a flow. Between the reading of its record and this one, its slots must not have been given
    /// back.
    fn of_flow(&self, flow: &sink_flow) -> io::Result<FlowSlots> {
        let slots = flow.fine_index().map(|index| self.slots.get(&index));
        Ok(match slots.transpose()?.flatten() {
            Some(slots) => FlowSlots::fine(&flow.fine_counts(&slots)),
            None => FlowSlots::coarse(&flow.coarse_counts()),
        })
    }

    /// Sets these slots to 0, and makes them free for new flows.
    pub fn give_back(&self, index: u32) -> io::Result<()> {
        self.slots.set(&index, &fine_slots::default())?;
        self.push(index)
    }

    fn push(&self, index: u32) -> io::Result<()> {
        self.free
            .update(&[], bytes_of(&index), MapFlags::ANY)
            .map_err(io::Error::other)
    }

    /// Makes the first slots free: no flow has any, because the maps are new.
    pub(super) fn free_first(&self, count: u32) -> io::Result<()> {
        (0..count).try_for_each(|index| self.push(index))
    }

    fn pop(&self) -> io::Result<Option<u32>> {
        let bytes = self.free.lookup_and_delete(&[]);
        let bytes = bytes.map_err(io::Error::other)?;
        Ok(bytes.as_deref().and_then(read_from))
    }

    /// Takes all slots that are free, so that flows which begin find none.
    pub fn take_all(&self) -> io::Result<Vec<u32>> {
        std::iter::from_fn(|| self.pop().transpose()).collect()
    }

    /// Returns the slots that are free. Each is taken from the head of the queue and put to its end, so that a flow that
    /// begins meanwhile finds others.
    pub fn list_free(&self) -> io::Result<HashSet<u32>> {
        let mut free = HashSet::new();
        while let Some(index) = self.pop()? {
            self.push(index)?;
            if !free.insert(index) {
                break;
            }
        }
        Ok(free)
    }
}
