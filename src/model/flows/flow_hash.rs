//! A hash that is the same for both directions of a flow, on every host and in every version.

use std::hash::Hasher;
use std::net::IpAddr;

use siphasher::sip::SipHasher13;

use crate::model::FlowKey;

/// SipHash-1-3 with a key of zeros over 37 bytes: the lower end, the higher end, the IP protocol number. An end is an
/// address in 16 bytes (IPv4 as ::ffff:0:0/96) and a port, big-endian. VLANs are left out, because tags may differ
/// between the two directions.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct FlowHash(pub u64);

impl FlowHash {
    pub fn of(flow: &FlowKey) -> Self {
        let mut ends = [end(flow.src, flow.sport), end(flow.dst, flow.dport)];
        ends.sort_unstable();
        let mut hasher = SipHasher13::new();
        hasher.write(ends.as_flattened());
        hasher.write(&[flow.protocol]);
        Self(hasher.finish())
    }
}

fn end(address: IpAddr, port: u16) -> [u8; 18] {
    let address = match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped(),
        IpAddr::V6(v6) => v6,
    };
    let mut bytes = [0; 18];
    bytes[..16].copy_from_slice(&address.octets());
    bytes[16..].copy_from_slice(&port.to_be_bytes());
    bytes
}
