//! INT v0.5, v1.0 and v2.x headers of any domain, after each carrier's shim.
//!
//! No fixed mark announces INT in a reported packet, because each domain chooses its own. Bytes count as a header if
//! type, version, counts, bitmap and lengths agree and at least one instruction is set; all other bytes are the
//! packet's data.

use super::cursor::Cursor;
use super::int_v05::{BLOCK_BYTES, IntBlock, SHIM_TYPE};
use super::metadata_items::{self, layout_of, words_of};
use crate::model::{IntDomain, IntHeader, IntType, IntVersion, Metadata, Quirk};

const SHIM_BYTES: usize = 4;

/// A header, its length, and the protocol of the data after it.
pub(super) struct FoundHeader {
    pub(super) header: IntHeader,
    /// Bytes from the beginning of the shim; they may extend beyond the end of a truncated packet.
    pub(super) bytes: usize,
    /// The next protocol that the shim names: an IP protocol after UDP, a VXLAN-GPE code or an EtherType.
    pub(super) next: Option<u16>,
}

/// The header after a UDP or TCP header.
pub(super) fn behind_l4(bytes: &[u8]) -> Option<FoundHeader> {
    match bytes.first()? {
        1 | 2 => early_behind_l4(bytes),
        &SHIM_TYPE => host_int(bytes),
        _ => v2_behind_l4(bytes),
    }
}

/// INT v0.5, which has a tail after its stack, and INT v1.0.
fn early_behind_l4(bytes: &[u8]) -> Option<FoundHeader> {
    let [kind, 0, words, dscp] = *bytes.first_chunk()? else {
        return None;
    };
    let (words, rest) = (usize::from(words), bytes.get(SHIM_BYTES..)?);
    let header = match version_of(rest)? {
        IntVersion::V05 => {
            let Some(mut header) = v05(kind, rest, words.checked_sub(4)?) else {
                let mut header = v10_as_version_0(kind, rest, words.checked_sub(3)?)?;
                header.original_dscp = Some(dscp >> 2);
                return Some(FoundHeader::new(header, 4 * words, None));
            };
            if let Some(tail) = bytes.get(4 * words - 4..)
                && let Some([protocol, high, low, dscp]) = tail.first_chunk()
            {
                let port = u16::from_be_bytes([*high, *low]);
                header.original_protocol = Some(*protocol).filter(|protocol| *protocol != 0);
                header.original_dport = Some(port).filter(|port| *port != 0);
                header.original_dscp = Some(*dscp).filter(|dscp| *dscp != 0);
            }
            header
        }
        IntVersion::V10 => {
            let mut header = v10(kind, rest, words.checked_sub(3)?)?;
            header.original_dscp = Some(dscp >> 2);
            header
        }
        IntVersion::V2 => return None,
    };
    Some(FoundHeader::new(header, 4 * words, None))
}

fn v2_behind_l4(bytes: &[u8]) -> Option<FoundHeader> {
    let [types, words, high, low] = *bytes.first_chunk()?;
    let (words, rest) = (usize::from(words), bytes.get(SHIM_BYTES..)?);
    if types & 3 != 0 || version_of(rest)? != IntVersion::V2 {
        return None;
    }
    let mut header = v2(types >> 4, rest, words)?;
    let mut next = None;
    // NPT defines the meaning of the last two bytes.
    match (types >> 2 & 3, high) {
        (0, 0) => header.original_dscp = Some(low >> 2),
        (1, _) => header.original_dport = Some(u16::from_be_bytes([high, low])),
        (2, 0) => {
            header.original_protocol = Some(low);
            next = Some(low.into());
        }
        _ => return None,
    }
    Some(FoundHeader::new(header, SHIM_BYTES + 4 * words, next))
}

/// The header after a VXLAN-GPE header, or after another INT header there.
pub(super) fn in_vxlan_gpe(bytes: &[u8]) -> Option<FoundHeader> {
    let [types, second, third, next] = *bytes.first_chunk()?;
    let rest = bytes.get(SHIM_BYTES..)?;
    let (header, size) = match (version_of(rest)?, second, third) {
        (IntVersion::V05, 0, words) => {
            let words = usize::from(words);
            (v05(types, rest, words.checked_sub(3)?)?, 4 * words)
        }
        (IntVersion::V10, 0, words) => {
            let words = usize::from(words);
            (v10(types, rest, words.checked_sub(3)?)?, 4 * words)
        }
        (IntVersion::V2, words, flags) if types & 0x0f == 0 && flags & 0x7f == 0 => {
            let words = usize::from(words);
            (v2(types >> 4, rest, words)?, SHIM_BYTES + 4 * words)
        }
        _ => return None,
    };
    Some(FoundHeader::new(header, size, Some(next.into())))
}

/// The header after a GRE header.
pub(super) fn in_gre(bytes: &[u8]) -> Option<FoundHeader> {
    let [types, words, high, low] = *bytes.first_chunk()?;
    let (words, rest) = (usize::from(words), bytes.get(SHIM_BYTES..)?);
    if types & 7 != 0 || version_of(rest)? != IntVersion::V2 {
        return None;
    }
    let header = v2(types >> 4, rest, words)?;
    let next = u16::from_be_bytes([high, low]);
    Some(FoundHeader::new(header, SHIM_BYTES + 4 * words, Some(next)))
}

/// The header in a Geneve option's data of `words` words, if nothing truncated it.
pub(super) fn in_geneve(kind: u8, data: &[u8], words: usize) -> Option<IntHeader> {
    match version_of(data)? {
        IntVersion::V05 => v05(kind, data, words.checked_sub(2)?),
        IntVersion::V10 => v10(kind, data, words.checked_sub(2)?),
        IntVersion::V2 => v2(kind, data, words),
    }
}

impl FoundHeader {
    fn new(header: IntHeader, bytes: usize, next: Option<u16>) -> Self {
        Self {
            header,
            bytes,
            next,
        }
    }
}

fn version_of(header: &[u8]) -> Option<IntVersion> {
    match header.first()? >> 4 {
        0 => Some(IntVersion::V05),
        1 => Some(IntVersion::V10),
        2 => Some(IntVersion::V2),
        _ => None,
    }
}

/// The two types of INT v0.5 and v1.0: hop-by-hop and destination.
fn early_type(kind: u8) -> Option<IntType> {
    match kind {
        1 => Some(IntType::Md),
        2 => Some(IntType::Destination),
        _ => None,
    }
}

/// A v0.5 metadata header with a stack of `stack_words`.
fn v05(kind: u8, bytes: &[u8], stack_words: usize) -> Option<IntHeader> {
    let [first, count, max_hops, hops, high, low, 0, 0] = *bytes.first_chunk()? else {
        return None;
    };
    let bits = u16::from_be_bytes([high, low]);
    let hop_words = words_of(layout_of(IntVersion::V05), bits);
    if bits == 0 || usize::from(count) != hop_words || hop_words * usize::from(hops) != stack_words
    {
        return None;
    }
    let mut header = IntHeader::new(IntVersion::V05, early_type(kind)?, bits);
    header.replication = first >> 2 & 3;
    header.copy = first & 2 != 0;
    header.hops_exceeded = first & 1 != 0;
    header.max_hops = Some(max_hops);
    header.remaining_hops = Some(max_hops.checked_sub(hops)?);
    read_stack(&mut header, bytes.get(8..)?, hop_words, stack_words, false);
    Some(header)
}

/// A v1.0 metadata header with a stack of `stack_words`.
fn v10(kind: u8, bytes: &[u8], stack_words: usize) -> Option<IntHeader> {
    let [first, flags, hop_ml, remaining, high, low, 0, 0] = *bytes.first_chunk()? else {
        return None;
    };
    let bits = u16::from_be_bytes([high, low]);
    let hop_words = words_of(layout_of(IntVersion::V10), bits);
    if bits == 0
        || flags & 0x7f != 0
        || usize::from(hop_ml) != hop_words
        || stack_words.checked_rem(hop_words).unwrap_or(stack_words) != 0
    {
        return None;
    }
    let mut header = IntHeader::new(IntVersion::V10, early_type(kind)?, bits);
    header.replication = first >> 2 & 3;
    header.copy = first & 2 != 0;
    header.hops_exceeded = first & 1 != 0;
    header.mtu_exceeded = flags & 0x80 != 0;
    header.remaining_hops = Some(remaining);
    read_stack(&mut header, bytes.get(8..)?, hop_words, stack_words, false);
    Some(header)
}

/// A v1.0 metadata header that states version 0, as ONOS's INT programs for BMv2 write it.
///
/// No header is read as v0.5 too: in its second byte v0.5 counts instructions, which are at least one, where v1.0 has
/// the M bit and zeros.
fn v10_as_version_0(kind: u8, bytes: &[u8], stack_words: usize) -> Option<IntHeader> {
    let mut header = v10(kind, bytes, stack_words).filter(|_| stack_words > 0)?;
    header.quirk = Some(Quirk::IntVersionZero);
    Some(header)
}

/// A v2.x header of `words` words, its stack included.
fn v2(kind: u8, bytes: &[u8], words: usize) -> Option<IntHeader> {
    let [first, flags, hop_ml, remaining, high, low, ..] = *bytes.first_chunk::<12>()?;
    let bits = u16::from_be_bytes([high, low]);
    let mut cursor = Cursor::behind(bytes, 6);
    let domain = IntDomain {
        id: cursor.u16("").ok()?,
        instructions: cursor.u16("").ok()?,
        flags: cursor.u16("").ok()?,
    };
    if bits == 0 && domain.instructions == 0 {
        return None;
    }
    let stack_words = words.checked_sub(3)?;
    let mut header = IntHeader::new(IntVersion::V2, IntType::Md, bits);
    header.discard = first & 8 != 0;
    header.domain = Some(domain).filter(|domain| *domain != IntDomain::default());
    let rest = bytes.get(12..)?;
    match kind {
        1 | 2 => {
            let hop_words = usize::from(hop_ml);
            let reserved = (first & 1, flags, hop_ml >> 5);
            if reserved != (0, 0, 0) || hop_words < words_of(layout_of(IntVersion::V2), bits) {
                return None;
            }
            if kind == 2 {
                header.kind = IntType::Destination;
            }
            header.hops_exceeded = first & 4 != 0;
            header.mtu_exceeded = first & 2 != 0;
            header.remaining_hops = Some(remaining);
            read_stack(&mut header, rest, hop_words, stack_words, true);
        }
        3 => {
            if (first & 7, flags, hop_ml, remaining) != (0, 0, 0, 0) {
                return None;
            }
            header.kind = IntType::Mx;
            read_stack(&mut header, rest, 0, stack_words, true);
        }
        _ => return None,
    }
    Some(header)
}

/// Reads as much of the stack as there is: whole hops, then words that only the source wrote.
fn read_stack(
    header: &mut IntHeader,
    bytes: &[u8],
    hop_words: usize,
    stack_words: usize,
    source_words: bool,
) {
    let stack = bytes.get(..4 * stack_words).unwrap_or(bytes);
    header.truncated = stack.len() < 4 * stack_words;
    let layout = layout_of(header.version);
    let domain_words = hop_words.saturating_sub(words_of(layout, header.instructions));
    let mut cursor = Cursor::new(stack);
    let hops = stack_words.checked_div(hop_words).unwrap_or(0);
    for _ in 0..hops {
        let hop = metadata_items::decode(
            &mut cursor,
            layout,
            header.instructions,
            domain_words,
            false,
        );
        match hop {
            Ok(hop) => header.hops.push(hop),
            Err(_) => return,
        }
    }
    while source_words && let Ok(word) = cursor.u32("") {
        header.source_words.push(word);
    }
}

/// Host-INT's block: shim type 3, a v0.5 header with one hop, a sequence number, a tail.
fn host_int(bytes: &[u8]) -> Option<FoundHeader> {
    let block = IntBlock::decode(bytes).ok()?;
    let mut header = IntHeader::new(IntVersion::V05, IntType::HostInt, 0xcc00);
    header.hops.push(Metadata {
        node: Some(block.source.node),
        ingress_port: Some(block.source.ingress_port),
        egress_port: Some(block.source.egress_port),
        ingress_ts: Some(block.source.ingress_ts.into()),
        egress_ts: Some(block.source.egress_ts.into()),
        ..Metadata::default()
    });
    header.seq = Some(block.sequence);
    header.original_dscp = block.notes.original_dscp;
    // In extension-udp these bytes hold the original protocol; in over-tcp-udp they hold 0 or words that keep a
    // checksum right.
    if !block.notes.tail_is_checksum
        && let [protocol @ (6 | 17), 0, 0, 0] = block.tail
    {
        header.original_protocol = Some(protocol);
        return Some(FoundHeader::new(header, BLOCK_BYTES, Some(protocol.into())));
    }
    Some(FoundHeader::new(header, BLOCK_BYTES, None))
}
