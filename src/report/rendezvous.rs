//! The choice of a report's collector by rendezvous hashing: the one of highest weight, which all sinks compute alike.

use std::hash::Hasher;
use std::net::{IpAddr, SocketAddr};

use siphasher::sip::SipHasher13;

use crate::model::{FlowHash, Observation};

/// Returns the key by which a report is placed. Both directions of a flow have the same key; a report without a flow is
/// placed by its node.
pub fn key_of(observation: &Observation) -> u64 {
    match observation.flow() {
        Some(flow) => FlowHash::of(&flow).0,
        None => mix(observation.reporter().map_or(0, |node| node.0.into())),
    }
}

/// Returns the number that all sinks know a collector by: SipHash-1-3, with a key of zeros, of its address in 16 bytes
/// (IPv4 mapped into ::ffff:0:0/96) and its port, big-endian.
pub fn identity(collector: SocketAddr) -> u64 {
    let address = match collector.ip() {
        IpAddr::V4(v4) => v4.to_ipv6_mapped(),
        IpAddr::V6(v6) => v6,
    };
    let mut hasher = SipHasher13::new();
    hasher.write(&address.octets());
    hasher.write(&collector.port().to_be_bytes());
    hasher.finish()
}

/// Returns the place in the list of the collector that gets reports with this key, or `None` if the list is empty. The
/// order of the list does not matter.
pub fn choose(key: u64, identities: impl Iterator<Item = u64>) -> Option<usize> {
    identities
        .map(|identity| mix(key ^ identity))
        .enumerate()
        .max_by_key(|(_, weight)| *weight)
        .map(|(place, _)| place)
}

/// The finalizer of SplitMix64: each input bit flips half of the output bits, and no two inputs have the same output.
pub fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}
