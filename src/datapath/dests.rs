//! The source's list of destinations, live in the kernel.

use std::io;
use std::net::Ipv4Addr;

use super::abi::{DEST_NAME_SIZE, dest_key, dest_value};
use super::events::{address, address_word};
use super::maps::Map;
use super::pins::Pins;
use crate::model::Prefix;

/// The list of destinations whose flows are tagged.
pub struct Dests(Map<dest_key, dest_value>);

fn key_of(prefix: Prefix) -> dest_key {
    dest_key {
        prefix_len: prefix.len().into(),
        addr: address_word(prefix.addr()),
    }
}

impl Dests {
    /// The list pinned on this host, if a source was set up.
    pub fn open(pins: &Pins) -> io::Result<Option<Self>> {
        Ok(Map::open(&pins.map(super::source::DESTS_MAP))?.map(Self))
    }

    /// Watches a prefix, under the name that the user gave.
    pub fn add(&self, prefix: Prefix, name: &str) -> io::Result<()> {
        let mut value = dest_value {
            name: [0; DEST_NAME_SIZE],
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

    /// All prefixes and the names they were added under.
    pub fn all(&self) -> io::Result<Vec<(Prefix, String)>> {
        let mut found = Vec::new();
        for key in self.0.keys() {
            let Some(value) = self.0.get(&key)? else {
                continue;
            };
            let len = u8::try_from(key.prefix_len).unwrap_or(32);
            let addr: Ipv4Addr = address(key.addr);
            if let Ok(prefix) = Prefix::new(addr, len) {
                let end = value.name.iter().position(|byte| *byte == 0).unwrap_or(0);
                found.push((
                    prefix,
                    String::from_utf8_lossy(&value.name[..end]).into_owned(),
                ));
            }
        }
        found.sort();
        Ok(found)
    }
}
