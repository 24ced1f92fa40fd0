//! Packets built by layer, as a sender's stack would send them unless told otherwise.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::checksum::{complement, pseudo_header, put16, sum, udp_form};
use super::int_block::{BLOCK_LEN, Block, FLAG_DSCP};

pub const TCP: u8 = 6;
pub const UDP: u8 = 17;
/// Value and mask of the ToS byte that mark INT-MD; the value has the other mark, too.
pub const INT_MD_MARK: (u8, u8) = (0x17 << 2, 0x3f << 2);
pub const EXTENSION_PORT: u16 = 33122;
/// DSCP 1, in its place in the ToS byte.
pub const MARK: u8 = 0x04;

#[derive(Clone, Debug)]
pub struct Frame {
    destination: [u8; 6],
    ethertype: u16,
    vlans: Vec<u16>,
    ip: bool,
    version_ihl: Option<u8>,
    tos: u8,
    wire_tos: Option<u8>,
    total_len: Option<u16>,
    id: u16,
    fragment: u16,
    ttl: u8,
    protocol: u8,
    source: Ipv4Addr,
    target: Ipv4Addr,
    ip_options: Vec<u8>,
    ipv6: Option<(Ipv6Addr, Ipv6Addr)>,
    /// Kind and bytes of each IPv6 extension header.
    extension_headers: Vec<(u8, usize)>,
    ports: (u16, u16),
    udp_len: Option<u16>,
    udp_checksum: bool,
    tcp_options: Vec<u8>,
    tcp_words: Option<u8>,
    /// Sequence number and flags.
    segment: (u32, u8),
    payload: Vec<u8>,
    int: Option<(Carried, Block)>,
    padding: usize,
    cut: Option<usize>,
}

/// Where the INT block sits.
#[derive(Clone, Copy, Debug)]
enum Carried {
    OverTcpUdp,
    Extension { port: u16, stated: u8 },
}

impl Frame {
    pub fn ethernet() -> Self {
        Frame {
            destination: [2, 0, 0, 0, 0, 2],
            ethertype: 0x0800,
            vlans: Vec::new(),
            ip: false,
            version_ihl: None,
            tos: 0,
            wire_tos: None,
            total_len: None,
            id: 0x4242,
            fragment: 0x4000,
            ttl: 64,
            protocol: 0,
            source: Ipv4Addr::new(192, 0, 2, 1),
            target: Ipv4Addr::new(198, 51, 100, 2),
            ip_options: Vec::new(),
            ipv6: None,
            extension_headers: Vec::new(),
            ports: (40000, 5001),
            udp_len: None,
            udp_checksum: true,
            tcp_options: Vec::new(),
            tcp_words: None,
            segment: (0x1122_3344, 0x18),
            payload: Vec::new(),
            int: None,
            padding: 0,
            cut: None,
        }
    }

    pub fn destination(mut self, address: [u8; 6]) -> Self {
        self.destination = address;
        self
    }

    pub fn ethertype(mut self, ethertype: u16) -> Self {
        self.ethertype = ethertype;
        self
    }

    pub fn vlan(mut self, id: u16) -> Self {
        self.vlans.push(id);
        self
    }

    pub fn ipv4(mut self) -> Self {
        self.ip = true;
        self
    }

    pub fn ipv6(mut self) -> Self {
        self.ip = true;
        self.ethertype = 0x86dd;
        self.ipv6 = Some((
            Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1),
            Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, 2),
        ));
        self
    }

    pub fn addresses6(mut self, source: Ipv6Addr, target: Ipv6Addr) -> Self {
        self.ipv6 = Some((source, target));
        self
    }

    /// One more extension header of this kind; the length is a multiple of 8.
    pub fn extension_header(mut self, kind: u8, bytes: usize) -> Self {
        self.extension_headers.push((kind, bytes));
        self
    }

    pub fn version_ihl(mut self, byte: u8) -> Self {
        self.version_ihl = Some(byte);
        self
    }

    pub fn dscp(mut self, dscp: u8) -> Self {
        self.tos = dscp << 2 | self.tos & 3;
        self
    }

    pub fn ecn(mut self, ecn: u8) -> Self {
        self.tos = self.tos & !3 | ecn;
        self
    }

    /// ToS on the wire, whatever the layers say.
    pub fn wire_tos(mut self, tos: u8) -> Self {
        self.wire_tos = Some(tos);
        self
    }

    pub fn total_len(mut self, len: u16) -> Self {
        self.total_len = Some(len);
        self
    }

    pub fn id(mut self, id: u16) -> Self {
        self.id = id;
        self
    }

    pub fn dont_fragment(mut self, yes: bool) -> Self {
        self.fragment = self.fragment & !0x4000 | u16::from(yes) << 14;
        self
    }

    pub fn more_fragments(mut self) -> Self {
        self.fragment |= 0x2000;
        self
    }

    /// In units of 8 bytes.
    pub fn fragment_offset(mut self, offset: u16) -> Self {
        self.fragment |= offset;
        self
    }

    pub fn ttl(mut self, ttl: u8) -> Self {
        self.ttl = ttl;
        self
    }

    pub fn from(mut self, address: impl Into<Ipv4Addr>) -> Self {
        self.source = address.into();
        self
    }

    pub fn to(mut self, address: impl Into<Ipv4Addr>) -> Self {
        self.target = address.into();
        self
    }

    pub fn ip_options(mut self, bytes: usize) -> Self {
        self.ip_options = vec![1; bytes];
        self
    }

    pub fn protocol(mut self, protocol: u8) -> Self {
        self.protocol = protocol;
        self
    }

    pub fn udp(self) -> Self {
        self.protocol(UDP)
    }

    pub fn is_ipv6(&self) -> bool {
        self.ipv6.is_some()
    }

    pub fn is_udp(&self) -> bool {
        self.protocol == UDP
    }

    pub fn tcp(self) -> Self {
        self.protocol(TCP)
    }

    pub fn ports(mut self, source: u16, target: u16) -> Self {
        self.ports = (source, target);
        self
    }

    pub fn udp_len(mut self, len: u16) -> Self {
        self.udp_len = Some(len);
        self
    }

    pub fn without_udp_checksum(mut self) -> Self {
        self.udp_checksum = false;
        self
    }

    pub fn tcp_options(mut self, bytes: usize) -> Self {
        self.tcp_options = vec![1; bytes];
        self
    }

    /// These options, whose length is a multiple of 4.
    pub fn tcp_option_bytes(mut self, bytes: Vec<u8>) -> Self {
        self.tcp_options = bytes;
        self
    }

    /// TCP sequence number and flags.
    pub fn segment(mut self, seq: u32, flags: u8) -> Self {
        self.segment = (seq, flags);
        self
    }

    /// TCP data offset, whatever the options are.
    pub fn tcp_words(mut self, words: u8) -> Self {
        self.tcp_words = Some(words);
        self
    }

    pub fn payload(self, len: usize) -> Self {
        self.payload_bytes((0..len).map(|i| (i * 7 + 3) as u8).collect())
    }

    pub fn payload_bytes(mut self, bytes: Vec<u8>) -> Self {
        self.payload = bytes;
        self
    }

    /// INT over TCP or UDP, marked; the block keeps the DSCP if its flags say so.
    pub fn tagged(mut self, block: Block) -> Self {
        self.int = Some((Carried::OverTcpUdp, block));
        self
    }

    /// INT behind an extra UDP header.
    pub fn extended(self, block: Block) -> Self {
        let stated = self.protocol;
        self.extended_as(block, EXTENSION_PORT, stated)
    }

    /// As `extended`; the tail states this protocol, whatever follows.
    pub fn extended_as(mut self, block: Block, port: u16, stated: u8) -> Self {
        self.int = Some((Carried::Extension { port, stated }, block));
        self
    }

    pub fn untagged(mut self) -> Self {
        self.int = None;
        self
    }

    /// Bytes behind the IP packet, as Ethernet needs for short ones.
    pub fn padding(mut self, bytes: usize) -> Self {
        self.padding = bytes;
        self
    }

    /// Only the first bytes of the frame arrive.
    pub fn cut(mut self, len: usize) -> Self {
        self.cut = Some(len);
        self
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut frame = self.destination.to_vec();
        frame.extend_from_slice(&[2, 0, 0, 0, 0, 1]);
        for id in &self.vlans {
            frame.extend_from_slice(&[0x81, 0x00]);
            frame.extend_from_slice(&id.to_be_bytes());
        }
        frame.extend_from_slice(&self.ethertype.to_be_bytes());
        if self.ip {
            self.put_ip(&mut frame);
        } else {
            frame.extend_from_slice(&self.payload);
        }
        frame.extend((0..self.padding).map(|i| 0xa0 | (i & 15) as u8));
        frame.truncate(self.cut.unwrap_or(usize::MAX));
        frame
    }

    fn put_ip(&self, frame: &mut Vec<u8>) {
        if self.ipv6.is_some() {
            self.put_ipv6(frame);
        } else {
            self.put_ipv4(frame);
        }
    }

    fn addresses(&self) -> Vec<u8> {
        match self.ipv6 {
            Some((source, target)) => [source.octets(), target.octets()].concat(),
            None => [self.source.octets(), self.target.octets()].concat(),
        }
    }

    /// ToS and protocol as INT makes them.
    fn tos_and_protocol(&self) -> (u8, u8) {
        let (tos, protocol) = match self.int {
            Some((Carried::OverTcpUdp, _)) => (self.tos | MARK, self.protocol),
            Some((Carried::Extension { .. }, _)) => (self.tos, UDP),
            None => (self.tos, self.protocol),
        };
        (self.wire_tos.unwrap_or(tos), protocol)
    }

    fn put_ipv4(&self, frame: &mut Vec<u8>) {
        let header_len = 20 + self.ip_options.len();
        let mut ip = vec![0; 20];
        ip[0] = self.version_ihl.unwrap_or(0x40 | (header_len / 4) as u8);
        put16(&mut ip, 4, self.id);
        put16(&mut ip, 6, self.fragment);
        ip[8] = self.ttl;
        (ip[1], ip[9]) = self.tos_and_protocol();
        ip[12..20].copy_from_slice(&self.addresses());
        let body = self.ip_payload();
        let len = (header_len + body.len()) as u16;
        put16(&mut ip, 2, self.total_len.unwrap_or(len));
        ip.extend_from_slice(&self.ip_options);
        let check = complement(sum(&ip));
        put16(&mut ip, 10, check);
        frame.extend_from_slice(&ip);
        frame.extend_from_slice(&body);
    }

    fn put_ipv6(&self, frame: &mut Vec<u8>) {
        let (tos, protocol) = self.tos_and_protocol();
        let kinds: Vec<u8> = self
            .extension_headers
            .iter()
            .map(|(kind, _)| *kind)
            .collect();
        let mut next = kinds.iter().copied().chain([protocol]);
        let body = self.ip_payload();
        let mut headers = Vec::new();
        let mut ip = vec![0x60 | tos >> 4, tos << 4 | 0x0b, 0xee, 0xf1, 0, 0];
        ip.extend([next.next().expect("the protocol at least"), self.ttl]);
        for (kind, bytes) in &self.extension_headers {
            let mut header = vec![0x5a; *bytes];
            header[0] = next.next().expect("as many as headers");
            header[1] = (bytes / 8 - 1) as u8;
            if *kind == 44 {
                header[1] = 0;
                put16(&mut header, 2, self.fragment & 0x1fff);
            }
            headers.extend(header);
        }
        let len = (headers.len() + body.len()) as u16;
        put16(&mut ip, 4, self.total_len.unwrap_or(len));
        ip.extend(self.addresses());
        frame.extend(ip);
        frame.extend(headers);
        frame.extend(body);
    }

    fn ip_payload(&self) -> Vec<u8> {
        match self.int {
            None => self.l4(None),
            Some((Carried::OverTcpUdp, mut block)) => {
                if block.0[1] & FLAG_DSCP != 0 {
                    block.0[3] |= self.tos & !3;
                }
                self.l4(Some(block))
            }
            Some((Carried::Extension { port, stated }, block)) => {
                let inner = self.l4(None);
                let mut outer = vec![0; 8];
                put16(&mut outer, 0, self.ports.0);
                put16(&mut outer, 2, port);
                let len = (8 + BLOCK_LEN + inner.len()) as u16;
                put16(&mut outer, 4, self.udp_len.unwrap_or(len));
                outer.extend_from_slice(&block.byte(32, stated).0);
                outer.extend_from_slice(&inner);
                outer
            }
        }
    }

    /// The L4 header, INT behind its fixed part, and what follows.
    fn l4(&self, block: Option<Block>) -> Vec<u8> {
        let (mut l4, check_at) = match self.protocol {
            UDP => (vec![0; 8], 6),
            TCP => (vec![0; 20], 16),
            _ => return self.payload.clone(),
        };
        let fixed = l4.len();
        put16(&mut l4, 0, self.ports.0);
        put16(&mut l4, 2, self.ports.1);
        l4.extend(block.iter().flat_map(|b| b.0));
        if self.protocol == TCP {
            l4[4..8].copy_from_slice(&self.segment.0.to_be_bytes());
            l4[8..12].copy_from_slice(&[0x55, 0x66, 0x77, 0x88]);
            let words = 5 + self.tcp_options.len().div_ceil(4) as u8;
            l4[12] = self.tcp_words.unwrap_or(words) << 4;
            l4[13..16].copy_from_slice(&[self.segment.1, 0x01, 0xf5]);
            l4.extend_from_slice(&self.tcp_options);
        }
        l4.extend_from_slice(&self.payload);
        if self.protocol == UDP {
            let inner = matches!(self.int, Some((Carried::Extension { .. }, _)));
            let len = l4.len() as u16;
            let stated = self.udp_len.filter(|_| !inner).unwrap_or(len);
            put16(&mut l4, 4, stated);
        }
        let mut counted = l4.clone();
        if block.is_some_and(|b| !b.counts_tail()) {
            counted[fixed + BLOCK_LEN - 4..][..4].fill(0);
        }
        let check =
            complement(pseudo_header(&self.addresses(), self.protocol, l4.len()) + sum(&counted));
        if self.protocol == TCP {
            put16(&mut l4, check_at, check);
        } else if self.udp_checksum {
            put16(&mut l4, check_at, udp_form(check));
        }
        l4
    }
}
