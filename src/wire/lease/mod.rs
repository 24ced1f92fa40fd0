//! Lease messages: the payload of an ICMP echo request and of its reply, as drawn in include/hostint/lease.h; and the
//! probes that prove a lease's path.

use std::hash::Hasher;
use std::net::IpAddr;

use siphasher::sip::SipHasher24;

use super::DecodeError;
use crate::model::LeaseKey;

pub mod probe;
pub mod probe_packet;
pub mod v1;
pub mod v2;

/// The first four bytes of a message.
pub const MAGIC: u32 = 0x6869_6e74;

/// Why a payload is not a lease answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum LeaseError {
    /// The payload is not a lease message.
    #[error(transparent)]
    Format(#[from] DecodeError),
    #[error("lease message has unexpected version {0}")]
    Version(u32),
    #[error("the authentication tag is wrong: keys differ, or the message is forged")]
    Forged { nonce: u64 },
}

fn address_bytes(addr: IpAddr) -> [u8; 16] {
    match addr {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    }
}

/// SipHash-2-4 over the concatenation of these bytes.
fn tag(key: LeaseKey, parts: &[&[u8]]) -> [u8; 8] {
    let mut hasher = SipHasher24::new_with_key(&key.0);
    for part in parts {
        hasher.write(part);
    }
    hasher.finish().to_be_bytes()
}
