//! A model of an INT transit hop: its entry goes in front of all others, and lengths and checksums follow.

use super::layout;
use super::{Encapsulation, UDP, change_ip, fixed_l4_len, l4_rest, set_l4_check};
use crate::checksum::{be16, put16};

/// What a hop says of itself; fields that the packet does not ask for are left out.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Entry {
    pub node: u32,
    pub ingress_port: u16,
    pub egress_port: u16,
    pub queue: u32,
    /// Since the Unix epoch.
    pub ingress_ns: u64,
    pub latency_ns: u32,
}

impl Entry {
    /// The entry with these items of INT v2.1, node, ports and ingress timestamp among them; 0: as in INT v0.5.
    pub fn bytes(&self, bitmap: u16) -> Vec<u8> {
        let ingress = self.ingress_ns as u32;
        let mut bytes = self.node.to_be_bytes().to_vec();
        bytes.extend(self.ingress_port.to_be_bytes());
        bytes.extend(self.egress_port.to_be_bytes());
        if bitmap == 0 {
            bytes.extend(ingress.to_be_bytes());
            bytes.extend(ingress.wrapping_add(self.latency_ns).to_be_bytes());
            return bytes;
        }
        if bitmap & 0x2000 != 0 {
            bytes.extend(self.latency_ns.to_be_bytes());
        }
        if bitmap & 0x1000 != 0 {
            bytes.extend(self.queue.to_be_bytes());
        }
        bytes.extend(self.ingress_ns.to_be_bytes());
        bytes
    }
}

/// The frame with one more entry. The block allows at least as many hops as it has then.
pub fn push(frame: &[u8], encapsulation: Encapsulation, entry: &Entry) -> Vec<u8> {
    let at = layout::find(frame).expect("a tagged packet");
    let l4_len = match encapsulation {
        Encapsulation::OverTcpUdp | Encapsulation::IntMd => fixed_l4_len(at.protocol),
        Encapsulation::ExtensionUdp | Encapsulation::VxlanGpe => 8,
    };
    let addresses = frame[at.addresses()].to_vec();
    let rest = l4_rest(&addresses, at.protocol, &frame[at.l4..at.l3 + at.ip_len]);
    let has_check = at.protocol != UDP || be16(frame, at.l4 + 6) != 0;

    let block = at.l4 + l4_len;
    let mut pushed = frame.to_vec();
    let entry = if encapsulation == Encapsulation::IntMd {
        pushed[block + 1] += frame[block + 6];
        pushed[block + 7] = pushed[block + 7].saturating_sub(1);
        entry.bytes(be16(frame, block + 8))
    } else if encapsulation == Encapsulation::VxlanGpe {
        pushed[block + 9] += frame[block + 14];
        pushed[block + 15] = pushed[block + 15].saturating_sub(1);
        entry.bytes(be16(frame, block + 16))
    } else {
        pushed[block + 2] += 4;
        pushed[block + 7] += 1;
        pushed[block + 6] = pushed[block + 6].max(pushed[block + 7]);
        entry.bytes(0)
    };
    let stack = match encapsulation {
        Encapsulation::VxlanGpe => 24,
        Encapsulation::IntMd => super::int_md::HEAD,
        Encapsulation::OverTcpUdp | Encapsulation::ExtensionUdp => 12,
    };
    let ip_len = at.ip_len + entry.len();
    pushed.splice(block + stack..block + stack, entry);
    change_ip(&mut pushed, &at, at.tos, ip_len, at.protocol);
    if at.protocol == UDP {
        put16(&mut pushed, at.l4 + 4, (ip_len - at.header_len()) as u16);
    }
    if has_check {
        let l4 = &mut pushed[at.l4..at.l3 + ip_len];
        set_l4_check(&addresses, at.protocol, l4, rest);
    }
    pushed
}
