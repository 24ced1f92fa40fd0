//! Packets as they come back to a source, of both IP versions: ICMP errors that quote what it sent, and SYNs.

use super::checksum::{complement, pseudo_header, put16, sum, udp_form};
use super::frame::{EXTENSION_PORT, INT_MD_MARK, MARK, TCP, UDP};
use super::int_block::{BLOCK_LEN, Block};
use super::model::int_md;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Family {
    V4,
    V6,
}

/// Who sends: the source's host, one that it watches, a router, somebody else.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Host {
    Source = 1,
    Watched = 2,
    Router = 3,
    Other = 4,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Carrier {
    OverTcpUdp,
    ExtensionUdp,
    VxlanGpe,
    IntMd,
}

impl Carrier {
    /// INT stands in front of the original's L4 header.
    pub fn is_tunnel(self) -> bool {
        matches!(self, Self::ExtensionUdp | Self::VxlanGpe)
    }
}

/// What an error says.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    TooBig(u16),
    TimeExceeded,
    HostUnreachable,
    ParameterProblem,
    /// Type and code.
    Other(u8, u8),
}

pub const FAMILIES: [Family; 2] = [Family::V4, Family::V6];
pub const CARRIERS: [Carrier; 4] = [
    Carrier::OverTcpUdp,
    Carrier::ExtensionUdp,
    Carrier::VxlanGpe,
    Carrier::IntMd,
];
pub const GPE_BLOCK_LEN: usize = 60;

impl Family {
    pub fn header_len(self) -> usize {
        match self {
            Family::V4 => 20,
            Family::V6 => 40,
        }
    }

    /// The place of the byte that names what follows the header.
    pub fn protocol_at(self) -> usize {
        match self {
            Family::V4 => 9,
            Family::V6 => 6,
        }
    }

    pub fn icmp(self) -> u8 {
        match self {
            Family::V4 => 1,
            Family::V6 => 58,
        }
    }

    /// What an error's MTU may be at least.
    pub fn least_mtu(self) -> u16 {
        match self {
            Family::V4 => 68,
            Family::V6 => 1280,
        }
    }

    pub fn address(self, host: Host) -> Vec<u8> {
        match self {
            Family::V4 => vec![198, 51, 100, host as u8],
            Family::V6 => {
                let mut address = vec![0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
                address.push(host as u8);
                address
            }
        }
    }

    fn pseudo_header(self, ip: &[u8], protocol: u8, len: usize) -> u64 {
        match self {
            Family::V4 => pseudo_header(&ip[12..20], protocol, len),
            Family::V6 => pseudo_header(&ip[8..40], protocol, len),
        }
    }
}

/// An IP packet; the body's checksum is not this one's business.
#[derive(Clone, Debug)]
pub struct Ip {
    pub family: Family,
    pub from: Host,
    pub to: Host,
    pub tos: u8,
    pub protocol: u8,
    /// IPv4, in bytes.
    pub options: usize,
    /// IPv6: their numbers, 8 bytes each.
    pub extensions: Vec<u8>,
}

impl Ip {
    pub fn new(family: Family, from: Host, to: Host, protocol: u8) -> Self {
        Ip {
            family,
            from,
            to,
            tos: 0,
            protocol,
            options: 0,
            extensions: Vec::new(),
        }
    }

    pub fn around(&self, body: &[u8]) -> Vec<u8> {
        let mut ip = match self.family {
            Family::V4 => {
                let mut ip = vec![0; 20];
                ip[0] = 0x45 + (self.options / 4) as u8;
                ip[1] = self.tos;
                put16(&mut ip, 2, (20 + self.options + body.len()) as u16);
                put16(&mut ip, 6, 0x4000);
                ip[8] = 61;
                ip[9] = self.protocol;
                ip[12..16].copy_from_slice(&self.family.address(self.from));
                ip[16..20].copy_from_slice(&self.family.address(self.to));
                ip.resize(20 + self.options, 1);
                mend_header(&mut ip);
                ip
            }
            Family::V6 => {
                let mut ip = vec![0; 40];
                ip[0] = 0x60 | self.tos >> 4;
                ip[1] = self.tos << 4;
                put16(&mut ip, 4, (8 * self.extensions.len() + body.len()) as u16);
                ip[7] = 61;
                ip[8..24].copy_from_slice(&self.family.address(self.from));
                ip[24..40].copy_from_slice(&self.family.address(self.to));
                let mut named_at = 6;
                for number in &self.extensions {
                    ip[named_at] = *number;
                    named_at = ip.len();
                    ip.extend_from_slice(&[0, 0, 1, 4, 0, 0, 0, 0]);
                }
                ip[named_at] = self.protocol;
                ip
            }
        };
        ip.extend_from_slice(body);
        ip
    }

    /// A TCP segment with these options, or a UDP datagram, around a payload.
    pub fn l4(&self, flags: u8, options: &[u8], payload: &[u8]) -> Vec<u8> {
        let (mut l4, check_at) = match self.protocol {
            TCP => (vec![0; 20], 16),
            _ => (vec![0; 8], 6),
        };
        put16(&mut l4, 0, 40000);
        put16(&mut l4, 2, 5001);
        if self.protocol == TCP {
            l4[4..12].copy_from_slice(&[0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88]);
            l4[12] = (5 + options.len() as u8 / 4) << 4;
            l4[13..16].copy_from_slice(&[flags, 0x01, 0xf5]);
            l4.extend_from_slice(options);
        }
        l4.extend_from_slice(payload);
        if self.protocol == UDP {
            let len = l4.len() as u16;
            put16(&mut l4, 4, len);
        }
        let ip = self.around(&[]);
        let check = self.family.pseudo_header(&ip, self.protocol, l4.len()) + sum(&l4);
        put16(&mut l4, check_at, udp_form(complement(check)));
        l4
    }
}

/// Computes an IPv4 header's checksum anew.
pub fn mend_header(ip: &mut [u8]) {
    let len = usize::from(ip[0] & 15) * 4;
    put16(ip, 10, 0);
    let check = complement(sum(&ip[..len]));
    put16(ip, 10, check);
}

/// What the source's host sent before INT came into it.
pub fn original(family: Family, protocol: u8) -> Vec<u8> {
    let ip = Ip::new(family, Host::Source, Host::Watched, protocol);
    let payload: Vec<u8> = (0..120).collect();
    ip.around(&ip.l4(0x18, &[], &payload))
}

pub fn gpe_block(family: Family) -> [u8; GPE_BLOCK_LEN] {
    let mut block = [0; GPE_BLOCK_LEN];
    block[..4].copy_from_slice(&[0x0c, 0, 0, 0x82]);
    let next = if family == Family::V4 { 1 } else { 2 };
    block[8..12].copy_from_slice(&[0x10, 12, 0, next]);
    block[12..24].copy_from_slice(&[0x20, 0, 5, 0, 0xd8, 0, 0x48, 0x49, 0xe0, 0, 0, 0]);
    for (i, byte) in block[24..].iter_mut().enumerate() {
        *byte = i as u8;
    }
    block
}

fn udp_around(port: u16, body: &[&[u8]]) -> Vec<u8> {
    let mut udp = vec![0; 8];
    put16(&mut udp, 0, 40000);
    put16(&mut udp, 2, port);
    udp.extend(body.concat());
    let len = udp.len() as u16;
    put16(&mut udp, 4, len);
    udp
}

/// What the source made of it.
pub fn tagged(carrier: Carrier, family: Family, protocol: u8) -> Vec<u8> {
    let original = original(family, protocol);
    let l4 = &original[family.header_len()..];
    let mut ip = Ip::new(family, Host::Source, Host::Watched, protocol);
    let body = match carrier {
        Carrier::OverTcpUdp => {
            let (fixed, rest) = l4.split_at(if protocol == TCP { 20 } else { 8 });
            ip.tos = MARK | 1;
            [fixed, &Block::hostint().0, rest].concat()
        }
        Carrier::IntMd => {
            let (fixed, rest) = l4.split_at(if protocol == TCP { 20 } else { 8 });
            ip.tos = INT_MD_MARK.0 | 1;
            [fixed, &int_md::Own::single().bytes(ip.tos), rest].concat()
        }
        Carrier::ExtensionUdp => {
            let block = Block::hostint_extension().byte(32, protocol);
            ip.protocol = UDP;
            udp_around(EXTENSION_PORT, &[&block.0, l4])
        }
        Carrier::VxlanGpe => {
            ip.protocol = UDP;
            udp_around(4790, &[&gpe_block(family), &original])
        }
    };
    ip.around(&body)
}

/// How much longer the packet became.
pub fn added_len(carrier: Carrier, family: Family) -> u16 {
    let added = match carrier {
        Carrier::OverTcpUdp => BLOCK_LEN,
        Carrier::IntMd => int_md::OWN_LEN,
        Carrier::ExtensionUdp => 8 + BLOCK_LEN,
        Carrier::VxlanGpe => family.header_len() + 8 + GPE_BLOCK_LEN,
    };
    added as u16
}

/// A quote in which the stack of the source's host finds what it sent: protocol and first bytes of L4.
pub fn translated(quote: &[u8], family: Family, protocol: u8) -> Vec<u8> {
    let (header, mut quote) = (family.header_len(), quote.to_vec());
    quote[family.protocol_at()] = protocol;
    if family == Family::V4 {
        mend_header(&mut quote);
    }
    quote[header..header + 8].copy_from_slice(&original(family, protocol)[header..header + 8]);
    quote
}

/// An ICMP error as the body of a packet.
pub fn error_body(family: Family, kind: Kind, ip: &Ip, quote: &[u8]) -> Vec<u8> {
    let (number, code) = match (kind, family) {
        (Kind::TooBig(_), Family::V4) => (3, 4),
        (Kind::TooBig(_), Family::V6) => (2, 0),
        (Kind::TimeExceeded, Family::V4) => (11, 0),
        (Kind::TimeExceeded, Family::V6) => (3, 0),
        (Kind::HostUnreachable, Family::V4) => (3, 1),
        (Kind::HostUnreachable, Family::V6) => (1, 3),
        (Kind::ParameterProblem, Family::V4) => (12, 0),
        (Kind::ParameterProblem, Family::V6) => (4, 0),
        (Kind::Other(number, code), _) => (number, code),
    };
    let mut icmp = vec![number, code, 0, 0, 0, 0, 0, 0];
    if let Kind::TooBig(mtu) = kind {
        put16(&mut icmp, 6, mtu);
    }
    if family == Family::V4 {
        icmp[5] = 0x20; // RFC 4884: words of the quote
    }
    icmp.extend_from_slice(quote);
    let pseudo = match family {
        Family::V4 => 0,
        Family::V6 => pseudo_header(&ip.around(&[])[8..40], 58, icmp.len()),
    };
    let check = complement(pseudo + sum(&icmp));
    put16(&mut icmp, 2, check);
    icmp
}

/// A router's ICMP error to the source's host.
pub fn error(family: Family, kind: Kind, quote: &[u8]) -> Vec<u8> {
    let ip = Ip::new(family, Host::Router, Host::Source, family.icmp());
    ethernet(0, &ip.around(&error_body(family, kind, &ip, quote)))
}

/// A frame with so many VLAN tags around an IP packet.
pub fn ethernet(tags: usize, ip: &[u8]) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
    for tag in 0..tags {
        let outer: [u8; 2] = if tag + 1 < tags {
            [0x88, 0xa8]
        } else {
            [0x81, 0x00]
        };
        frame.extend_from_slice(&outer);
        frame.extend_from_slice(&[0, 7]);
    }
    frame.extend_from_slice(match ip[0] >> 4 {
        4 => &[0x08, 0x00],
        _ => &[0x86, 0xdd],
    });
    frame.extend_from_slice(ip);
    frame
}
