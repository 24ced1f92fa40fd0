//! A model of INT v2.1 (MX) behind TCP and UDP, as hostint's sources write it. No hop changes it.

use super::int_md::{grown, head_at};
use super::{DOMAIN, layout};
use crate::checksum::{be16, be32};

/// The whole block.
pub const LEN: usize = 36;
/// Node id, ports, queue, ingress and egress timestamp.
const BITMAP: u16 = 0xdc00;
/// Sequence number, node id, ports, ingress timestamp, tail.
const DS_BITMAP: u16 = 0x8f00;

/// What varies in a block.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Own {
    /// One packet of 2 to the power of this is told.
    pub sample: u8,
    pub age_code: u8,
    pub sequence: u32,
    pub node: u32,
    pub port: u16,
    pub timestamp: u32,
    pub tail: u32,
}

impl Own {
    pub fn bytes(&self, tos: u8) -> Vec<u8> {
        let flags = u16::from(self.sample) << 4 | u16::from(self.age_code);
        let mut bytes = vec![0x30, 8, 0, tos & !3, 0x20, 0, 0, 0];
        for field in [BITMAP, DOMAIN, DS_BITMAP, flags] {
            bytes.extend(field.to_be_bytes());
        }
        bytes.extend(self.sequence.to_be_bytes());
        bytes.extend(self.node.to_be_bytes());
        bytes.extend(self.port.to_be_bytes());
        bytes.extend(self.port.to_be_bytes());
        bytes.extend(self.timestamp.to_be_bytes());
        bytes.extend(self.tail.to_be_bytes());
        bytes
    }

    /// The frame with this block and this mark; checksums are as right as they were.
    pub fn insert(&self, frame: &[u8], (value, mask): (u8, u8)) -> Vec<u8> {
        let at = layout::find(frame).expect("TCP or UDP");
        let tos = at.tos & !mask | value;
        grown(frame, head_at(frame), &self.bytes(at.tos), tos, |_| {})
    }

    /// What the block of a tagged frame says.
    pub fn of(frame: &[u8]) -> Self {
        let at = head_at(frame);
        Self {
            sample: (be16(frame, at + 14) >> 4) as u8,
            age_code: frame[at + 15] & 15,
            sequence: be32(frame, at + 16),
            node: be32(frame, at + 20),
            port: be16(frame, at + 24),
            timestamp: be32(frame, at + 28),
            tail: be32(frame, at + 32),
        }
    }

    /// True if hops and sink tell of the packet.
    pub fn is_sampled(&self) -> bool {
        self.sequence.is_multiple_of(1 << self.sample)
    }
}

/// Whether bytes are such a block, by the first sixteen.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Resemblance {
    Valid,
    BadShim,
    BadVersion,
    BadBitmap,
}

pub fn resemblance(block: &[u8]) -> Resemblance {
    if block[0] != 0x30 {
        return Resemblance::BadShim;
    }
    if block[4..8] != [0x20, 0, 0, 0] {
        return Resemblance::BadVersion;
    }
    if block[1] != 8 {
        return Resemblance::BadShim;
    }
    let fields = [8, 10, 12].map(|at| be16(block, at));
    let flags = be16(block, 14);
    match fields == [BITMAP, DOMAIN, DS_BITMAP] && flags >> 9 == 0 && flags >> 4 <= 16 {
        true => Resemblance::Valid,
        false => Resemblance::BadBitmap,
    }
}
