//! Tables of prefixes, in which the kernel half finds an address's longest prefix by a binary search over lengths.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::datapath::abi::{watch_flag, watch_probe, watch_search};
use crate::datapath::sink::events::address_words;
use crate::model::Prefix;

/// A prefix in the table of addresses.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct WatchPlace {
    pub prefix: Prefix,
    /// The node to go on from for a destination, the class for a source.
    pub number: u32,
    pub flags: u32,
}

/// The prefixes of one role and IP version.
#[derive(Clone, Debug, Default)]
pub struct PlaceTable {
    /// The lengths of all prefixes, ascending.
    lengths: Vec<u8>,
    pub entries: Vec<WatchPlace>,
}

/// Returns the lengths that the binary search for `len` finds on its way.
fn way_to(lengths: &[u8], len: u8) -> Vec<u8> {
    let mut way = Vec::new();
    let mut left = lengths;
    while !left.is_empty() {
        let (shorter, rest) = left.split_at(left.len() / 2);
        if rest[0] <= len {
            way.push(rest[0]);
            left = &rest[1..];
        } else {
            left = shorter;
        }
    }
    way
}

fn mask(addr: IpAddr) -> [u32; 4] {
    match addr {
        IpAddr::V4(v4) => [u32::from_ne_bytes(v4.octets()), 0, 0, 0],
        IpAddr::V6(_) => address_words(addr),
    }
}

/// Writes the probes of the binary search over these lengths, numbered from `first + 1` on. Returns the number of the
/// probe to begin with, or 0 if there are no lengths.
fn probes(lengths: &[u8], first: usize, is_ipv4: bool, out: &mut [watch_probe]) -> u8 {
    if lengths.is_empty() {
        return 0;
    }
    let middle = lengths.len() / 2;
    let number = first + middle + 1;
    // All bits are set: those that remain after the cut are the mask.
    let whole = if is_ipv4 {
        Prefix::host(Ipv4Addr::BROADCAST)
    } else {
        Prefix::host(Ipv6Addr::from_bits(u128::MAX))
    };
    let mut probe = watch_probe {
        len: lengths[middle],
        mask: mask(whole.cut(lengths[middle]).addr()),
        ..watch_probe::default()
    };
    probe.miss = probes(&lengths[..middle], first, is_ipv4, out);
    probe.hit = probes(&lengths[middle + 1..], number, is_ipv4, out);
    out[number] = probe;
    number as u8
}

/// Returns the entry for a prefix that only leads to longer ones: it repeats the longest prefix around it.
fn marker(prefix: Prefix, places: &BTreeMap<Prefix, WatchPlace>, lengths: &[u8]) -> WatchPlace {
    let around = lengths
        .iter()
        .rev()
        .filter(|len| **len < prefix.len())
        .find_map(|len| places.get(&prefix.cut(*len)));
    match around {
        Some(place) => WatchPlace { prefix, ..*place },
        None => WatchPlace {
            prefix,
            number: 0,
            flags: watch_flag::WATCH_DECIDED.0,
        },
    }
}

impl PlaceTable {
    pub fn new(places: &[WatchPlace]) -> Self {
        let places: BTreeMap<Prefix, WatchPlace> =
            places.iter().map(|place| (place.prefix, *place)).collect();
        let lengths: BTreeSet<u8> = places.keys().map(|prefix| prefix.len()).collect();
        let lengths: Vec<u8> = lengths.into_iter().collect();
        let mut entries = places.clone();
        for prefix in places.keys() {
            for len in way_to(&lengths, prefix.len()) {
                let way = prefix.cut(len);
                entries
                    .entry(way)
                    .or_insert_with(|| marker(way, &places, &lengths));
            }
        }
        Self {
            lengths,
            entries: entries.into_values().collect(),
        }
    }

    /// Returns the kernel half's plan of the binary search.
    pub fn search(&self, is_ipv4: bool) -> watch_search {
        let mut search = watch_search::default();
        search.first = probes(&self.lengths, 0, is_ipv4, &mut search.probes).into();
        search
    }
}
