//! The handover from another version of hostint, whose maps have another layout: counts go on, the watchlist and leases
//! stay, flow tables start empty.

use std::io;
use std::path::{Path, PathBuf};

use libbpf_rs::{MapCore, MapFlags, MapHandle, MapType};

use super::map_names::{
    FORMER_COUNTERS, PEER_COUNTERS, SINK_COUNTERS, SOURCE_COUNTERS, TRANSIT_COUNTERS,
};
use super::maps::Map;
use super::pins::{Pins, remove};
use crate::datapath::abi::{Abi, bytes_of, counter, read_from};

/// The maps of counters that go on, each with its role's number in the map of former counts.
const COUNTERS: [(&str, u32); 4] = [
    (SINK_COUNTERS, 1),
    (SOURCE_COUNTERS, 2),
    (PEER_COUNTERS, 3),
    (TRANSIT_COUNTERS, 4),
];

/// The counts of former versions.
pub struct FormerCounts(Map<u32, counter>);

fn slot(map: &str, index: u32) -> Option<u32> {
    let (_, role) = COUNTERS.into_iter().find(|(name, _)| *name == map)?;
    Some(role << 16 | index)
}

impl FormerCounts {
    /// Returns `None` if there was no other version.
    pub fn open(pins: &Pins) -> io::Result<Option<Self>> {
        Ok(Map::open(&pins.map(FORMER_COUNTERS))?.map(Self))
    }

    fn open_or_create(pins: &Pins) -> io::Result<Self> {
        let path = pins.map(FORMER_COUNTERS);
        Map::open_or_create(&path, MapType::Hash, 1024).map(Self)
    }

    /// The former count of a counter of this map.
    pub fn get(&self, map: &str, index: u32) -> io::Result<counter> {
        match slot(map, index) {
            Some(slot) => Ok(self.0.get(&slot)?.unwrap_or_default()),
            None => Ok(counter::default()),
        }
    }

    fn add(&self, slot: u32, more: counter) -> io::Result<()> {
        let mut sum = self.0.get(&slot)?.unwrap_or_default();
        sum.packets += more.packets;
        sum.bytes += more.bytes;
        self.0.set(&slot, &sum)
    }
}

/// Returns the paths at which other versions pinned a map.
fn others(pins: &Pins, name: &str) -> io::Result<Vec<PathBuf>> {
    Ok(pins
        .other_versions()?
        .iter()
        .map(|folder| folder.join(name))
        .filter(|path| path.exists())
        .collect())
}

/// Copies another version's map into this version's, which was just made. Keys have the same layout in all versions,
/// and values only grow at their end.
pub fn copy(pins: &Pins, name: &str) -> io::Result<()> {
    let Some(path) = others(pins, name)?.pop() else {
        return Ok(());
    };
    let open = |path: &Path| MapHandle::from_pinned_path(path).map_err(io::Error::other);
    let (old, new) = (open(&path)?, open(&pins.map(name))?);
    if old.key_size() != new.key_size() || old.map_type() != new.map_type() {
        return Ok(());
    }
    for key in old.keys() {
        let Some(mut value) = old.lookup(&key, MapFlags::ANY).map_err(io::Error::other)? else {
            continue;
        };
        value.resize(new.value_size() as usize, 0);
        // A shorter array has no room for indices that only the other version knows.
        let _ = new.update(&key, &value, MapFlags::ANY);
    }
    Ok(())
}

/// Returns the entries of another version's map in this version's layout.
pub fn entries<K: Abi, V: Abi>(pins: &Pins, name: &str) -> io::Result<Vec<(K, V)>> {
    let mut found = Vec::new();
    let Some(path) = others(pins, name)?.pop() else {
        return Ok(found);
    };
    let old = MapHandle::from_pinned_path(&path).map_err(io::Error::other)?;
    for key in old.keys() {
        let value = old.lookup(&key, MapFlags::ANY).map_err(io::Error::other)?;
        let mut value = value.unwrap_or_default();
        value.resize(value.len().max(size_of::<V>()), 0);
        if let (Some(key), Some(value)) = (read_from(&key), read_from(&value)) {
            found.push((key, value));
        }
    }
    Ok(found)
}

/// Returns the path at which this version, or else another one, pinned a map.
pub fn find(pins: &Pins, name: &str) -> io::Result<Option<PathBuf>> {
    let own = pins.map(name);
    if own.exists() {
        return Ok(Some(own));
    }
    Ok(others(pins, name)?.pop())
}

/// Adds the counts of other versions to this one's and removes their pins. None of their programs may be attached any
/// more.
pub fn take_over(pins: &Pins, names: &[&str]) -> io::Result<()> {
    for name in names {
        for path in others(pins, name)? {
            carry_over(pins, name, &path)?;
            remove(&path)?;
        }
    }
    for path in others(pins, FORMER_COUNTERS)? {
        if let Some(old) = Map::<u32, counter>::open(&path)? {
            let before = FormerCounts::open_or_create(pins)?;
            let keys: Vec<u32> = old.keys().collect();
            for key in keys {
                before.add(key, old.get(&key)?.unwrap_or_default())?;
            }
        }
        remove(&path)?;
    }
    pins.remove_empty_versions();
    Ok(())
}

fn carry_over(pins: &Pins, name: &str, path: &Path) -> io::Result<()> {
    if slot(name, 0).is_none() {
        return Ok(());
    }
    let before = FormerCounts::open_or_create(pins)?;
    for (index, sum) in (0..).zip(sums(path)?) {
        if let (Some(slot), true) = (slot(name, index), sum.packets + sum.bytes > 0) {
            before.add(slot, sum)?;
        }
    }
    Ok(())
}

/// The counters of a map, each summed over the CPUs.
fn sums(path: &Path) -> io::Result<Vec<counter>> {
    let map = MapHandle::from_pinned_path(path).map_err(io::Error::other)?;
    let mut found = Vec::new();
    for index in 0..map.max_entries() {
        let values = map
            .lookup_percpu(bytes_of(&index), MapFlags::ANY)
            .map_err(io::Error::other)?;
        let mut sum = counter::default();
        for cpu in values.iter().flatten() {
            let cpu = read_from::<counter>(cpu).unwrap_or_default();
            sum.packets += cpu.packets;
            sum.bytes += cpu.bytes;
        }
        found.push(sum);
    }
    Ok(found)
}

/// Returns the counts of another version whose programs still run, or ran until just now.
pub fn counted_by_others(pins: &Pins, name: &str) -> io::Result<Vec<counter>> {
    let mut all = match others(pins, name)?.pop() {
        Some(path) => sums(&path)?,
        None => Vec::new(),
    };
    // That version had taken over counts itself.
    for (key, more) in entries::<u32, counter>(pins, FORMER_COUNTERS)? {
        if slot(name, key & 0xffff) == Some(key) {
            let index = (key & 0xffff) as usize;
            all.resize(all.len().max(index + 1), counter::default());
            all[index].packets += more.packets;
            all[index].bytes += more.bytes;
        }
    }
    Ok(all)
}

/// Removes the counts of former versions once no role is left on this host.
pub fn forget_if_unused(pins: &Pins) -> io::Result<()> {
    if COUNTERS.iter().any(|(name, _)| pins.map(name).exists()) {
        return Ok(());
    }
    pins.remove_maps(&[FORMER_COUNTERS])
}
