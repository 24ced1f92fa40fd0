//! A packet that represents a flow in standard reports: its headers and INT, without payload.
//!
//! Addresses, ports, protocol and VLAN tags are the flow's. Everything else is the minimum of a well-formed packet, and
//! is not taken from the measured one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::packet;
use crate::model::{FirstHeader, FlowKey, Packet, Transport, Vlans};

const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_IPV6: u16 = 0x86dd;
const TAG: u16 = 0x8100;
const SERVICE_TAG: u16 = 0x88a8;

const DONT_FRAGMENT: u16 = 0x4000;
const HOPS_LEFT: u8 = 64;
const TCP_WORDS: u8 = 5 << 4;
const TCP_ACK: u8 = 0x10;

/// The Ethernet frame of a packet of the flow, with unknown addresses of its own; only TCP and UDP have a header behind IP's.
pub(super) fn frame(flow: &FlowKey) -> Packet {
    let l4 = Transport::from_protocol(flow.protocol);
    let l4 = l4.and_then(|transport| l4_header(flow, transport, &[]));
    let l4 = l4.unwrap_or_default();
    let mut bytes = Vec::with_capacity(64 + l4.len());
    ethernet(flow.vlans, ethertype_of(flow), &mut bytes);
    if ip_header(flow, 0, l4.len() as u16, &mut bytes) {
        bytes.extend(l4);
    }
    packet::read(FirstHeader::Ethernet, &bytes, false)
}

/// The packet of a TCP or UDP flow, with `dscp` in its IP header and `int` after its L4 header; `None` for other flows.
///
/// The packet starts with its IP header, or with Ethernet and unknown addresses if there are VLAN tags.
pub(super) fn of(flow: &FlowKey, dscp: u8, int: &[u8]) -> Option<Packet> {
    let transport = Transport::from_protocol(flow.protocol)?;
    let l4 = l4_header(flow, transport, int)?;
    let mut bytes = Vec::with_capacity(64 + l4.len() + int.len());
    let first = match flow.src {
        IpAddr::V4(_) => FirstHeader::Ipv4,
        IpAddr::V6(_) => FirstHeader::Ipv6,
    };
    let tagged = flow.vlans != Vlans::NONE;
    if tagged {
        ethernet(flow.vlans, ethertype_of(flow), &mut bytes);
    }
    let length = u16::try_from(l4.len() + int.len()).ok()?;
    if !ip_header(flow, dscp, length, &mut bytes) {
        return None;
    }
    bytes.extend(l4);
    bytes.extend(int);
    Some(Packet {
        first: if tagged { FirstHeader::Ethernet } else { first },
        length: bytes.len(),
        bytes,
        ..Packet::default()
    })
}

fn ethertype_of(flow: &FlowKey) -> u16 {
    match flow.src {
        IpAddr::V4(_) => ETHERTYPE_IPV4,
        IpAddr::V6(_) => ETHERTYPE_IPV6,
    }
}

/// False, without any bytes, for a flow between addresses of two families.
fn ip_header(flow: &FlowKey, dscp: u8, length: u16, out: &mut Vec<u8>) -> bool {
    match (flow.src, flow.dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            out.extend(ipv4(src, dst, flow.protocol, dscp, length));
        }
        (IpAddr::V6(src), IpAddr::V6(dst)) => ipv6(src, dst, flow.protocol, dscp, length, out),
        _ => return false,
    }
    true
}

fn ethernet(vlans: Vlans, ethertype: u16, out: &mut Vec<u8>) {
    out.extend([0; 12]);
    let outer = (vlans.outer != 0).then_some([SERVICE_TAG, vlans.outer]);
    let inner = (vlans != Vlans::NONE).then_some([TAG, vlans.inner]);
    let tags = outer.into_iter().chain(inner).flatten();
    for field in tags.chain([ethertype]) {
        out.extend(field.to_be_bytes());
    }
}

fn ipv4(src: Ipv4Addr, dst: Ipv4Addr, protocol: u8, dscp: u8, length: u16) -> [u8; 20] {
    let mut header = [0; 20];
    header[..2].copy_from_slice(&[0x45, dscp << 2]);
    header[2..4].copy_from_slice(&length.saturating_add(20).to_be_bytes());
    header[6..8].copy_from_slice(&DONT_FRAGMENT.to_be_bytes());
    header[8..10].copy_from_slice(&[HOPS_LEFT, protocol]);
    header[12..16].copy_from_slice(&src.octets());
    header[16..].copy_from_slice(&dst.octets());
    let check = complement(sum(&header));
    header[10..12].copy_from_slice(&check.to_be_bytes());
    header
}

fn ipv6(src: Ipv6Addr, dst: Ipv6Addr, protocol: u8, dscp: u8, length: u16, out: &mut Vec<u8>) {
    out.extend([0x60 | dscp >> 2, dscp << 6, 0, 0]);
    out.extend(length.to_be_bytes());
    out.extend([protocol, HOPS_LEFT]);
    out.extend(src.octets());
    out.extend(dst.octets());
}

/// The L4 header, with the checksum over itself and `int`.
fn l4_header(flow: &FlowKey, transport: Transport, int: &[u8]) -> Option<Vec<u8>> {
    let mut header = vec![0; transport.quoted_bytes()];
    let length = u16::try_from(header.len() + int.len()).ok()?;
    header[..2].copy_from_slice(&flow.sport.to_be_bytes());
    header[2..4].copy_from_slice(&flow.dport.to_be_bytes());
    let at = match transport {
        Transport::Udp => {
            header[4..6].copy_from_slice(&length.to_be_bytes());
            6
        }
        Transport::Tcp => {
            header[12..16].copy_from_slice(&[TCP_WORDS, TCP_ACK, 0xff, 0xff]);
            16
        }
    };
    let addresses = [flow.src, flow.dst].map(|address| match address {
        IpAddr::V4(v4) => sum(&v4.octets()),
        IpAddr::V6(v6) => sum(&v6.octets()),
    });
    let pseudo = addresses[0] + addresses[1] + u64::from(length) + u64::from(flow.protocol);
    let mut check = complement(pseudo + sum(&header) + sum(int));
    if transport == Transport::Udp && check == 0 {
        check = u16::MAX;
    }
    header[at..at + 2].copy_from_slice(&check.to_be_bytes());
    Some(header)
}

/// The sum of 16-bit words; the number of `bytes` must be even.
fn sum(bytes: &[u8]) -> u64 {
    let words = bytes.chunks_exact(2).map(|word| match word {
        [high, low] => u64::from(u16::from_be_bytes([*high, *low])),
        _ => 0,
    });
    words.sum()
}

fn complement(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}
