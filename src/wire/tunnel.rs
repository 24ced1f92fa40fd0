//! The contents of tunnels: VXLAN, VXLAN-GPE, Geneve, GTP-U and GRE, with INT in between.

use super::error::DecodeError;
use super::int_header::{self, FoundHeader};
use super::int_refusal;
use crate::model::IntHeader;

/// Most consecutive INT headers that are read.
const MAX_INT_HEADERS: usize = 8;

const VXLAN: u16 = 4789;
/// Linux's own port from before the assignment.
const VXLAN_OF_OLD: u16 = 8472;
const VXLAN_GPE: u16 = 4790;
const GENEVE: u16 = 6081;
const GTP_U: u16 = 2152;

const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_IPV6: u16 = 0x86dd;
const ETHERTYPE_BRIDGED: u16 = 0x6558;

/// Option classes of INT: v2.1's, and the one in examples of earlier versions.
const GENEVE_INT: [u16; 2] = [0x0103, 0x00ab];

/// GTP-U: version 1, not GTP'.
const GTP_VERSION: u8 = 0x30;
const GTP_USER_DATA: u8 = 255;

/// The INT headers of a packet, and why the first one that is none could not be read.
#[derive(Default)]
pub(super) struct FoundInt {
    pub(super) headers: Vec<IntHeader>,
    pub(super) unread: Option<DecodeError>,
}

impl FoundInt {
    pub(super) fn has_room(&self) -> bool {
        self.headers.len() < MAX_INT_HEADERS
    }

    /// Adds a header, or the reason why it is none. Returns the bytes that it takes, and what it names as next.
    pub(super) fn take(
        &mut self,
        found: Result<FoundHeader, DecodeError>,
    ) -> Option<(usize, Option<u16>)> {
        match found {
            Ok(found) => {
                self.headers.push(found.header);
                Some((found.bytes, found.next))
            }
            Err(why) => {
                self.unread.get_or_insert(why);
                None
            }
        }
    }
}

/// The packet in a tunnel.
pub(super) enum Inside<'a> {
    Ethernet(&'a [u8]),
    Ip(&'a [u8]),
    EtherType(u16, &'a [u8]),
}

/// Whether UDP to this port is a tunnel.
pub(super) fn is_port(port: u16) -> bool {
    [VXLAN, VXLAN_OF_OLD, VXLAN_GPE, GENEVE, GTP_U].contains(&port)
}

/// The contents of a tunnel over UDP; INT headers in between are added to `int`.
pub(super) fn in_udp<'a>(
    port: u16,
    payload: &'a [u8],
    with_int: bool,
    int: &mut FoundInt,
) -> Option<Inside<'a>> {
    match port {
        VXLAN | VXLAN_OF_OLD => Some(Inside::Ethernet(payload.get(8..)?)),
        VXLAN_GPE => in_vxlan_gpe(payload, with_int, int),
        GENEVE => in_geneve(payload, with_int, int),
        GTP_U => in_gtp_u(payload),
        _ => None,
    }
}

fn in_vxlan_gpe<'a>(payload: &'a [u8], with_int: bool, int: &mut FoundInt) -> Option<Inside<'a>> {
    let [flags, _, _, mut next, ..] = *payload.first_chunk::<8>()?;
    let mut rest = payload.get(8..)?;
    if flags & 0x04 == 0 {
        return Some(Inside::Ethernet(rest));
    }
    loop {
        match next {
            1 | 2 => return Some(Inside::Ip(rest)),
            3 => return Some(Inside::Ethernet(rest)),
            0x05 | 0x08 | 0x80 | 0x82 if with_int && int.has_room() => {
                let (bytes, named) = int.take(int_header::in_vxlan_gpe(rest))?;
                rest = rest.get(bytes..)?;
                next = u8::try_from(named?).ok()?;
            }
            _ => return None,
        }
    }
}

fn in_geneve<'a>(payload: &'a [u8], with_int: bool, int: &mut FoundInt) -> Option<Inside<'a>> {
    let [first, _, high, low, ..] = *payload.first_chunk::<8>()?;
    let options_end = 8 + 4 * usize::from(first & 0x3f);
    let options = payload.get(8..options_end.min(payload.len()))?;
    let mut rest = options;
    while let Some([high, low, kind, words]) = rest.first_chunk::<4>() {
        let class = u16::from_be_bytes([*high, *low]);
        let words = usize::from(words & 0x1f);
        let data = &rest[4..];
        let data = data.get(..4 * words).unwrap_or(data);
        if with_int && int.has_room() && GENEVE_INT.contains(&class) {
            let found = int_header::in_geneve(*kind, data, words);
            int.take(found.map(|header| FoundHeader::new(header, 0, None)));
        }
        rest = rest.get(4 + 4 * words..).unwrap_or_default();
    }
    by_ether_type(u16::from_be_bytes([high, low]), payload.get(options_end..)?)
}

fn in_gtp_u(payload: &[u8]) -> Option<Inside<'_>> {
    let [flags, kind, ..] = *payload.first_chunk::<8>()?;
    if flags & 0xf0 != GTP_VERSION || kind != GTP_USER_DATA {
        return None;
    }
    let mut at = 8;
    if flags & 0x07 != 0 {
        // Sequence number, N-PDU number, type of the first extension header.
        at += 4;
        while flags & 0x04 != 0 && *payload.get(at - 1)? != 0 {
            let words = usize::from(*payload.get(at)?);
            if words == 0 {
                return None;
            }
            at += 4 * words;
        }
    }
    Some(Inside::Ip(payload.get(at..)?))
}

/// The contents of GRE; INT headers in between are added to `int`.
pub(super) fn in_gre<'a>(l4: &'a [u8], with_int: bool, int: &mut FoundInt) -> Option<Inside<'a>> {
    let [flags, version, high, low] = *l4.first_chunk()?;
    // Routing information (RFC 1701) is not followed.
    if flags & 0x40 != 0 || version & 7 != 0 {
        return None;
    }
    let optional = [0x80, 0x20, 0x10];
    let words = optional.iter().filter(|flag| flags & **flag != 0).count();
    let mut rest = l4.get(4 + 4 * words..)?;
    let mut next = u16::from_be_bytes([high, low]);
    loop {
        if let Some(inside) = by_ether_type(next, rest) {
            return Some(inside);
        }
        // INT's protocol type was never assigned.
        if !with_int || !int.has_room() {
            return None;
        }
        let found = int_header::in_gre(rest);
        if found.is_err() && !int_refusal::resembles_int(rest) {
            // Its bytes may be of any other protocol.
            return None;
        }
        let (bytes, named) = int.take(found)?;
        rest = rest.get(bytes..)?;
        next = named?;
    }
}

fn by_ether_type(ether_type: u16, bytes: &[u8]) -> Option<Inside<'_>> {
    match ether_type {
        ETHERTYPE_IPV4 | ETHERTYPE_IPV6 => Some(Inside::EtherType(ether_type, bytes)),
        ETHERTYPE_BRIDGED => Some(Inside::Ethernet(bytes)),
        _ => None,
    }
}
