//! The places of a frame's headers, found from the first byte on.

use super::{TCP, UDP};
use crate::checksum::be16;

/// Bytes behind the fixed IP header that both roles look through.
const MAX_OPTIONS: usize = 64;
const MAX_EXTENSION_HEADERS: usize = 4;

/// An IP packet of TCP or UDP, whole or a fragment.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Layout {
    /// Identifiers of the VLAN tags in the frame, outermost first.
    pub vlans: Vec<u16>,
    pub l3: usize,
    pub l4: usize,
    /// Where the L4 protocol is named.
    pub protocol_at: usize,
    pub ip_len: usize,
    pub v6: bool,
    pub protocol: u8,
    pub tos: u8,
    pub fragment: bool,
    pub later_fragment: bool,
    pub dont_fragment: bool,
}

/// Why there is no such packet.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum NotFound {
    NotIp,
    OtherProtocol,
    /// As far as it could be read: class of service and family are known.
    TooDeep(Box<Layout>),
    Malformed(Box<Layout>),
}

impl Layout {
    pub fn header_len(&self) -> usize {
        self.l4 - self.l3
    }

    pub fn base_len(&self) -> usize {
        if self.v6 { 40 } else { 20 }
    }

    /// Places of source and target address.
    pub fn addresses(&self) -> std::ops::Range<usize> {
        match self.v6 {
            true => self.l3 + 8..self.l3 + 40,
            false => self.l3 + 12..self.l3 + 20,
        }
    }

    /// Source and target as flows are named by.
    pub fn mapped_addresses(&self, frame: &[u8]) -> ([u8; 16], [u8; 16]) {
        let both = &frame[self.addresses()];
        let (source, target) = both.split_at(both.len() / 2);
        let mapped = |address: &[u8]| {
            let mut full = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0];
            full[16 - address.len()..].copy_from_slice(address);
            full
        };
        (mapped(source), mapped(target))
    }

    /// VLANs as flows are named by.
    pub fn layers(&self, protocol: u8) -> u32 {
        let vlans = self
            .vlans
            .iter()
            .fold(0, |all, id| all << 12 | u32::from(*id));
        vlans << 8 | u32::from(protocol)
    }
}

/// The packet behind an Ethernet header and up to two VLAN tags.
pub fn find(frame: &[u8]) -> Result<Layout, NotFound> {
    let mut vlans = Vec::new();
    let mut at = 12;
    loop {
        let Some(ethertype) = frame.get(at..at + 2) else {
            return Err(NotFound::NotIp);
        };
        match be16(ethertype, 0) {
            0x8100 | 0x88a8 if vlans.len() < 2 && frame.len() >= at + 6 => {
                vlans.push(be16(frame, at + 2) & 0xfff);
                at += 4;
            }
            0x0800 => return find_ipv4(frame, at + 2, vlans),
            0x86dd => return find_ipv6(frame, at + 2, vlans),
            _ => return Err(NotFound::NotIp),
        }
    }
}

pub fn find_ipv4(frame: &[u8], l3: usize, vlans: Vec<u16>) -> Result<Layout, NotFound> {
    let Some(ip) = frame.get(l3..l3 + 20) else {
        return Err(NotFound::NotIp);
    };
    if !matches!(ip[9], TCP | UDP) {
        return Err(NotFound::OtherProtocol);
    }
    let header_len = usize::from(ip[0] & 15) * 4;
    let layout = Layout {
        vlans,
        l3,
        l4: l3 + header_len,
        protocol_at: l3 + 9,
        ip_len: be16(ip, 2).into(),
        v6: false,
        protocol: ip[9],
        tos: ip[1],
        fragment: be16(ip, 6) & 0x3fff != 0,
        later_fragment: be16(ip, 6) & 0x1fff != 0,
        dont_fragment: be16(ip, 6) & 0x4000 != 0,
    };
    match ip[0] >> 4 == 4 && header_len >= 20 {
        true => Ok(layout),
        false => Err(NotFound::Malformed(layout.into())),
    }
}

pub fn find_ipv6(frame: &[u8], l3: usize, vlans: Vec<u16>) -> Result<Layout, NotFound> {
    let Some(ip) = frame.get(l3..l3 + 40) else {
        return Err(NotFound::NotIp);
    };
    let ip_len = usize::from(be16(ip, 4)) + 40;
    let mut layout = Layout {
        vlans,
        l3,
        l4: l3 + 40,
        protocol_at: l3 + 6,
        // A longer one says 0 there.
        ip_len: if ip_len > 0xffff { 0 } else { ip_len },
        v6: true,
        protocol: ip[6],
        tos: ip[0] << 4 | ip[1] >> 4,
        fragment: false,
        later_fragment: false,
        dont_fragment: true,
    };
    if ip[0] >> 4 != 6 {
        return Err(NotFound::Malformed(layout.into()));
    }
    for _ in 0..MAX_EXTENSION_HEADERS {
        let header = match layout.protocol {
            TCP | UDP => return Ok(layout),
            0 | 43 | 44 | 60 => frame.get(layout.l4..layout.l4 + 8),
            _ => return Err(NotFound::OtherProtocol),
        };
        let Some(header) = header else {
            return Err(NotFound::NotIp);
        };
        layout.protocol_at = layout.l4;
        if layout.protocol == 44 {
            layout.fragment = true;
            layout.later_fragment = be16(header, 2) & 0xfff8 != 0;
            layout.l4 += 8;
        } else {
            layout.l4 += (usize::from(header[1]) + 1) * 8;
        }
        layout.protocol = header[0];
        if layout.l4 - l3 - 40 > MAX_OPTIONS {
            return Err(NotFound::TooDeep(layout.into()));
        }
    }
    match layout.protocol {
        TCP | UDP => Ok(layout),
        _ => Err(NotFound::TooDeep(layout.into())),
    }
}
