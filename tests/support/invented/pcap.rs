//! Datagrams to a collector as a capture file, which `hostint collect --read` reads.

use hostint::model::REPORT_PORT;

use super::telling::InventedDatagram;
use crate::checksum::{complement, put16, sum};

/// Packets begin with an IP header.
const LINK_RAW: u32 = 101;
const IPV4_BYTES: usize = 20;
const UDP_BYTES: usize = 8;

/// The bytes of a capture before its first packet.
pub const CAPTURE_HEAD: usize = 24;

/// A capture of these datagrams, with times in nanoseconds.
pub fn capture(datagrams: &[InventedDatagram]) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend(0xa1b2_3c4d_u32.to_le_bytes());
    for half in [2_u16, 4] {
        out.extend(half.to_le_bytes());
    }
    for word in [0, 0, 65_535, LINK_RAW] {
        out.extend(word.to_le_bytes());
    }
    for datagram in datagrams {
        let packet = packet(datagram);
        let time_ns = datagram.arrival.received_ns;
        let (seconds, rest) = (time_ns / 1_000_000_000, time_ns % 1_000_000_000);
        for word in [seconds, rest, packet.len() as u64, packet.len() as u64] {
            out.extend((word as u32).to_le_bytes());
        }
        out.extend(packet);
    }
    out
}

fn packet(datagram: &InventedDatagram) -> Vec<u8> {
    let length = IPV4_BYTES + UDP_BYTES + datagram.bytes.len();
    let mut out = vec![0; IPV4_BYTES + UDP_BYTES];
    (out[0], out[8], out[9]) = (0x45, 64, 17);
    put16(&mut out, 2, length as u16);
    if let std::net::IpAddr::V4(from) = datagram.arrival.exporter.ip() {
        out[12..16].copy_from_slice(&from.octets());
    }
    out[16..20].copy_from_slice(&[192, 0, 2, 1]);
    let check = complement(sum(&out[..IPV4_BYTES]));
    put16(&mut out, 10, check);
    put16(&mut out, 20, datagram.arrival.exporter.port());
    put16(&mut out, 22, REPORT_PORT);
    // Without a checksum, which IPv4 allows.
    put16(&mut out, 24, (length - IPV4_BYTES) as u16);
    out.extend(&datagram.bytes);
    out
}
