//! Walks over a kernel map, a batch of entries at a time: nothing but the batch is in memory, and the next one goes on from there.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use libbpf_rs::libbpf_sys;

use crate::datapath::abi::{Abi, bytes_of};

/// A hash bucket with more entries than this is not read.
const LARGEST_BATCH: usize = 1 << 20;
/// What the kernel answers for a kind of map that has no batches; errno.h of user space does not have it.
const ENOTSUPP: i32 = 524;

/// A walk over one map. An entry that is added or removed meanwhile may be visited or not.
pub struct Batches<K, V> {
    keys: Vec<K>,
    values: Vec<V>,
    place: Reached<K>,
    /// The flags of the lookup.
    flags: u64,
}

/// Where the next batch begins.
enum Reached<K> {
    Begin,
    /// The kernel's word for it: opaque, never larger than a key or 8 bytes.
    At([u8; 64]),
    /// The kernel has no batches, or refuses them: behind this key, and how many entries were visited.
    Behind(Option<K>, u32),
}

impl<K: Abi, V: Abi> Batches<K, V> {
    /// A walk by at least `batch` entries at a time.
    pub fn of(batch: usize) -> Self {
        Self {
            keys: vec![K::default(); batch],
            values: vec![V::default(); batch],
            place: Reached::Begin,
            flags: 0,
        }
    }

    /// The same; each entry is read under its lock.
    pub fn locked(batch: usize) -> Self {
        Self {
            flags: libbpf_sys::BPF_F_LOCK.into(),
            ..Self::of(batch)
        }
    }

    /// Reads the next batch from the map, which is always the same one and has these types of keys and values.
    ///
    /// Returns its entries, and whether the map's end was reached. After the end a new walk begins.
    pub fn next(
        &mut self,
        map: BorrowedFd<'_>,
        capacity: u32,
    ) -> io::Result<(impl Iterator<Item = (&K, &V)>, bool)> {
        let (count, end) = match self.place {
            Reached::Behind(..) => self.step_by_keys(map, capacity)?,
            _ => match self.look_up(map) {
                Err(err) if self.is_without_batches(&err) => {
                    self.place = Reached::Behind(None, 0);
                    self.step_by_keys(map, capacity)?
                }
                result => result?,
            },
        };
        if end {
            self.place = Reached::Begin;
        }
        Ok((self.keys.iter().zip(&self.values).take(count), end))
    }

    /// True if the first batch was refused for what it is, and not for what is in the map.
    fn is_without_batches(&self, err: &io::Error) -> bool {
        let refused = [
            nix::libc::EPERM,
            nix::libc::EINVAL,
            nix::libc::EOPNOTSUPP,
            ENOTSUPP,
        ];
        matches!(self.place, Reached::Begin)
            && err
                .raw_os_error()
                .is_some_and(|code| refused.contains(&code))
    }

    fn look_up(&mut self, map: BorrowedFd<'_>) -> io::Result<(usize, bool)> {
        let options = libbpf_sys::bpf_map_batch_opts {
            sz: size_of::<libbpf_sys::bpf_map_batch_opts>() as _,
            elem_flags: self.flags,
            flags: 0,
        };
        loop {
            let mut count = self.keys.len() as u32;
            let (mut next, from) = match &mut self.place {
                Reached::At(place) => (*place, place.as_mut_ptr()),
                _ => ([0; 64], std::ptr::null_mut()),
            };
            // SAFETY: keys and values have room for `count` entries of the map's sizes (checked by the map's type), the places
            // are large enough for every map's; all outlive the call.
            let result = unsafe {
                libbpf_sys::bpf_map_lookup_batch(
                    map.as_raw_fd(),
                    from.cast(),
                    next.as_mut_ptr().cast(),
                    self.keys.as_mut_ptr().cast(),
                    self.values.as_mut_ptr().cast(),
                    &mut count,
                    &options,
                )
            };
            match -result {
                0 => {
                    self.place = Reached::At(next);
                    return Ok((count as usize, false));
                }
                nix::libc::ENOENT => return Ok((count as usize, true)),
                // The next hash bucket holds more entries than a batch. The kernel read none of them, so that a larger
                // batch goes on from the same place.
                nix::libc::ENOSPC if self.keys.len() < LARGEST_BATCH => {
                    let larger = self.keys.len() * 2;
                    self.keys.resize(larger, K::default());
                    self.values.resize(larger, V::default());
                }
                code => return Err(io::Error::from_raw_os_error(code)),
            }
        }
    }

    /// Two system calls an entry. The kernel begins again where a key is gone behind which the next one is asked for, so that the
    /// number of visits is limited.
    fn step_by_keys(&mut self, map: BorrowedFd<'_>, capacity: u32) -> io::Result<(usize, bool)> {
        let Reached::Behind(mut behind, mut visited) = self.place else {
            return Ok((0, true));
        };
        let mut count = 0;
        while count < self.keys.len() {
            let before = behind
                .as_ref()
                .map_or(std::ptr::null(), |key| bytes_of(key).as_ptr());
            let mut key = K::default();
            // SAFETY: both keys have the size of the map's, or there is none before the first; they outlive the call.
            let found = unsafe {
                libbpf_sys::bpf_map_get_next_key(
                    map.as_raw_fd(),
                    before.cast(),
                    (&raw mut key).cast(),
                )
            };
            match -found {
                0 => {}
                nix::libc::ENOENT => return Ok((count, true)),
                code => return Err(io::Error::from_raw_os_error(code)),
            }
            visited += 1;
            if visited > capacity.saturating_mul(2) {
                return Ok((count, true));
            }
            behind = Some(key);
            // SAFETY: key and value have the sizes of the map's, and outlive the call.
            let read = unsafe {
                libbpf_sys::bpf_map_lookup_elem_flags(
                    map.as_raw_fd(),
                    (&raw const key).cast(),
                    (&raw mut self.values[count]).cast(),
                    self.flags,
                )
            };
            match -read {
                0 => {
                    self.keys[count] = key;
                    count += 1;
                }
                // It was removed since.
                nix::libc::ENOENT => {}
                code => return Err(io::Error::from_raw_os_error(code)),
            }
        }
        self.place = Reached::Behind(behind, visited);
        Ok((count, false))
    }
}

/// Reads a batch of an empty map from `u32` to `u32`.
pub(in crate::datapath) fn try_one(map: BorrowedFd<'_>) -> io::Result<()> {
    Batches::<u32, u32>::of(1).look_up(map).map(drop)
}
