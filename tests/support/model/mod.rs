//! What the kernel programs are meant to do, in plain Rust: written from the wire format and the meaning of each
//! counter, for clarity and not for speed.

pub mod sequence;
pub mod sink;
pub mod source;

use super::checksum::{be16, complement, pseudo_header, put16, sum, udp_form};
use super::int_block::BLOCK_LEN;

/// Bytes of the extra UDP header and the INT block behind it.
pub const EXTENSION_LEN: usize = 8 + BLOCK_LEN;
pub const TCP: u8 = 6;
pub const UDP: u8 = 17;

/// Names a flow.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Key {
    pub source: [u8; 4],
    pub target: [u8; 4],
    pub sport: u16,
    pub dport: u16,
    pub protocol: u8,
}

impl Key {
    /// The flow of an IPv4 header and the L4 header that belongs to it.
    pub fn of(ip: &[u8], l4: &[u8], protocol: u8) -> Self {
        Key {
            source: ip[12..16].try_into().expect("four bytes"),
            target: ip[16..20].try_into().expect("four bytes"),
            sport: be16(l4, 0),
            dport: be16(l4, 2),
            protocol,
        }
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Encapsulation {
    OverTcpUdp,
    ExtensionUdp,
}

impl Encapsulation {
    pub const BOTH: [Self; 2] = [Self::OverTcpUdp, Self::ExtensionUdp];

    pub fn added(self) -> usize {
        match self {
            Self::OverTcpUdp => BLOCK_LEN,
            Self::ExtensionUdp => EXTENSION_LEN,
        }
    }
}

/// How INT-like 36 bytes are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Resemblance {
    Valid,
    OnlyShimDiffers,
    OnlyVersionDiffers,
    OnlyBitmapDiffers,
    None,
}

fn resemblance(block: &[u8]) -> Resemblance {
    let known_flags = block[1] & 0x30 == 0;
    let dscp_announced = block[1] & 0x40 != 0 || block[3] == 0;
    let shim = block[0] == 3 && block[2] == 9 && known_flags && dscp_announced;
    let version = block[4..8] == [0, 4, 2, 1];
    let bitmap = block[8..12] == [0xcc, 0, 0, 0];
    match (shim, version, bitmap) {
        (true, true, true) => Resemblance::Valid,
        (false, true, true) => Resemblance::OnlyShimDiffers,
        (true, false, true) => Resemblance::OnlyVersionDiffers,
        (true, true, false) => Resemblance::OnlyBitmapDiffers,
        _ => Resemblance::None,
    }
}

/// Gives the frame another ToS, length and protocol; a header checksum that was wrong stays as wrong as it was.
fn change_ip(frame: &mut [u8], tos: u8, total_len: usize, protocol: u8) {
    let wrong_by = sum(&frame[14..34]);
    frame[15] = tos;
    put16(frame, 16, total_len as u16);
    frame[23] = protocol;
    put16(frame, 24, 0);
    let without = sum(&frame[14..34]);
    put16(frame, 24, complement(without + 65535 - wrong_by));
}

/// What the L4 checksum of the segment leaves; 0: it is right.
fn l4_rest(ip: &[u8], protocol: u8, l4: &[u8]) -> u64 {
    (pseudo_header(ip, protocol, l4.len()) + sum(l4)) % 65535
}

/// Sets the L4 checksum so that it leaves `rest`, in the form in which a sender writes it.
fn set_l4_check(ip: &[u8], protocol: u8, l4: &mut [u8], rest: u64) {
    let at = if protocol == UDP { 6 } else { 16 };
    put16(l4, at, 0);
    let check = complement(l4_rest(ip, protocol, l4) + 65535 - rest);
    let form = if protocol == UDP {
        udp_form(check)
    } else {
        check
    };
    put16(l4, at, form);
}

/// Length of the part of the L4 header that comes before INT.
fn fixed_l4_len(protocol: u8) -> usize {
    if protocol == UDP { 8 } else { 20 }
}
