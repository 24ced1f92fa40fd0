//! A model of the kernel programs in plain Rust, written from the wire format and the meaning of each counter, for
//! clarity and not for speed.

pub mod far;
pub mod form;
pub mod geneve;
pub mod gpe;
pub mod int_md;
pub mod int_mx;
pub mod ioam;
pub mod layout;
pub mod sequence;
pub mod sink;
pub mod source;
pub mod tcp_int;
pub mod transit;
pub mod watch;

use layout::Layout;

use super::checksum::{be16, complement, pseudo_header, put16, sum, udp_form};
use super::int_block::BLOCK_LEN;

/// Bytes of the extra UDP header and the INT block behind it.
pub const EXTENSION_LEN: usize = 8 + BLOCK_LEN;
pub const TCP: u8 = 6;
pub const UDP: u8 = 17;
/// The domain of hostint's own words in INT v2.1.
pub const DOMAIN: u16 = 0x4849;

/// Names a flow; IPv4 addresses are mapped ones.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Key {
    pub source: [u8; 16],
    pub target: [u8; 16],
    pub sport: u16,
    pub dport: u16,
    /// Protocol and VLANs, as the kernel half has them.
    pub layers: u32,
}

impl Key {
    /// The flow of an IP packet and the L4 header that belongs to it.
    pub fn of(frame: &[u8], at: &Layout, l4: &[u8], protocol: u8) -> Self {
        let (source, target) = at.mapped_addresses(frame);
        Key {
            source,
            target,
            sport: be16(l4, 0),
            dport: be16(l4, 2),
            layers: at.layers(protocol),
        }
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Encapsulation {
    OverTcpUdp,
    ExtensionUdp,
    VxlanGpe,
    IntMd,
}

impl Encapsulation {
    pub const ALL: [Self; 4] = [
        Self::OverTcpUdp,
        Self::ExtensionUdp,
        Self::VxlanGpe,
        Self::IntMd,
    ];

    /// Bytes that it adds to a packet with a fixed IP header of this length.
    pub fn added(self, base_len: usize) -> usize {
        match self {
            Self::OverTcpUdp => BLOCK_LEN,
            Self::ExtensionUdp => EXTENSION_LEN,
            Self::VxlanGpe => base_len + gpe::ROOM,
            Self::IntMd => int_md::OWN_LEN,
        }
    }

    /// Bytes that it leaves for this number of transit hops, with what it takes to ask them.
    /// In INT-MD without a queue, the source's own entry is shorter, too.
    pub fn hops_room(self, hops: usize, without_queue: bool) -> usize {
        match (self, hops, without_queue) {
            (_, 0, _) => 0,
            (Self::OverTcpUdp | Self::ExtensionUdp, hops, _) => HOP_LEN * hops,
            (Self::VxlanGpe, hops, false) => 4 + 24 * hops,
            (Self::VxlanGpe, hops, true) => 20 * hops,
            (Self::IntMd, hops, false) => 24 * hops,
            (Self::IntMd, hops, true) => 20 * hops - 4,
        }
    }
}

/// Bytes of the entry that a transit hop pushes onto an INT v0.5 stack.
pub const HOP_LEN: usize = 16;
/// Entries of transit hops that a sink reads.
pub const MOST_PUSHED: usize = 8;

/// How INT-like a block is, by its first twelve bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Resemblance {
    Valid,
    OnlyShimDiffers,
    OnlyVersionDiffers,
    OnlyBitmapDiffers,
    None,
}

fn resemblance(block: &[u8]) -> Resemblance {
    let known_flags = block[1] & 0x10 == 0;
    let dscp_announced = block[1] & 0x40 != 0 || block[3] == 0;
    let (most, total) = (i32::from(block[6]), i32::from(block[7]));
    let length = i32::from(block[2]) == 9 + 4 * (total - 1);
    let shim = block[0] == 3 && length && known_flags && dscp_announced;
    // Transit hops set E and M.
    let plain = [block[4] & !1, block[5] & !0x80] == [0, 4];
    let version = plain && (1..=1 + MOST_PUSHED as i32).contains(&total) && most >= total;
    let bitmap = block[8..12] == [0xcc, 0, 0, 0];
    match (shim, version, bitmap) {
        (true, true, true) => Resemblance::Valid,
        (false, true, true) => Resemblance::OnlyShimDiffers,
        (true, false, true) => Resemblance::OnlyVersionDiffers,
        (true, true, false) => Resemblance::OnlyBitmapDiffers,
        _ => Resemblance::None,
    }
}

/// Gives the packet another ToS, length and protocol; a header checksum that was wrong stays as wrong as it was.
fn change_ip(frame: &mut [u8], at: &Layout, tos: u8, ip_len: usize, protocol: u8) {
    let l3 = at.l3;
    if at.v6 {
        frame[l3] = frame[l3] & 0xf0 | tos >> 4;
        frame[l3 + 1] = frame[l3 + 1] & 0x0f | tos << 4;
        put16(frame, l3 + 4, (ip_len - 40) as u16);
        frame[at.protocol_at] = protocol;
        return;
    }
    let header = l3..l3 + at.header_len();
    let wrong_by = sum(&frame[header.clone()]);
    frame[l3 + 1] = tos;
    put16(frame, l3 + 2, ip_len as u16);
    frame[l3 + 9] = protocol;
    put16(frame, l3 + 10, 0);
    let without = sum(&frame[header]);
    put16(frame, l3 + 10, complement(without + 65535 - wrong_by));
}

/// What the L4 checksum of the segment leaves; 0: it is right.
fn l4_rest(addresses: &[u8], protocol: u8, l4: &[u8]) -> u64 {
    (pseudo_header(addresses, protocol, l4.len()) + sum(l4)) % 65535
}

/// Sets the L4 checksum so that it leaves `rest`, in the form in which a sender writes it.
fn set_l4_check(addresses: &[u8], protocol: u8, l4: &mut [u8], rest: u64) {
    let at = if protocol == UDP { 6 } else { 16 };
    put16(l4, at, 0);
    let check = complement(l4_rest(addresses, protocol, l4) + 65535 - rest);
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
