//! A model of IOAM in IPv6 hop-by-hop options: a source's packet, what routers make of it, and what is left without it.

use super::layout;
use crate::checksum::{be16, be32, put16};

/// Bytes in front of the room for entries.
pub const HEAD: usize = 60;
/// Bytes of a router's entry.
pub const ENTRY: usize = 20;

/// What a source writes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Header {
    /// Entries for which there is room.
    pub room: usize,
    pub age_code: u8,
    pub port: u16,
    pub node: u32,
    pub time_ns: u64,
    pub base: u32,
    pub size: u16,
    pub count: u16,
    pub sequence: u32,
}

/// What a router that runs plain Linux writes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Entry {
    pub hop_limit: u8,
    /// 24 bits.
    pub node: u32,
    pub ingress_port: u16,
    pub egress_port: u16,
    pub seconds: u32,
    pub microseconds: u32,
    pub queue: u32,
}

impl Entry {
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = (u32::from(self.hop_limit) << 24 | self.node)
            .to_be_bytes()
            .to_vec();
        bytes.extend(self.ingress_port.to_be_bytes());
        bytes.extend(self.egress_port.to_be_bytes());
        for word in [self.seconds, self.microseconds, self.queue] {
            bytes.extend(word.to_be_bytes());
        }
        bytes
    }

    /// Low 32 bits of the arrival in ns; `None`: not known.
    pub fn arrival_ns(&self) -> Option<u32> {
        let ns = u64::from(self.seconds) * 1_000_000_000 + u64::from(self.microseconds) * 1_000;
        (self.microseconds < 1_000_000).then_some(ns as u32)
    }
}

/// The length of the hop-by-hop header.
pub fn len(room: usize) -> usize {
    (HEAD + room * ENTRY).div_ceil(8) * 8
}

/// The hop-by-hop header in front of this protocol.
fn options(header: &Header, protocol: u8) -> Vec<u8> {
    let room = header.room * ENTRY;
    let seconds = (header.time_ns / 1_000_000_000) as u32;
    let microseconds = (header.time_ns % 1_000_000_000 / 1_000) as u32;
    // Next header, length, PadN without data.
    let mut bytes = vec![protocol, (len(header.room) / 8 - 1) as u8, 1, 0];
    // An option for experiments: "hi", version 0.
    bytes.extend([0x1e, 22, b'h', b'i', 0, header.age_code]);
    bytes.extend(header.port.to_be_bytes());
    bytes.extend(header.node.to_be_bytes());
    bytes.extend((header.time_ns as u32).to_be_bytes());
    bytes.extend(header.base.to_be_bytes());
    bytes.extend(header.size.to_be_bytes());
    bytes.extend(header.count.to_be_bytes());
    // IOAM option type 3 in namespace 0x4849: 32-bit number, seconds, fraction.
    bytes.extend([0x31, 18, 0, 3, 0x48, 0x49, 0x70, 0]);
    for word in [header.sequence, seconds, microseconds] {
        bytes.extend(word.to_be_bytes());
    }
    // IOAM option type 0: five words an entry.
    bytes.extend([0x31, (10 + room) as u8, 0, 0, 0x48, 0x49]);
    bytes.extend((5u16 << 11 | (header.room * 5) as u16).to_be_bytes());
    bytes.extend([0xf2, 0, 0, 0]);
    bytes.resize(HEAD + room, 0);
    match len(header.room) - bytes.len() {
        0 => {}
        _ => bytes.extend([1, 2, 0, 0]),
    }
    bytes
}

/// The packet with IOAM in it.
pub fn wrap(frame: &[u8], header: &Header) -> Vec<u8> {
    let at = layout::find(frame).expect("TCP or UDP over IPv6");
    let mut wrapped = frame.to_vec();
    wrapped.splice(at.l3 + 40..at.l3 + 40, options(header, at.protocol));
    put16(
        &mut wrapped,
        at.l3 + 4,
        (at.ip_len - 40 + len(header.room)) as u16,
    );
    wrapped[at.l3 + 6] = 0;
    wrapped
}

/// A router's work, of which the packet's place of IPv6 is known: it fills in its entry, or says that there is no room.
pub fn fill(frame: &mut [u8], l3: usize, entry: &Entry) {
    let trace = l3 + 40 + 48;
    let words = be16(frame, trace + 6);
    let left = usize::from(words & 0x7f);
    frame[l3 + 7] -= 1;
    if left < 5 {
        put16(frame, trace + 6, words | 0x400);
        return;
    }
    let at = trace + 12 + (left - 5) * 4;
    frame[at..at + ENTRY].copy_from_slice(&entry.bytes());
    put16(frame, trace + 6, words - 5);
}

/// What a sink makes of a hop-by-hop header in front of UDP.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Read {
    /// Of others: passes uncounted.
    Foreign,
    /// Passes, counted by a reason.
    Refused,
    Taken {
        /// A router found no room for its entry.
        is_full: bool,
    },
}

/// Bytes that differ from packet to packet, and reserved ones.
fn is_free(place: usize) -> bool {
    matches!(place, 0 | 10..28 | 30 | 36..48 | 50 | 54..56 | HEAD..)
}

/// The header that follows IPv6's fixed header: what a source draws, in which routers fill in entries and one flag.
pub fn read(header: &[u8]) -> Read {
    if header[4] != 0x1e || header[6..8] != *b"hi" {
        return Read::Foreign;
    }
    let room = usize::from(header[49]).checked_sub(10);
    let Some(room) = room.filter(|room| room % ENTRY == 0 && room / ENTRY <= 8) else {
        return Read::Refused;
    };
    let drawn = Header {
        room: room / ENTRY,
        age_code: header[9] & 0x0f,
        ..Header::default()
    };
    let drawn = options(&drawn, header[0]);
    let pairs = header.iter().zip(&drawn).enumerate();
    let mut differing = pairs.filter(|(_, (one, other))| one != other);
    if !differing.all(|(place, _)| is_free(place)) || !matches!(header[0], 6 | 17) {
        return Read::Refused;
    }
    let words = be16(header, 54);
    let left = usize::from(words & 0x7f);
    if words >> 11 != 5 || left % 5 != 0 || left * 4 > room {
        return Read::Refused;
    }
    Read::Taken {
        is_full: words & 0x400 != 0,
    }
}

/// What a source wrote into a tagged frame.
pub fn header_of(frame: &[u8], l3: usize) -> Header {
    let at = l3 + 40;
    let seconds = u64::from(be32(frame, at + 40));
    Header {
        room: usize::from(frame[at + 49] - 10) / ENTRY,
        age_code: frame[at + 9],
        port: be16(frame, at + 10),
        node: be32(frame, at + 12),
        time_ns: {
            let rough = seconds * 1_000_000_000 + u64::from(be32(frame, at + 44)) * 1_000;
            // The low bits stand in another option, with nanoseconds.
            rough + u64::from(be32(frame, at + 16).wrapping_sub(rough as u32))
        },
        base: be32(frame, at + 20),
        size: be16(frame, at + 24),
        count: be16(frame, at + 26),
        sequence: be32(frame, at + 36),
    }
}
