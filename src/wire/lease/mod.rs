//! Lease messages: the payload of an ICMP echo request and of its reply, as drawn in include/hostint/lease.h; and the
//! probes that prove a lease's path.

use std::hash::Hasher;
use std::net::IpAddr;

use siphasher::sip::SipHasher24;

use super::DecodeError;
use super::cursor::Cursor;
use crate::model::LeaseKey;

pub mod message;
pub mod name;
pub mod order;
pub mod probe;
pub mod probe_packet;
pub mod reverse;

/// The first four bytes of a message.
pub const MAGIC: u32 = 0x6869_6e74;

const TAG_LEN: usize = 8;

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

/// Ends a question with its tag and leaves the room for an answer empty.
fn end_question<const N: usize>(
    bytes: Vec<u8>,
    origin: IpAddr,
    dest: IpAddr,
    key: LeaseKey,
) -> [u8; N] {
    let parts = [&bytes[..], &address_bytes(origin), &address_bytes(dest)];
    let tag = tag(key, &parts);
    let mut message = [0; N];
    for (to, from) in message.iter_mut().zip(bytes.iter().chain(&tag)) {
        *to = *from;
    }
    message
}

/// Reads the fields that all messages begin with, and returns the nonce.
fn decode_head(cursor: &mut Cursor<'_>, expected: u32) -> Result<u64, LeaseError> {
    let magic = cursor.u32("lease magic")?;
    cursor.check("lease magic", 4, magic, MAGIC)?;
    let version = cursor.u32("lease version")?;
    if version != expected {
        return Err(LeaseError::Version(version));
    }
    Ok(cursor.u64("lease nonce")?)
}

/// Returns false if the room for the answer, which begins at `answer_at`, is as empty as it was sent.
fn is_answered(
    bytes: &[u8],
    answer_at: usize,
    nonce: u64,
    key: LeaseKey,
) -> Result<bool, LeaseError> {
    let (tagged, answer_tag) = bytes.split_at(bytes.len().saturating_sub(TAG_LEN));
    let mut room = bytes.iter().skip(answer_at);
    if room.all(|byte| *byte == 0) {
        return Ok(false);
    }
    if tag(key, &[tagged]) != answer_tag {
        return Err(LeaseError::Forged { nonce });
    }
    Ok(true)
}

/// Ends an answer with its tag.
fn end_answer<const N: usize>(bytes: Vec<u8>, key: LeaseKey) -> [u8; N] {
    let tag = tag(key, &[&bytes]);
    let mut message = [0; N];
    for (to, from) in message.iter_mut().zip(bytes.iter().chain(&tag)) {
        *to = *from;
    }
    message
}
