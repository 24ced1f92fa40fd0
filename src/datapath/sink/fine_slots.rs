//! The fine latency slots of the sink's flows, and the indices of those that are free.

use std::collections::HashSet;
use std::io;

use libbpf_rs::{MapCore, MapFlags, MapHandle, MapMut};

use crate::datapath::abi::{bytes_of, fine_slots, flow_key, read_from, sink_flow};
use crate::datapath::kernel::map_names::{SINK_FINE_FREE, SINK_FINE_SLOTS, SINK_FLOWS};
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::pins::{Pins, remove};
use crate::datapath::kernel::whole_reading::read_whole;
use crate::model::FlowSlots;
use crate::os::log;

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
}

/// Leaves either all of the maps of flows and slots pinned or none, because flows know their slots by index. Returns true
/// if the slots will be new.
pub(in crate::datapath) fn match_pins(pins: &Pins) -> io::Result<bool> {
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
    pub(in crate::datapath) fn of(slots: &MapMut<'_>, free: &MapMut<'_>) -> io::Result<Self> {
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
    pub fn of_flow(&self, flow: &sink_flow) -> io::Result<FlowSlots> {
        let slots = flow.fine_index().map(|index| self.slots.get(&index));
        Ok(match slots.transpose()?.flatten() {
            Some(slots) => FlowSlots::fine(&slots.count),
            None => FlowSlots::coarse(&flow.histogram),
        })
    }

    /// A flow and its latency counts as they were at one time. `found` is its record as it was read before.
    pub fn of_whole_flow(
        &self,
        flows: &Map<flow_key, sink_flow>,
        key: &flow_key,
        found: &sink_flow,
    ) -> io::Result<(sink_flow, FlowSlots)> {
        let counts = |flow: &sink_flow| {
            (
                flow.all_packets(),
                flow.all_latency_sum_ns(),
                flow.epoch_ns(),
            )
        };
        read_whole(
            *found,
            |one, other| counts(one) == counts(other),
            |flow| self.of_flow(flow),
            || {
                // If it has other slots now, those that were its may be another flow's.
                let now = flows.get(key)?;
                Ok(now.filter(|now| now.fine_slots == found.fine_slots))
            },
        )
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
    pub(in crate::datapath) fn free_first(&self, count: u32) -> io::Result<()> {
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
