//! A model of the source: what it does with a packet, by looking at that packet alone.

use std::net::IpAddr;

use hostint::datapath::abi::source_counter;
use hostint::model::{WatchAction, WatchRule};
use hostint::wire::lease::probe_packet::STRAY_PORT;

use super::layout::{self, Layout, NotFound};
use super::watch::{self, address};
use super::{BLOCK_LEN, Encapsulation, Key, Resemblance, TCP, UDP, gpe, int_md, int_mx};
use super::{change_ip, fixed_l4_len, l4_rest, resemblance, set_l4_check};
use crate::checksum::{be16, be32, complement, put16, sum, udp_form};
use crate::int_block::{Block, FLAG_BUDGET};

/// How a source is set up.
#[derive(Clone, Debug)]
pub struct Source {
    pub encapsulation: Encapsulation,
    pub tos_value: u8,
    pub tos_mask: u8,
    pub extension_port: u16,
    /// Value and mask of the ToS byte that mark INT-MD.
    pub int_md: Option<(u8, u8)>,
    /// INT-MX instead of INT-MD: one packet of 2 to the power of this is told.
    pub mx_sample: Option<u8>,
    pub mtu: usize,
    /// Transit hops that may push; `None`: the sink demands Host-INT's word.
    pub budget: Option<u8>,
    /// Their entries have no queue.
    pub without_queue: bool,
    pub node: u32,
    pub port: u16,
    pub rules: Vec<WatchRule>,
    pub report_ports: Vec<u16>,
}

/// The flag of TCP.
const SYN: u8 = 2;

/// Do the options of the first segment of a connection sign it (MD5, TCP-AO)?
fn is_signed(frame: &[u8], at: &Layout) -> bool {
    let header_len = usize::from(frame[at.l4 + 12] >> 4) * 4;
    let mut options = &frame[at.l4 + 20..at.l4 + header_len];
    while let [kind, rest @ ..] = options {
        options = match (kind, rest) {
            (19 | 29, _) => return true,
            (1, rest) => rest,
            (2.., [len, ..]) if *len >= 2 => options.get(usize::from(*len)..).unwrap_or_default(),
            _ => return false,
        };
    }
    false
}

/// What varies from packet to packet of a flow.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Stamp {
    pub sequence: u32,
    /// vxlan-gpe and int-md: all 64 bits, else the low 32.
    pub timestamp: u64,
    pub age_code: u8,
    pub queue: (u32, u32),
}

impl Source {
    /// The flow to tag the packet for, or why it is left alone.
    pub fn look(&self, frame: &[u8]) -> Result<Key, source_counter> {
        self.look_as(frame, false)
    }

    /// The same of a packet whose flow is tagged, if it has one: that it is not signed was seen at its beginning.
    pub fn look_at_known(&self, frame: &[u8]) -> Result<Key, source_counter> {
        self.look_as(frame, true)
    }

    fn look_as(&self, frame: &[u8], is_known: bool) -> Result<Key, source_counter> {
        let (at, found) = match layout::find(frame) {
            Ok(at) => (at, Ok(())),
            Err(NotFound::NotIp | NotFound::OtherProtocol) => {
                return Err(source_counter::COUNT_SOURCE_OTHER_PROTOCOL);
            }
            Err(NotFound::TooDeep(at)) => (*at, Err(source_counter::COUNT_SOURCE_IP_OPTIONS)),
            Err(NotFound::Malformed(at)) => (*at, Err(source_counter::COUNT_SOURCE_MALFORMED)),
        };
        let target = address(at.mapped_addresses(frame).1, at.v6);
        match watch::decide(
            &self.rules,
            &watch::Packet::of(frame, &at, self.port.into()),
        ) {
            None => return Err(source_counter::COUNT_SOURCE_UNWATCHED),
            Some(rule) if rule.action == WatchAction::Exclude => {
                return Err(source_counter::COUNT_SOURCE_EXCLUDED);
            }
            Some(_) => {}
        }
        found?;
        let broadcast = target == IpAddr::from([255, 255, 255, 255]);
        if frame[0] & 1 != 0 || target.is_multicast() || broadcast {
            return Err(source_counter::COUNT_SOURCE_GROUP_ADDRESS);
        }
        if at.fragment {
            return Err(source_counter::COUNT_SOURCE_FRAGMENT);
        }
        if !lengths_agree(frame, &at) {
            return Err(source_counter::COUNT_SOURCE_MALFORMED);
        }
        if at.protocol == UDP && self.report_ports.contains(&be16(frame, at.l4 + 2)) {
            return Err(source_counter::COUNT_SOURCE_REPORT);
        }
        if self.has_int(frame, &at) {
            return Err(source_counter::COUNT_SOURCE_HAS_INT);
        }
        let begins = !is_known || frame.get(at.l4 + 13).is_none_or(|flags| flags & SYN != 0);
        if at.protocol == TCP && begins && is_signed(frame, &at) {
            return Err(source_counter::COUNT_SOURCE_SIGNED);
        }
        if self.encapsulation == Encapsulation::VxlanGpe && at.header_len() != at.base_len() {
            return Err(source_counter::COUNT_SOURCE_IP_OPTIONS);
        }
        let hops = usize::from(self.budget.unwrap_or(0));
        let added = match self.mx_sample {
            Some(_) => int_mx::LEN,
            None => self.encapsulation.added(at.base_len()),
        };
        let tagged_len = at.ip_len + added + self.encapsulation.hops_room(hops, self.without_queue);
        if tagged_len > self.mtu {
            return Err(source_counter::COUNT_SOURCE_TOO_LONG);
        }
        if !at.dont_fragment && tagged_len > 576 {
            return Err(source_counter::COUNT_SOURCE_MAY_FRAGMENT);
        }
        Ok(Key::of(frame, &at, &frame[at.l4..], at.protocol))
    }

    /// Would a sink take the packet for one with INT as it is?
    fn has_int(&self, frame: &[u8], at: &Layout) -> bool {
        let block_at = at.l4 + fixed_l4_len(at.protocol);
        let block = frame.get(block_at..block_at + BLOCK_LEN);
        let valid = block.is_some_and(|b| resemblance(b) == Resemblance::Valid);
        let marked = at.tos & self.tos_mask == self.tos_value;
        let port = be16(frame, at.l4 + 2);
        let to_sink = port == self.extension_port || port == gpe::PORT || port == STRAY_PORT;
        let head = frame.get(block_at..block_at + BLOCK_LEN);
        let int_md = head.is_some_and(|b| {
            int_md::resemblance(b) == int_md::Resemblance::Valid
                || int_mx::resemblance(b) == int_mx::Resemblance::Valid
        });
        let marked_md = (self.int_md).is_some_and(|(value, mask)| at.tos & mask == value);
        to_sink || marked && valid || marked_md && int_md
    }

    /// Where no hop may push, the source's entry is the usual one.
    fn asks_for_no_queue(&self) -> bool {
        self.without_queue && self.budget.is_some_and(|hops| hops > 0)
    }

    /// The packet with INT in it.
    pub fn tag(&self, frame: &[u8], stamp: Stamp) -> Vec<u8> {
        let at = layout::find(frame).expect("the model tags it");
        let block = Block::host_int()
            .node(self.node)
            .port(self.port)
            .timestamp(stamp.timestamp as u32)
            .sequence(stamp.sequence)
            .byte(6, self.budget.map_or(2, |hops| 1 + hops));
        let budget = match self.budget {
            Some(1..) => FLAG_BUDGET,
            _ => 0,
        };
        match self.encapsulation {
            Encapsulation::OverTcpUdp => {
                let flags = 0x80 | 0x40 | budget | stamp.age_code;
                self.tag_over_tcp_udp(frame, &at, block.flags(flags).byte(3, at.tos & !3))
            }
            Encapsulation::ExtensionUdp => {
                let flags = 0x80 | budget | stamp.age_code;
                self.tag_extension(frame, &at, block.flags(flags).byte(32, at.protocol))
            }
            Encapsulation::IntMd if let Some(sample) = self.mx_sample => {
                let own = int_mx::Own {
                    sample,
                    age_code: stamp.age_code,
                    sequence: stamp.sequence,
                    node: self.node,
                    port: self.port,
                    timestamp: stamp.timestamp as u32,
                    tail: 0,
                };
                own.insert(frame, self.int_md.expect("it has a mark"))
            }
            Encapsulation::IntMd => {
                let own = int_md::Own {
                    budget: self.budget.unwrap_or(0),
                    without_queue: self.asks_for_no_queue(),
                    age_code: stamp.age_code,
                    node: self.node,
                    port: self.port,
                    queue_packets: stamp.queue.0,
                    timestamp: stamp.timestamp,
                    sequence: stamp.sequence,
                    tail: 0,
                };
                own.insert(frame, self.int_md.expect("it has a mark"))
            }
            Encapsulation::VxlanGpe => {
                let block = self.gpe_block(frame, &at, stamp);
                gpe::wrap(frame, &at, gpe_port(frame, &at), &block)
            }
        }
    }

    fn tag_over_tcp_udp(&self, frame: &[u8], at: &Layout, block: Block) -> Vec<u8> {
        let protocol = at.protocol;
        let addresses = frame[at.addresses()].to_vec();
        let rest = l4_rest(&addresses, protocol, &frame[at.l4..at.l3 + at.ip_len]);
        let has_check = protocol == TCP || be16(frame, at.l4 + 6) != 0;
        let block_at = at.l4 + fixed_l4_len(protocol);
        let mut tagged = frame.to_vec();
        tagged.splice(block_at..block_at, block.0);
        let ip_len = at.ip_len + BLOCK_LEN;
        let tos = at.tos & !self.tos_mask | self.tos_value;
        change_ip(&mut tagged, at, tos, ip_len, protocol);
        if protocol == UDP {
            put16(&mut tagged, at.l4 + 4, (ip_len - at.header_len()) as u16);
        }
        if has_check {
            let l4 = &mut tagged[at.l4..at.l3 + ip_len];
            set_l4_check(&addresses, protocol, l4, rest);
        }
        tagged
    }

    fn tag_extension(&self, frame: &[u8], at: &Layout, block: Block) -> Vec<u8> {
        let ip_len = at.ip_len + super::EXTENSION_LEN;
        let mut extension = frame[at.l4..at.l4 + 2].to_vec();
        extension.extend_from_slice(&self.extension_port.to_be_bytes());
        extension.extend_from_slice(&((ip_len - at.header_len()) as u16).to_be_bytes());
        extension.extend_from_slice(&[0, 0]);
        extension.extend_from_slice(&block.0);
        let without = at.protocol == UDP && be16(frame, at.l4 + 6) == 0;
        if at.v6 && !without {
            // As if the original segment, with its pseudo header, added up to 0, as it does if it is right.
            let original = u64::from(at.protocol) + (at.ip_len - at.header_len()) as u64;
            let outer = u64::from(UDP) + (ip_len - at.header_len()) as u64;
            let check = udp_form(complement(
                sum(&extension) + outer + 65535 - original % 65535,
            ));
            put16(&mut extension, 6, check);
        }
        let mut tagged = frame.to_vec();
        tagged.splice(at.l4..at.l4, extension);
        change_ip(&mut tagged, at, at.tos, ip_len, UDP);
        tagged
    }

    fn gpe_block(&self, frame: &[u8], at: &Layout, stamp: Stamp) -> gpe::Block {
        gpe::Block {
            v6: at.v6,
            budget: self.budget.filter(|hops| *hops > 0),
            without_queue: self.asks_for_no_queue(),
            age_code: stamp.age_code,
            node: self.node,
            port: self.port,
            queue_packets: stamp.queue.0,
            queue_bytes: stamp.queue.1,
            timestamp: stamp.timestamp,
            sequence: stamp.sequence,
            base: match (at.protocol, at.v6) {
                (TCP, _) => be32(frame, at.l4 + 4),
                (_, false) => be16(frame, at.l3 + 4).into(),
                (_, true) => 0,
            },
            size: 0,
            count: 1,
        }
    }
}

/// The outer source port spreads flows.
pub fn gpe_port(frame: &[u8], at: &Layout) -> u16 {
    let (sport, dport) = (be16(frame, at.l4), be16(frame, at.l4 + 2));
    0xc000 | (sport ^ dport.wrapping_mul(31) ^ u16::from(at.protocol)) & 0x3fff
}

/// Do the headers fit into the IP packet, and that into the frame?
fn lengths_agree(frame: &[u8], at: &Layout) -> bool {
    let fixed = fixed_l4_len(at.protocol);
    let Some(l4) = frame.get(at.l4..at.l4 + fixed) else {
        return false;
    };
    let fits = match at.protocol {
        UDP => {
            usize::from(be16(l4, 4)) + at.header_len() == at.ip_len
                && at.ip_len >= at.header_len() + 8
        }
        _ => l4[12] >> 4 >= 5 && at.ip_len >= at.header_len() + usize::from(l4[12] >> 4) * 4,
    };
    fits && at.l3 + at.ip_len <= frame.len()
}

/// The code for a numbering of this age: the smallest n with age < 2^(n-1) * 2^24 ns, none above 15.
pub fn age_code(age_ns: u64) -> u8 {
    (1..=15)
        .find(|n| age_ns < 1 << (n - 1 + 24))
        .unwrap_or_default()
}
