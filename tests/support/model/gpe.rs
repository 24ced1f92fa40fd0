//! A model of INT v2.1 over VXLAN-GPE, byte by byte.

use super::layout::Layout;
use super::{DOMAIN, UDP};
use crate::checksum::{complement, put16, sum};

pub const PORT: u16 = 4790;
pub const BLOCK_LEN: usize = 60;
/// The outer UDP header and the block.
pub const ROOM: usize = 8 + BLOCK_LEN;

/// What varies in a block.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Block {
    pub v6: bool,
    /// Entries have the hop's latency, too, and this many may be pushed; `None`: as without transit hops.
    pub budget: Option<u8>,
    /// With the latency, entries have no queue.
    pub without_queue: bool,
    pub age_code: u8,
    pub node: u32,
    pub port: u16,
    pub queue_packets: u32,
    pub queue_bytes: u32,
    pub timestamp: u64,
    pub sequence: u32,
    pub base: u32,
    pub size: u16,
    pub count: u16,
}

impl Block {
    pub fn bytes(&self) -> Vec<u8> {
        let mut block = self.without_latency().to_vec();
        if let (Some(budget), true) = (self.budget, self.without_queue) {
            block[15..17].copy_from_slice(&[budget, 0xe8]);
            block[32..36].fill(0xff);
        } else if let Some(budget) = self.budget {
            block[9] = 13;
            block[14..17].copy_from_slice(&[6, budget, 0xf8]);
            block.splice(32..32, [0xff; 4]);
        }
        block
    }

    fn without_latency(&self) -> [u8; BLOCK_LEN] {
        let mut block = [0; BLOCK_LEN];
        block[..4].copy_from_slice(&[0x0c, 0, 0, 0x82]);
        block[8..12].copy_from_slice(&[0x10, 12, 0, if self.v6 { 2 } else { 1 }]);
        block[12..18].copy_from_slice(&[0x20, 0, 5, 0, 0xd8, 0]);
        put16(&mut block, 18, DOMAIN);
        block[20..24].copy_from_slice(&[0xe0, 0, 0, self.age_code]);
        block[24..28].copy_from_slice(&self.node.to_be_bytes());
        put16(&mut block, 28, self.port);
        put16(&mut block, 30, self.port);
        block[32..36].copy_from_slice(&self.queue_packets.to_be_bytes());
        block[36..44].copy_from_slice(&self.timestamp.to_be_bytes());
        block[44..48].copy_from_slice(&self.sequence.to_be_bytes());
        block[48..52].copy_from_slice(&self.queue_bytes.to_be_bytes());
        block[52..56].copy_from_slice(&self.base.to_be_bytes());
        put16(&mut block, 56, self.size);
        put16(&mut block, 58, self.count);
        block
    }
}

impl Block {
    /// As a source writes it for a packet on its own.
    pub fn single(v6: bool) -> Self {
        Block {
            v6,
            node: 2,
            port: 13,
            sequence: 1,
            count: 1,
            ..Block::default()
        }
    }
}

/// The frame with outer headers and block before its IP packet.
pub fn wrap(frame: &[u8], at: &Layout, sport: u16, block: &Block) -> Vec<u8> {
    let mut outer = frame[at.l3..at.l3 + at.base_len()].to_vec();
    let block = block.bytes();
    let room = 8 + block.len();
    if at.v6 {
        put16(&mut outer, 4, (at.ip_len + room) as u16);
        outer[6] = UDP;
    } else {
        outer[0] = 0x45;
        put16(&mut outer, 2, (at.ip_len + 20 + room) as u16);
        outer[9] = UDP;
        put16(&mut outer, 10, 0);
        let check = complement(sum(&outer));
        put16(&mut outer, 10, check);
    }
    outer.extend_from_slice(&sport.to_be_bytes());
    outer.extend_from_slice(&PORT.to_be_bytes());
    outer.extend_from_slice(&((at.ip_len + room) as u16).to_be_bytes());
    outer.extend_from_slice(&[0, 0]);
    outer.extend_from_slice(&block);
    let mut wrapped = frame.to_vec();
    wrapped.splice(at.l3..at.l3, outer);
    wrapped
}
