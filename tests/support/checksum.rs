//! Internet checksums by RFC 1071, added up in plain arithmetic: nothing in common with the kernel half's way.

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
pub fn pseudo_header(ip: &[u8], protocol: u8, l4_len: usize) -> u64 {
    sum(&ip[12..20]) + u64::from(protocol) + l4_len as u64
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

/// Verifies every checksum of an Ethernet frame without options that carries UDP or TCP.
pub fn verify(frame: &[u8]) -> Result<(), String> {
    let ip = &frame[14..];
    let header = usize::from(ip[0] & 15) * 4;
    let total = usize::from(be16(ip, 2));
    if !sum(&ip[..header]).is_multiple_of(65535) {
        return Err("IPv4 header checksum".into());
    }
    verify_l4(ip, ip[9], &ip[header..total])
}

/// As `verify`, for what an extra UDP header and an INT block of together 44 bytes precede.
pub fn verify_inner(frame: &[u8], protocol: u8) -> Result<(), String> {
    let total = usize::from(be16(frame, 16));
    verify_l4(&frame[14..], protocol, &frame[34 + 44..14 + total])
}

fn verify_l4(ip: &[u8], protocol: u8, l4: &[u8]) -> Result<(), String> {
    if protocol == 17 && be16(l4, 6) == 0 {
        return Ok(());
    }
    match (pseudo_header(ip, protocol, l4.len()) + sum(l4)) % 65535 {
        0 => Ok(()),
        rest => Err(format!(
            "L4 checksum of protocol {protocol} is off by {rest}"
        )),
    }
}
