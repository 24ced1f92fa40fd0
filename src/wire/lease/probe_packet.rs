//! Packets that carry probes: what a UDP socket, or for stray TCP segments a raw socket, is given to send.

use std::net::IpAddr;

use super::probe;
use crate::model::{Hop, LeaseKey, LeaseProbe, NodeId, ProbeForm};
use crate::wire::checksum::checksum;
use crate::wire::datagram_option;
use crate::wire::int_v05::{BLOCK_BYTES, IntBlock, ShimNotes};
use crate::wire::ioam::IoamHeader;

/// Destination port of probes and of VXLAN-GPE.
pub const GPE_PORT: u16 = 4790;
/// Stray packets of lower numbers are TCP segments, which answer a SYN if the number is odd; the others are UDP datagrams.
pub const STRAY_DATAGRAMS: u8 = 8;
/// Destination port of stray packets. No firewall permits it for its own sake, so only one that lets packets of
/// unknown conversations pass anyway lets them pass.
pub const STRAY_PORT: u16 = 64511;

const GPE_BLOCK_LEN: usize = 60;
const INT_MD_BLOCK_LEN: usize = 48;
const UDP_LEN: usize = 8;
const TCP_LEN: usize = 20;
const TCP: u8 = 6;
const UDP: u8 = 17;
const HOP_BY_HOP: u8 = 0;
const TTL: u8 = 64;
const SYN: u8 = 0x02;
const ACK: u8 = 0x10;
/// With the headers before it, a longer payload would not fit into an IP packet.
const MOST_LEN: usize = 65_000;

/// A probe on its way.
#[derive(Clone, Copy, Debug)]
pub struct ProbePacket {
    pub probe: LeaseProbe,
    pub source: IpAddr,
    pub dest: IpAddr,
    /// The source's node id.
    pub node: NodeId,
    /// Entries for which data in ioam has room.
    pub entries: u8,
    /// It is a stray that a sink's host sends back.
    pub is_back: bool,
}

impl ProbePacket {
    /// What follows the IP header, if it is not UDP.
    pub fn raw_protocol(&self) -> Option<u8> {
        match self.probe.form {
            ProbeForm::Ioam => Some(HOP_BY_HOP),
            ProbeForm::Options => Some(UDP),
            _ => self.is_segment().then_some(TCP),
        }
    }

    /// True for a stray TCP segment.
    fn is_segment(&self) -> bool {
        self.probe.form == ProbeForm::Stray && self.probe.number < STRAY_DATAGRAMS
    }

    /// Source port of the packet, and of the packet inside a tunnel.
    pub fn sport(&self) -> u16 {
        probe::FIRST_PORT + u16::from(self.probe.number)
    }

    /// Destination port of the packet, if the sink takes this one as the extension port.
    pub fn dport(&self, extension_port: u16) -> u16 {
        match self.probe.form {
            ProbeForm::Extension => extension_port,
            ProbeForm::OverUdp
            | ProbeForm::Gpe
            | ProbeForm::IntMd
            | ProbeForm::Ioam
            | ProbeForm::Options => GPE_PORT,
            ProbeForm::Stray => STRAY_PORT,
        }
    }

    /// The least length of [`Self::payload`].
    pub fn least_len(&self) -> usize {
        let header = match self.probe.form {
            ProbeForm::OverUdp => BLOCK_BYTES,
            ProbeForm::IntMd => INT_MD_BLOCK_LEN,
            ProbeForm::Extension => BLOCK_BYTES + UDP_LEN,
            ProbeForm::Gpe => GPE_BLOCK_LEN + ip_len(self.dest) + UDP_LEN,
            ProbeForm::Stray if self.is_segment() => TCP_LEN,
            // It pays for a segment.
            ProbeForm::Stray => TCP_LEN - UDP_LEN,
            ProbeForm::Ioam => IoamHeader::len(self.entries) + UDP_LEN,
            ProbeForm::Options => UDP_LEN + datagram_option::LEN,
        };
        header + probe::PROBE_LEN
    }

    /// The bytes behind the UDP header, or behind the IP header if that is another protocol's. Zeros fill them up to `len`.
    pub fn payload(&self, key: LeaseKey, len: usize) -> Vec<u8> {
        let len = match self.probe.form {
            // What stands behind the data ends at an even place.
            ProbeForm::Options => len & !1,
            _ => len,
        };
        let len = len.clamp(self.least_len(), MOST_LEN);
        let magic = match self.is_back {
            true => probe::BACK_MAGIC,
            false => probe::MAGIC,
        };
        let encoded = probe::encode(&self.probe, magic, (self.source, self.dest), key);
        let mut probe = encoded.to_vec();
        let is_bare = self.probe.form == ProbeForm::Stray && !self.is_segment();
        probe.resize(
            match is_bare {
                true => len,
                false => len - (self.least_len() - probe::PROBE_LEN),
            },
            0,
        );
        match self.probe.form {
            ProbeForm::OverUdp => [self.int_block(0), probe].concat(),
            ProbeForm::IntMd => [self.int_md_block(), probe].concat(),
            ProbeForm::Extension => [self.int_block(UDP), self.udp(&probe)].concat(),
            ProbeForm::Gpe => {
                let udp = self.udp(&probe);
                [self.gpe_block(), self.ip(udp.len()), udp].concat()
            }
            ProbeForm::Stray if self.is_segment() => self.tcp(&probe, &encoded),
            ProbeForm::Stray => probe,
            ProbeForm::Ioam => [self.hop_by_hop(), self.udp(&probe)].concat(),
            ProbeForm::Options => self.datagram_with_option(&probe),
        }
    }

    /// An INT block as data has it. Its times are 0: no latency is taken from a probe.
    fn int_block(&self, protocol: u8) -> Vec<u8> {
        let block = IntBlock {
            notes: ShimNotes {
                tail_is_checksum: true,
                ..ShimNotes::default()
            },
            source: Hop {
                node: self.node,
                ingress_port: 0,
                egress_port: 0,
                ingress_ts: 0,
                egress_ts: 0,
                queue: None,
            },
            sequence: self.probe.number.into(),
            tail: [protocol, 0, 0, 0],
        };
        block.emit()
    }

    fn int_md_block(&self) -> Vec<u8> {
        let mut block = Vec::with_capacity(INT_MD_BLOCK_LEN);
        block.extend([0x10, 11, 0, 0]); // shim: INT-MD, words, original DSCP
        block.extend([0x20, 0, 6, 0, 0xf8, 0]); // version 2, words of a hop; node id, ports, latency, queue, ingress time
        block.extend([0x48, 0x49, 0x90, 0, 0, 0]); // hostint's domain: sequence number, tail
        block.extend(self.node.0.to_be_bytes());
        block.extend([0; 20]); // ports, latency, queue, time
        block.extend(u32::from(self.probe.number).to_be_bytes());
        block.extend([0; 4]); // tail
        block
    }

    fn gpe_block(&self) -> Vec<u8> {
        let next = if self.dest.is_ipv4() { 1 } else { 2 };
        let mut block = Vec::with_capacity(GPE_BLOCK_LEN);
        block.extend([0x0c, 0, 0, 0x82, 0, 0, 0, 0]); // VXLAN-GPE: I and P, next is INT, VNI 0
        block.extend([0x10, 12, 0, next]); // shim: INT-MD, words
        block.extend([0x20, 0, 5, 0, 0xd8, 0]); // version 2, words of a hop, node id, ports, queue, ingress time
        block.extend([0x48, 0x49, 0xe0, 0, 0, 0]); // hostint's domain: sequence number, backlog, segments
        block.extend(self.node.0.to_be_bytes());
        block.extend([0; 16]); // ports, queue, time
        block.extend(u32::from(self.probe.number).to_be_bytes());
        block.extend([0; 10]); // backlog, base, size
        block.extend(1u16.to_be_bytes()); // segments
        block
    }

    fn hop_by_hop(&self) -> Vec<u8> {
        let header = IoamHeader {
            next: UDP,
            node: self.node,
            sequence: self.probe.number.into(),
            entries: self.entries,
        };
        header.emit()
    }

    /// The header of the packet in the tunnel, in front of this many bytes of UDP.
    fn ip(&self, udp_len: usize) -> Vec<u8> {
        let tos = self.probe.tos;
        match (self.source, self.dest) {
            (IpAddr::V4(source), IpAddr::V4(dest)) => {
                let mut header = vec![0x45, tos];
                header.extend(wire_u16(TCP_LEN + udp_len));
                header.extend([0, 0, 0x40, 0, TTL, UDP, 0, 0]);
                header.extend(source.octets());
                header.extend(dest.octets());
                let check = checksum(&[&header]);
                header[10..12].copy_from_slice(&check.to_be_bytes());
                header
            }
            (source, dest) => {
                let mut header = vec![0x60 | tos >> 4, tos << 4, 0, 0];
                header.extend(wire_u16(udp_len));
                header.extend([UDP, TTL]);
                header.extend(super::address_bytes(source));
                header.extend(super::address_bytes(dest));
                header
            }
        }
    }

    fn udp(&self, payload: &[u8]) -> Vec<u8> {
        let mut datagram = Vec::with_capacity(UDP_LEN + payload.len());
        datagram.extend(self.sport().to_be_bytes());
        datagram.extend(GPE_PORT.to_be_bytes());
        datagram.extend(wire_u16(UDP_LEN + payload.len()));
        datagram.extend([0, 0]);
        datagram.extend(payload);
        // A checksum of 0 would say that there is none.
        let check = match self.checksum(UDP, &datagram) {
            0 => u16::MAX,
            check => check,
        };
        datagram[6..8].copy_from_slice(&check.to_be_bytes());
        datagram
    }

    fn datagram_with_option(&self, payload: &[u8]) -> Vec<u8> {
        let datagram = self.udp(payload);
        let number = self.probe.number.into();
        let area = datagram_option::area(datagram.len(), self.node, number);
        [datagram, area].concat()
    }

    /// A segment of no connection, or the answer to a SYN that no host sent. Its numbers are the probe's tag, which cannot be
    /// predicted.
    fn tcp(&self, payload: &[u8], encoded: &[u8]) -> Vec<u8> {
        let mut segment = Vec::with_capacity(TCP_LEN + payload.len());
        segment.extend(self.sport().to_be_bytes());
        segment.extend(STRAY_PORT.to_be_bytes());
        segment.extend(encoded.iter().skip(probe::PROBE_LEN - 8)); // sequence and acknowledgement number
        let flags = match self.probe.number % 2 {
            0 => ACK,
            _ => SYN | ACK,
        };
        segment.extend([0x50, flags]); // header of 5 words
        segment.extend([0xff, 0xff, 0, 0, 0, 0]);
        segment.extend(payload);
        let check = self.checksum(TCP, &segment);
        segment[16..18].copy_from_slice(&check.to_be_bytes());
        segment
    }

    /// The checksum of a transport header and what follows it, with the pseudo header.
    fn checksum(&self, protocol: u8, bytes: &[u8]) -> u16 {
        let addresses = match (self.source, self.dest) {
            (IpAddr::V4(source), IpAddr::V4(dest)) => {
                [&source.octets()[..], &dest.octets()[..]].concat()
            }
            (source, dest) => [super::address_bytes(source), super::address_bytes(dest)].concat(),
        };
        let [high, low] = wire_u16(bytes.len());
        checksum(&[&addresses, &[0, protocol, high, low], bytes])
    }
}

fn ip_len(dest: IpAddr) -> usize {
    if dest.is_ipv4() { 20 } else { 40 }
}

/// A length in a header. Payloads are limited so that it fits.
fn wire_u16(len: usize) -> [u8; 2] {
    u16::try_from(len).unwrap_or(u16::MAX).to_be_bytes()
}
