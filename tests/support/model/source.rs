//! What a source does with a packet, by looking at it alone.

use std::net::Ipv4Addr;

use hostint::datapath::abi::source_counter;

use super::{BLOCK_LEN, Encapsulation, Key, Resemblance, TCP, UDP};
use super::{change_ip, fixed_l4_len, l4_rest, resemblance, set_l4_check};
use crate::support::checksum::{be16, put16};
use crate::support::int_block::Block;

/// How a source is set up.
#[derive(Clone, Debug)]
pub struct Source {
    pub encapsulation: Encapsulation,
    pub tos_value: u8,
    pub tos_mask: u8,
    pub extension_port: u16,
    pub mtu: usize,
    pub node: u32,
    pub port: u16,
    pub watched: Vec<(Ipv4Addr, u32)>,
    pub report_ports: Vec<u16>,
}

/// What varies from packet to packet of a flow.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Stamp {
    pub sequence: u32,
    pub timestamp: u32,
    pub age_code: u8,
}

impl Source {
    /// The flow to tag the packet for, or why it is left alone.
    pub fn look(&self, frame: &[u8]) -> Result<Key, source_counter> {
        let ip = match frame.get(14..34) {
            Some(ip) if be16(frame, 12) == 0x0800 && matches!(ip[9], TCP | UDP) => ip,
            _ => return Err(source_counter::COUNT_SOURCE_OTHER_PROTOCOL),
        };
        let to: [u8; 4] = ip[16..20].try_into().expect("four bytes");
        if !self.watches(to.into()) {
            return Err(source_counter::COUNT_SOURCE_UNWATCHED);
        }
        if frame[0] & 1 != 0 || Ipv4Addr::from(to).is_multicast() {
            return Err(source_counter::COUNT_SOURCE_GROUP_ADDRESS);
        }
        if ip[0] != 0x45 {
            return Err(source_counter::COUNT_SOURCE_IP_OPTIONS);
        }
        if be16(ip, 6) & 0x3fff != 0 {
            return Err(source_counter::COUNT_SOURCE_FRAGMENT);
        }
        let total = usize::from(be16(ip, 2));
        if !lengths_agree(frame, ip[9], total) {
            return Err(source_counter::COUNT_SOURCE_MALFORMED);
        }
        if ip[9] == UDP && self.report_ports.contains(&be16(frame, 36)) {
            return Err(source_counter::COUNT_SOURCE_REPORT);
        }
        if self.has_int(frame) {
            return Err(source_counter::COUNT_SOURCE_HAS_INT);
        }
        let tagged_len = total + self.encapsulation.added();
        if tagged_len > self.mtu {
            return Err(source_counter::COUNT_SOURCE_TOO_LONG);
        }
        if be16(ip, 6) & 0x4000 == 0 && tagged_len > 576 {
            return Err(source_counter::COUNT_SOURCE_MAY_FRAGMENT);
        }
        Ok(Key::of(ip, &frame[34..], ip[9]))
    }

    fn watches(&self, address: Ipv4Addr) -> bool {
        self.watched.iter().any(|(prefix, len)| {
            let differing = u32::from(*prefix) ^ u32::from(address);
            u64::from(differing) >> (32 - len) == 0
        })
    }

    /// Would a sink take the packet for one with INT as it is?
    fn has_int(&self, frame: &[u8]) -> bool {
        let at = 34 + fixed_l4_len(frame[23]);
        let block = frame.get(at..at + BLOCK_LEN);
        let valid = block.is_some_and(|b| resemblance(b) == Resemblance::Valid);
        let marked = frame[15] & self.tos_mask == self.tos_value;
        let to_sink = frame[23] == UDP && be16(frame, 36) == self.extension_port;
        to_sink || marked && valid
    }

    /// The packet with INT in it.
    pub fn tag(&self, frame: &[u8], stamp: Stamp) -> Vec<u8> {
        let block = Block::host_int()
            .node(self.node)
            .port(self.port)
            .timestamp(stamp.timestamp)
            .sequence(stamp.sequence);
        match self.encapsulation {
            Encapsulation::OverTcpUdp => {
                let flags = 0x80 | 0x40 | stamp.age_code;
                self.tag_over_tcp_udp(frame, block.flags(flags).byte(3, frame[15] & !3))
            }
            Encapsulation::ExtensionUdp => {
                let flags = 0x80 | stamp.age_code;
                self.tag_extension(frame, block.flags(flags).byte(32, frame[23]))
            }
        }
    }

    fn tag_over_tcp_udp(&self, frame: &[u8], block: Block) -> Vec<u8> {
        let protocol = frame[23];
        let total = usize::from(be16(frame, 16));
        let rest = l4_rest(&frame[14..34], protocol, &frame[34..14 + total]);
        let has_check = protocol == TCP || be16(frame, 40) != 0;
        let at = 34 + fixed_l4_len(protocol);
        let mut tagged = frame.to_vec();
        tagged.splice(at..at, block.0);
        let total = total + BLOCK_LEN;
        let tos = frame[15] & !self.tos_mask | self.tos_value;
        change_ip(&mut tagged, tos, total, protocol);
        if protocol == UDP {
            put16(&mut tagged, 38, total as u16 - 20);
        }
        if has_check {
            let (ip, l4) = tagged[14..14 + total].split_at_mut(20);
            set_l4_check(ip, protocol, l4, rest);
        }
        tagged
    }

    fn tag_extension(&self, frame: &[u8], block: Block) -> Vec<u8> {
        let total = usize::from(be16(frame, 16)) + self.encapsulation.added();
        let mut extension = frame[34..36].to_vec();
        extension.extend_from_slice(&self.extension_port.to_be_bytes());
        extension.extend_from_slice(&(total as u16 - 20).to_be_bytes());
        extension.extend_from_slice(&[0, 0]);
        extension.extend_from_slice(&block.0);
        let mut tagged = frame.to_vec();
        tagged.splice(34..34, extension);
        change_ip(&mut tagged, frame[15], total, UDP);
        tagged
    }
}

/// Do the headers fit into the IP packet, and that into the frame?
fn lengths_agree(frame: &[u8], protocol: u8, total: usize) -> bool {
    let fixed = fixed_l4_len(protocol);
    let Some(l4) = frame.get(34..34 + fixed) else {
        return false;
    };
    let fits = match protocol {
        UDP => usize::from(be16(l4, 4)) + 20 == total && total >= 28,
        _ => l4[12] >> 4 >= 5 && total >= 20 + usize::from(l4[12] >> 4) * 4,
    };
    fits && 14 + total <= frame.len()
}

/// The code for a numbering of this age: the smallest n with age < 2^(n-1) * 2^24 ns, none above 15.
pub fn age_code(age_ns: u64) -> u8 {
    (1..=15)
        .find(|n| age_ns < 1 << (n - 1 + 24))
        .unwrap_or_default()
}
