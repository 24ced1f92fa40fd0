//! The source's list of destinations, live in the kernel.

use std::io;
use std::net::IpAddr;

use super::abi::{DEST_NAME_SIZE, dest_flag, dest_key, dest_value};
use super::maps::Map;
use super::pins::Pins;
use crate::model::{Dest, Prefix};

/// The list of destinations whose flows are tagged.
pub struct Dests(Map<dest_key, dest_value>);

/// The bits of a key's family word count too.
const FAMILY_BITS: u32 = 32;

pub(super) fn key_of(prefix: Prefix) -> dest_key {
    let (family, octets) = match prefix.addr() {
        IpAddr::V4(v4) => (4_u32, v4.octets().to_vec()),
        IpAddr::V6(v6) => (6, v6.octets().to_vec()),
    };
    let mut addr = [0; 4];
    for (to, word) in addr.iter_mut().zip(octets.chunks_exact(4)) {
        *to = u32::from_ne_bytes([word[0], word[1], word[2], word[3]]);
    }
    dest_key {
        prefix_len: FAMILY_BITS + u32::from(prefix.len()),
        family: family.to_be(),
        addr,
    }
}

pub(super) fn prefix_of(key: &dest_key) -> Option<Prefix> {
    let addr: IpAddr = match u32::from_be(key.family) {
        4 => key.addr[0].to_ne_bytes().into(),
        6 => {
            let mut bytes = [0; 16];
            for (to, word) in bytes.chunks_exact_mut(4).zip(key.addr) {
                to.copy_from_slice(&word.to_ne_bytes());
            }
            bytes.into()
        }
        _ => return None,
    };
    let len = u8::try_from(key.prefix_len.checked_sub(FAMILY_BITS)?).ok()?;
    Prefix::new(addr, len).ok()
}

impl Dests {
    /// The list pinned on this host, if a source was set up.
    pub fn open(pins: &Pins) -> io::Result<Option<Self>> {
        Ok(Map::open(&pins.map(super::source::DESTS_MAP))?.map(Self))
    }

    /// Watches a prefix, under the name that the user gave. `fixed`: its packets are tagged whether a sink
    /// answers or not.
    pub fn add(&self, prefix: Prefix, name: &str, fixed: bool) -> io::Result<()> {
        let mut value = dest_value {
            name: [0; DEST_NAME_SIZE],
            flags: if fixed { dest_flag::DEST_STATIC.0 } else { 0 },
        };
        let bytes = name.as_bytes();
        let len = bytes.len().min(DEST_NAME_SIZE - 1);
        value.name[..len].copy_from_slice(&bytes[..len]);
        self.0.set(&key_of(prefix), &value)
    }

    /// Ends watching a prefix; false if it was not watched.
    pub fn remove(&self, prefix: Prefix) -> io::Result<bool> {
        self.0.remove(&key_of(prefix))
    }

    /// All of them.
    pub fn all(&self) -> io::Result<Vec<Dest>> {
        let mut found = Vec::new();
        for key in self.0.keys() {
            let (Some(prefix), Some(value)) = (prefix_of(&key), self.0.get(&key)?) else {
                continue;
            };
            let end = value.name.iter().position(|byte| *byte == 0).unwrap_or(0);
            let name = String::from_utf8_lossy(&value.name[..end]).into_owned();
            found.push(Dest {
                prefix,
                name,
                fixed: value.flags & dest_flag::DEST_STATIC.0 != 0,
            });
        }
        found.sort();
        Ok(found)
    }
}
