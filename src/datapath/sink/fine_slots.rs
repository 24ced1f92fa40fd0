//! The fine latency slots of the sink's flows, and the indices of those that are free.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use libbpf_rs::{MapCore, MapFlags, MapHandle, MapMut, MapType};

use crate::datapath::abi::{
    bytes_of, fine_slots, fine_slots_shape, flow_key, read_from, sink_flow,
};
use crate::datapath::kernel::map_names::{SINK_FINE_FREE, SINK_FINE_SLOTS, SINK_FLOWS};
use crate::datapath::kernel::maps::Map;
use crate::datapath::kernel::pins::{Pins, remove};
use crate::datapath::kernel::whole_reading::read_whole;
use crate::model::FlowSlots;
use crate::os::log;

/// The number of flows whose slots take their memory together.
pub const FINE_CHUNK: u32 = fine_slots_shape::FINE_CHUNK.0;

/// The slots of all flows.
pub struct FineSlots {
    /// The programs find a chunk by its number.
    chunks: MapHandle,
    /// A queue.
    free: MapHandle,
    /// Each chunk is pinned, too, because only an administrator's process may open it by what `chunks` has.
    pins: Pins,
    /// The chunks that were opened, in order.
    open: Mutex<Vec<Map<u32, fine_slots>>>,
}

fn chunk_path(pins: &Pins, number: u32) -> PathBuf {
    pins.map(&format!("{SINK_FINE_SLOTS}_{number}"))
}

/// Removes the pins of all chunks.
pub(in crate::datapath) fn remove_chunks(pins: &Pins) -> io::Result<()> {
    let own = pins.map(SINK_FINE_SLOTS);
    let folders = pins.other_versions()?.into_iter();
    let folders = folders.chain(own.parent().map(PathBuf::from));
    for entry in folders
        .filter_map(|folder| fs::read_dir(folder).ok())
        .flatten()
    {
        let entry = entry?;
        let name = entry.file_name();
        let rest = name
            .to_str()
            .and_then(|name| name.strip_prefix(SINK_FINE_SLOTS));
        if rest.is_some_and(|rest| rest.starts_with('_')) {
            remove(&entry.path())?;
        }
    }
    Ok(())
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
    if flows.exists() && slots.exists() && free.exists() && chunk_path(pins, 0).exists() {
        return Ok(false);
    }
    remove_chunks(pins)?;
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
    pub(in crate::datapath) fn of(
        pins: &Pins,
        chunks: &MapMut<'_>,
        free: &MapMut<'_>,
    ) -> io::Result<Self> {
        let found = Self {
            chunks: MapHandle::try_from(chunks).map_err(io::Error::other)?,
            free: MapHandle::try_from(free).map_err(io::Error::other)?,
            pins: pins.clone(),
            open: Mutex::default(),
        };
        // A process that was killed may have pinned a chunk, and no more.
        if let Some(last) = found.made_chunks()?.checked_sub(1) {
            found.hand_over(last)?;
        }
        Ok(found)
    }

    /// Opens the pinned maps. Returns `None` if there are none: the sink's programs are older.
    pub fn open(pins: &Pins) -> io::Result<Option<Self>> {
        let paths = [SINK_FINE_SLOTS, SINK_FINE_FREE].map(|name| pins.map(name));
        if !paths.iter().all(|path| path.exists()) || !chunk_path(pins, 0).exists() {
            return Ok(None);
        }
        let open = |path: &PathBuf| MapHandle::from_pinned_path(path).map_err(io::Error::other);
        Ok(Some(Self {
            chunks: open(&paths[0])?,
            free: open(&paths[1])?,
            pins: pins.clone(),
            open: Mutex::default(),
        }))
    }

    /// A second handle of the same maps.
    pub fn share(&self) -> io::Result<Self> {
        Ok(Self {
            chunks: MapHandle::try_from(&self.chunks).map_err(io::Error::other)?,
            free: MapHandle::try_from(&self.free).map_err(io::Error::other)?,
            pins: self.pins.clone(),
            open: Mutex::default(),
        })
    }

    /// The number of flows that can have fine slots, once all chunks are made.
    pub fn capacity(&self) -> u32 {
        self.free.max_entries()
    }

    /// The number of flows for which there are slots.
    pub fn made(&self) -> io::Result<u32> {
        let slots = self.made_chunks()?.saturating_mul(FINE_CHUNK);
        Ok(slots.min(self.capacity()))
    }

    fn made_chunks(&self) -> io::Result<u32> {
        self.open_until(u32::MAX, |open| Ok(open.len() as u32))
    }

    /// Opens the chunks up to this one, as far as they are there.
    fn open_until<T>(
        &self,
        number: u32,
        then: impl FnOnce(&[Map<u32, fine_slots>]) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        while open.len() as u64 <= u64::from(number)
            && let Some(chunk) = Map::open(&chunk_path(&self.pins, open.len() as u32))?
        {
            open.push(chunk);
        }
        then(&open)
    }

    /// Lets `then` use the chunk of these slots, with their key in it. Returns `None` if there is no such chunk.
    fn at<T>(
        &self,
        index: u32,
        then: impl FnOnce(&Map<u32, fine_slots>, u32) -> io::Result<T>,
    ) -> io::Result<Option<T>> {
        self.open_until(index / FINE_CHUNK, |open| {
            let chunk = open.get((index / FINE_CHUNK) as usize);
            chunk
                .map(|chunk| then(chunk, index % FINE_CHUNK))
                .transpose()
        })
    }

    /// The counts at this index.
    pub fn get(&self, index: u32) -> io::Result<Option<fine_slots>> {
        Ok(self.at(index, |chunk, key| chunk.get(&key))?.flatten())
    }

    /// Sets the counts at this index.
    pub fn set(&self, index: u32, counts: &fine_slots) -> io::Result<()> {
        self.at(index, |chunk, key| chunk.set(&key, counts))?;
        Ok(())
    }

    /// Makes the slots of more flows, and makes them free.
    pub(in crate::datapath) fn add_chunk(&self) -> io::Result<()> {
        let number = self.made_chunks()?;
        let first = number * FINE_CHUNK;
        let path = chunk_path(&self.pins, number);
        Map::<u32, fine_slots>::open_or_create(&path, MapType::Array, FINE_CHUNK)?;
        self.hand_over(number)?;
        let indices = first..self.capacity().min(first + FINE_CHUNK);
        indices.into_iter().try_for_each(|index| self.push(index))
    }

    /// Gives the programs a chunk.
    fn hand_over(&self, number: u32) -> io::Result<()> {
        let chunk = self.at(number * FINE_CHUNK, |chunk, _| {
            let fd = chunk.fd().as_raw_fd().to_ne_bytes();
            let handed = self.chunks.update(bytes_of(&number), &fd, MapFlags::ANY);
            handed.map_err(io::Error::other)
        })?;
        chunk.ok_or_else(|| io::Error::other("the sink's maps are no longer pinned"))
    }

    /// Makes more slots if few are free. Returns how many flows may begin until this should be looked at again.
    pub fn make_room(&self) -> io::Result<u64> {
        loop {
            let made = self.made()?;
            if made >= self.capacity() {
                return Ok(u64::MAX);
            }
            let (free, few) = (self.list_free()?.len() as u32, made / 4);
            if let Some(enough) = free
                .checked_sub(few.max(FINE_CHUNK / 2))
                .filter(|it| *it > 0)
            {
                return Ok(enough.into());
            }
            self.add_chunk()?;
        }
    }

    /// The latency counts of a flow. Between the reading of its record and this one, its slots must not have been given
    /// back.
    pub fn of_flow(&self, flow: &sink_flow) -> io::Result<FlowSlots> {
        let slots = flow.fine_index().map(|index| self.get(index));
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
        self.set(index, &fine_slots::default())?;
        self.push(index)
    }

    fn push(&self, index: u32) -> io::Result<()> {
        self.free
            .update(&[], bytes_of(&index), MapFlags::ANY)
            .map_err(io::Error::other)
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
