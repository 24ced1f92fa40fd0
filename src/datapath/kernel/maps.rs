//! Kernel maps with typed keys and values.

use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::Path;
use std::sync::Arc;

use libbpf_rs::{MapCore, MapFlags, MapHandle, MapMut, MapType, libbpf_sys};

use super::batches::{self, Batches};
use super::held_maps;
use crate::datapath::abi::{Abi, bytes_of, read_from};
use crate::os::{clock, log};

/// Entries of a hash map that one system call reads.
const BATCH: usize = 1024;

/// A kernel map from `K` to `V`.
pub struct Map<K, V> {
    handle: Arc<MapHandle>,
    types: PhantomData<(K, V)>,
}

fn io_error(err: libbpf_rs::Error) -> io::Error {
    io::Error::new(err_kind(&err), err.to_string())
}

fn err_kind(err: &libbpf_rs::Error) -> io::ErrorKind {
    match err.kind() {
        libbpf_rs::ErrorKind::NotFound => io::ErrorKind::NotFound,
        libbpf_rs::ErrorKind::PermissionDenied => io::ErrorKind::PermissionDenied,
        libbpf_rs::ErrorKind::AlreadyExists => io::ErrorKind::AlreadyExists,
        libbpf_rs::ErrorKind::InvalidInput => io::ErrorKind::InvalidInput,
        _ => io::ErrorKind::Other,
    }
}

impl<K: Abi, V: Abi> Map<K, V> {
    /// Wraps a loaded or pinned map.
    ///
    /// # Errors
    /// Key or value have another size: another version made the map.
    pub fn new(handle: MapHandle) -> io::Result<Self> {
        Self::held(Arc::new(handle))
    }

    fn held(handle: Arc<MapHandle>) -> io::Result<Self> {
        if handle.key_size() as usize != size_of::<K>()
            || handle.value_size() as usize != size_of::<V>()
        {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!(
                    "map {} was made by another version of hostint",
                    handle.name().to_string_lossy()
                ),
            ));
        }
        Ok(Self {
            handle,
            types: PhantomData,
        })
    }

    /// Wraps the map of a program that was just loaded.
    pub fn of(map: &MapMut<'_>) -> io::Result<Self> {
        Self::new(MapHandle::try_from(map).map_err(io_error)?)
    }

    /// Opens the map pinned at a path. Returns `None` if there is none.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        let handle = held_maps::open(path).map_err(io_error)?;
        handle.map(Self::held).transpose()
    }

    /// Opens the map pinned at a path. If there is none, makes one that no program uses, under the path's last name.
    pub fn open_or_create(path: &Path, kind: MapType, capacity: u32) -> io::Result<Self> {
        if let Some(map) = Self::open(path)? {
            return Ok(map);
        }
        let options = libbpf_sys::bpf_map_create_opts {
            sz: size_of::<libbpf_sys::bpf_map_create_opts>() as _,
            map_flags: match kind {
                // Memory is taken for entries that there are.
                MapType::Hash => libbpf_sys::BPF_F_NO_PREALLOC,
                _ => 0,
            },
            ..Default::default()
        };
        let mut map = MapHandle::create(
            kind,
            path.file_name(),
            size_of::<K>() as u32,
            size_of::<V>() as u32,
            capacity,
            &options,
        )
        .map_err(io::Error::other)?;
        map.pin(path).map_err(io::Error::other)?;
        log::debug(|| format!("made the map {}", path.display()));
        Self::new(map)
    }

    /// Returns the most entries that the map can hold.
    pub fn capacity(&self) -> u32 {
        self.handle.max_entries()
    }

    /// Returns the map's id in the kernel.
    pub fn id(&self) -> io::Result<u32> {
        Ok(self.handle.info().map_err(io_error)?.info.id)
    }

    pub(in crate::datapath) fn fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }

    /// Returns a key's value.
    pub fn get(&self, key: &K) -> io::Result<Option<V>> {
        let bytes = self
            .handle
            .lookup(bytes_of(key), MapFlags::ANY)
            .map_err(io_error)?;
        Ok(bytes.as_deref().and_then(read_from))
    }

    /// Returns a key's value on each CPU.
    pub fn get_per_cpu(&self, key: &K) -> io::Result<Vec<V>> {
        let values = self
            .handle
            .lookup_percpu(bytes_of(key), MapFlags::ANY)
            .map_err(io_error)?;
        Ok(values
            .unwrap_or_default()
            .iter()
            .filter_map(|bytes| read_from(bytes))
            .collect())
    }

    /// Sets a key's value.
    pub fn set(&self, key: &K, value: &V) -> io::Result<()> {
        self.handle
            .update(bytes_of(key), bytes_of(value), MapFlags::ANY)
            .map_err(io_error)
    }

    /// Sets a key's value on each CPU.
    pub fn set_per_cpu(&self, key: &K, values: &[V]) -> io::Result<()> {
        let values: Vec<Vec<u8>> = values
            .iter()
            .map(|value| bytes_of(value).to_vec())
            .collect();
        self.handle
            .update_percpu(bytes_of(key), &values, MapFlags::ANY)
            .map_err(io_error)
    }

    /// Removes a key. Returns false if it was not there.
    pub fn remove(&self, key: &K) -> io::Result<bool> {
        match self.handle.delete(bytes_of(key)) {
            Ok(()) => Ok(true),
            Err(err) if err.kind() == libbpf_rs::ErrorKind::NotFound => Ok(false),
            Err(err) => Err(io_error(err)),
        }
    }

    /// Iterates over all keys by one system call each, which suits small maps of any type.
    pub fn keys(&self) -> impl Iterator<Item = K> + '_ {
        self.handle.keys().filter_map(|bytes| read_from(&bytes))
    }

    /// Calls `visit` for each entry of a hash map.
    pub fn for_each(&self, visit: impl FnMut(K, V)) -> io::Result<()> {
        self.for_each_in_batches(BATCH, visit)
    }

    /// The same, with at least `batch` entries for each system call. An entry that another process adds or removes
    /// meanwhile may be visited or not.
    pub fn for_each_in_batches(&self, batch: usize, visit: impl FnMut(K, V)) -> io::Result<()> {
        self.visit(Batches::of(batch), visit)
    }

    /// Calls `visit` for each of at most `most` entries, each read under its lock.
    pub fn for_each_locked(&self, most: usize, visit: impl FnMut(K, V)) -> io::Result<()> {
        self.visit(Batches::locked(most), visit)
    }

    fn visit(&self, mut batches: Batches<K, V>, mut visit: impl FnMut(K, V)) -> io::Result<()> {
        loop {
            let (entries, end) = batches.next(self.fd(), self.capacity())?;
            for (key, value) in entries {
                visit(*key, *value);
            }
            if end {
                return Ok(());
            }
        }
    }

    /// Calls `is_idle` for each entry of a hash map, and removes those for which it returns true.
    pub fn sweep(&self, mut is_idle: impl FnMut(&K, &V) -> bool) -> io::Result<()> {
        let mut idle = Vec::new();
        self.for_each(|key, value| {
            if is_idle(&key, &value) {
                idle.push(key);
            }
        })?;
        for key in idle {
            self.remove(&key)?;
        }
        Ok(())
    }

    /// Calls `visit` for each entry of a table of flows, and removes those without a packet for this time. In a table
    /// that is three quarters full a quarter of the time is enough.
    pub fn sweep_flows(
        &self,
        idle_ns: u64,
        last_ns: impl Fn(&V) -> u64,
        mut visit: impl FnMut(&K, &V),
    ) -> io::Result<()> {
        let now_ns = clock::monotonic_ns();
        let (before, crowded) = (
            now_ns.saturating_sub(idle_ns),
            now_ns.saturating_sub(idle_ns / 4),
        );
        let mut kept = 0;
        self.sweep(|key, flow| {
            visit(key, flow);
            let is_idle = last_ns(flow) < before;
            kept += u32::from(!is_idle);
            is_idle
        })?;
        if kept > self.capacity() / 4 * 3 {
            // All of them were visited just now.
            self.sweep(|_, flow| last_ns(flow) < crowded)?;
        }
        Ok(())
    }

    /// Removes all entries of a hash map whose keys match.
    pub fn remove_where(&self, fits: impl Fn(&K) -> bool) -> io::Result<()> {
        self.sweep(|key, _| fits(key))
    }

    /// True if both are handles of one map that was opened once.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.handle, &other.handle)
    }

    /// Returns a second handle of the same map.
    pub fn share(&self) -> Self {
        Self {
            handle: Arc::clone(&self.handle),
            types: PhantomData,
        }
    }
}

impl<V: Abi> Map<u32, V> {
    /// Sets consecutive values of an array, beginning at `first`, by one system call where the kernel can do that.
    pub fn set_from(&self, first: u32, values: &[V]) -> io::Result<()> {
        let mut count = values.len() as u32;
        if count == 0 {
            return Ok(());
        }
        let keys: Vec<u32> = (first..).take(values.len()).collect();
        // SAFETY: keys and values are `count` entries of the map's sizes (checked in `new`); all outlive the call.
        let result = unsafe {
            libbpf_sys::bpf_map_update_batch(
                self.handle.as_fd().as_raw_fd(),
                keys.as_ptr().cast(),
                values.as_ptr().cast(),
                &mut count,
                std::ptr::null(),
            )
        };
        if result == 0 {
            return Ok(());
        }
        for (key, value) in keys.iter().zip(values) {
            self.set(key, value)?;
        }
        Ok(())
    }
}

/// Reads a map of one entry in batches, to find out whether this kernel lets maps be read so.
pub fn try_batches() -> io::Result<()> {
    let options = libbpf_sys::bpf_map_create_opts {
        sz: size_of::<libbpf_sys::bpf_map_create_opts>() as _,
        ..Default::default()
    };
    let map = MapHandle::create(MapType::Hash, None::<&str>, 4, 4, 1, &options)
        .map_err(io::Error::other)?;
    batches::try_one(map.as_fd())
}
