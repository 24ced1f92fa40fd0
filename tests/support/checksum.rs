//! Internet checksums by RFC 1071, added up in plain arithmetic, with nothing in common with the kernel half.

use super::model::layout::{self, Layout};

/// The sum of 16-bit big-endian words modulo 65535; an odd last byte counts as the high one. As 2^16 is 1 modulo
/// 65535, words of any width that is a multiple of 16 bits may be added instead.
pub fn sum(bytes: &[u8]) -> u64 {
    let mut sum: u128 = 0;
    let mut words = bytes.chunks_exact(8);
    for word in words.by_ref() {
        sum += u128::from(u64::from_be_bytes(word.try_into().expect("eight bytes")));
    }
    let mut last = [0; 8];
    last[..words.remainder().len()].copy_from_slice(words.remainder());
    sum += u128::from(u64::from_be_bytes(last));
    (sum % 65535) as u64
}

/// The checksum that makes everything add up to zero, in the form in which senders compute it: never 0xffff.
pub fn complement(sum: u64) -> u16 {
    ((65535 - sum % 65535) % 65535) as u16
}

/// A UDP checksum of 0 would say that there is none (RFC 768).
pub fn udp_form(check: u16) -> u16 {
    if check == 0 { 0xffff } else { check }
}

/// Addresses, protocol and length, as TCP and UDP count them.
pub fn pseudo_header(addresses: &[u8], protocol: u8, l4_len: usize) -> u64 {
    sum(addresses) + u64::from(protocol) + l4_len as u64
}

pub fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

pub fn be32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

pub fn put16(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

/// Verifies every checksum of a frame that carries UDP or TCP.
pub fn verify(frame: &[u8]) -> Result<(), String> {
    let at = layout::find(frame).map_err(|why| format!("{why:?}"))?;
    verify_at(frame, &at, at.l4, at.protocol)
}

/// As `verify`, for an L4 segment of its own further on in the packet.
pub fn verify_at(frame: &[u8], at: &Layout, l4: usize, protocol: u8) -> Result<(), String> {
    if !at.v6 && !sum(&frame[at.l3..at.l3 + at.header_len()]).is_multiple_of(65535) {
        return Err("IPv4 header checksum".into());
    }
    let segment = &frame[l4..at.l3 + at.ip_len];
    if protocol == 17 && be16(segment, 6) == 0 {
        return Ok(());
    }
    match (pseudo_header(&frame[at.addresses()], protocol, segment.len()) + sum(segment)) % 65535 {
        0 => Ok(()),
        rest => Err(format!(
            "L4 checksum of protocol {protocol} is off by {rest}"
        )),
    }
}

/// Leaves the L4 checksum to a device, as senders do: it holds the sum of the pseudo header.
pub fn unfinish(frame: &mut [u8]) {
    let at = layout::find(frame).expect("it is a packet");
    let len = at.l3 + at.ip_len - at.l4;
    let begun = pseudo_header(&frame[at.addresses()], at.protocol, len) % 65535;
    put16(frame, checksum_place(&at), begun as u16);
}

/// Changes the word that ends `behind` bytes before the packet's end so that the L4 checksum is right as it is.
pub fn suit_checksum(frame: &mut [u8], behind: usize) {
    let at = layout::find(frame).expect("it is a packet");
    let segment = at.l4..at.l3 + at.ip_len;
    let word = segment.end - behind - 2;
    assert!((word - at.l4).is_multiple_of(2), "it is a word of the sum");
    put16(frame, word, 0);
    let pseudo = pseudo_header(&frame[at.addresses()], at.protocol, segment.len());
    let rest = (pseudo + sum(&frame[segment])) % 65535;
    put16(frame, word, (65535 - rest) as u16);
}

fn checksum_place(at: &Layout) -> usize {
    at.l4 + if at.protocol == 17 { 6 } else { 16 }
}

/// Verifies every checksum of an IP packet of either version, whatever options and extension headers it has, and
/// that of the IPv4 header that an ICMP error quotes.
pub fn verify_packet(ip: &[u8]) -> Result<(), String> {
    let (protocol, l4, pseudo) = if ip[0] >> 4 == 4 {
        let header = verify_ipv4_header(ip)?;
        let l4 = &ip[header..usize::from(be16(ip, 2))];
        (ip[9], l4, pseudo_header(&ip[12..20], ip[9], l4.len()))
    } else {
        let (mut protocol, mut at) = (ip[6], 40);
        while [0, 43, 60].contains(&protocol) {
            protocol = ip[at];
            at += 8 * (1 + usize::from(ip[at + 1]));
        }
        let l4 = &ip[at..40 + usize::from(be16(ip, 4))];
        (protocol, l4, pseudo_header(&ip[8..40], protocol, l4.len()))
    };
    if protocol == 1 && l4.len() >= 28 && [3, 11, 12].contains(&l4[0]) {
        verify_ipv4_header(&l4[8..]).map_err(|what| format!("quoted {what}"))?;
    }
    let pseudo = if protocol == 1 { 0 } else { pseudo };
    match (pseudo + sum(l4)) % 65535 {
        0 => Ok(()),
        rest => Err(format!(
            "L4 checksum of protocol {protocol} is off by {rest}"
        )),
    }
}

fn verify_ipv4_header(ip: &[u8]) -> Result<usize, String> {
    let len = usize::from(ip[0] & 15) * 4;
    match sum(&ip[..len]) % 65535 {
        0 => Ok(len),
        _ => Err("IPv4 header checksum".into()),
    }
}
