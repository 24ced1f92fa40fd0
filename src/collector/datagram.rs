//! The UDP datagram in a captured packet, if it was sent to a collector.

use std::net::SocketAddr;

use etherparse::{EtherType, LaxNetSlice, LaxSlicedPacket, UdpHeader, UdpHeaderSlice};

use super::capture::{Captured, LinkType};

const UDP: u8 = 17;
const UDP_BYTES: usize = 8;

/// A datagram as a collector's socket would have received it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Datagram<'a> {
    pub from: SocketAddr,
    pub payload: &'a [u8],
    /// A checksum is wrong: the packet is damaged, or the capturing host left the checksum to its network card.
    pub wrong_checksum: bool,
}

/// The reason why a captured packet is no datagram to a report port.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum NoDatagram {
    /// It has another protocol or port.
    Other,
    /// Its protocol and port cannot be read.
    Unknown,
    /// It is a fragment of a UDP datagram to one of the ports, or one that does not name its port: only the first does.
    Fragment,
    /// The capture holds only its beginning.
    Cut,
    /// Its link layer is not supported.
    Link,
}

/// Finds the datagram to one of the ports in a captured packet.
pub fn find<'a>(captured: &Captured<'a>, ports: &[u16]) -> Result<Datagram<'a>, NoDatagram> {
    let cut = |why| match why {
        NoDatagram::Unknown if captured.is_cut => NoDatagram::Cut,
        NoDatagram::Unknown => NoDatagram::Other,
        why => why,
    };
    let found = packet(captured).and_then(|packet| in_packet(&packet, ports));
    found.map_err(cut)
}

/// The headers of a captured packet.
///
/// # Errors
/// It has another protocol, or its link layer is not supported.
pub fn packet<'a>(captured: &Captured<'a>) -> Result<LaxSlicedPacket<'a>, NoDatagram> {
    let bytes = captured.bytes;
    match captured.link {
        LinkType::Ethernet => {
            LaxSlicedPacket::from_ethernet(bytes).map_err(|_| NoDatagram::Unknown)
        }
        LinkType::Raw => raw(bytes),
        LinkType::LinuxV1 => cooked(bytes, 14, 16),
        LinkType::LinuxV2 => cooked(bytes, 0, 20),
        LinkType::Loopback => raw(bytes.get(4..).unwrap_or_default()),
        LinkType::Other => Err(NoDatagram::Link),
    }
}

fn raw(bytes: &[u8]) -> Result<LaxSlicedPacket<'_>, NoDatagram> {
    LaxSlicedPacket::from_ip(bytes).map_err(|_| NoDatagram::Unknown)
}

/// Parses a packet behind a cooked header of `size` bytes, whose EtherType is at `at`.
fn cooked(bytes: &[u8], at: usize, size: usize) -> Result<LaxSlicedPacket<'_>, NoDatagram> {
    let ether_type = bytes.get(at..).and_then(<[u8]>::first_chunk);
    match (ether_type, bytes.get(size..)) {
        (Some(code), Some(rest)) => {
            let code = EtherType(u16::from_be_bytes(*code));
            Ok(LaxSlicedPacket::from_ether_type(code, rest))
        }
        _ => Err(NoDatagram::Unknown),
    }
}

fn in_packet<'a>(packet: &LaxSlicedPacket<'a>, ports: &[u16]) -> Result<Datagram<'a>, NoDatagram> {
    let payload = packet.ip_payload().ok_or(match packet.net {
        Some(LaxNetSlice::Arp(_)) => NoDatagram::Other,
        _ => NoDatagram::Unknown,
    })?;
    if payload.ip_number.0 != UDP {
        return Err(NoDatagram::Other);
    }
    let l4 = payload.payload;
    if payload.fragmented {
        let is_first = match packet.net.as_ref() {
            Some(LaxNetSlice::Ipv4(ip)) => ip.header().fragments_offset().value() == 0,
            _ => false,
        };
        let port = l4.get(2..).and_then(<[u8]>::first_chunk).copied();
        let port = port.filter(|_| is_first).map(u16::from_be_bytes);
        return Err(match port {
            Some(port) if !ports.contains(&port) => NoDatagram::Other,
            _ => NoDatagram::Fragment,
        });
    }
    let header = UdpHeaderSlice::from_slice(l4)
        .map_err(|_| NoDatagram::Unknown)?
        .to_header();
    if !ports.contains(&header.destination_port) {
        return Err(NoDatagram::Other);
    }
    // In jumbograms 0 means that the datagram ends with the packet.
    let length = match usize::from(header.length) {
        0 => l4.len(),
        length => length,
    };
    let payload = l4.get(UDP_BYTES..length).ok_or(NoDatagram::Cut)?;
    let (source, wrong_checksum) = match packet.net.as_ref() {
        Some(LaxNetSlice::Ipv4(ip)) => {
            let ip = ip.header().to_header();
            let wrong = header.checksum != 0
                && !matches(&header, header.calc_checksum_ipv4(&ip, payload).ok());
            let wrong = wrong || ip.header_checksum != ip.calc_header_checksum();
            (std::net::IpAddr::from(ip.source), wrong)
        }
        Some(LaxNetSlice::Ipv6(ip)) => {
            let ip = ip.header().to_header();
            let wrong = !matches(&header, header.calc_checksum_ipv6(&ip, payload).ok());
            (std::net::IpAddr::from(ip.source), wrong)
        }
        _ => return Err(NoDatagram::Other),
    };
    Ok(Datagram {
        from: SocketAddr::new(source, header.source_port),
        payload,
        wrong_checksum,
    })
}

fn matches(header: &UdpHeader, checksum: Option<u16>) -> bool {
    checksum == Some(header.checksum)
}
