//! INT v0.5, v1.0 and v2.x headers of any domain, after each carrier's shim.
//!
//! No fixed mark announces INT in a reported packet, because each domain chooses its own. Bytes count as a header if
//! type, version, counts, bitmap and lengths agree and at least one instruction is set; all other bytes are the
//! packet's data.

use super::error::DecodeError;
use super::int_early::{self, Stated};
use super::int_refusal;
use super::int_v2;
use super::int_v05::{BLOCK_BYTES, IntBlock, SHIM_TYPE};
use crate::model::{IntHeader, IntType, IntVersion, Metadata};

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
///
/// # Errors
/// Why there is none; only for [`int_refusal::resembles_int`] it means that INT could not be read.
pub(super) fn behind_l4(bytes: &[u8]) -> Result<FoundHeader, DecodeError> {
    match int_refusal::fixed::<1>(bytes)? {
        [1 | 2] => early_behind_l4(bytes),
        [SHIM_TYPE] => host_int(bytes),
        _ => v2_behind_l4(bytes),
    }
}

/// INT v0.5, which has a tail after its stack, and INT v1.0.
fn early_behind_l4(bytes: &[u8]) -> Result<FoundHeader, DecodeError> {
    let [kind, reserved, words, dscp] = int_refusal::fixed(bytes)?;
    if reserved != 0 {
        return Err(int_refusal::field(
            "reserved byte of an INT shim",
            1,
            reserved,
            0,
        ));
    }
    let (words, rest) = (
        usize::from(words),
        bytes.get(SHIM_BYTES..).unwrap_or_default(),
    );
    let mut header = int_early::behind_shim(kind, rest, words, 1)?;
    if header.version != IntVersion::V05 {
        header.original_dscp = Some(dscp >> 2);
    } else if let Some(tail) = bytes.get(4 * words - 4..)
        && let Some([protocol, high, low, dscp]) = tail.first_chunk()
    {
        let port = u16::from_be_bytes([*high, *low]);
        header.original_protocol = Some(*protocol).filter(|protocol| *protocol != 0);
        header.original_dport = Some(port).filter(|port| *port != 0);
        header.original_dscp = Some(*dscp).filter(|dscp| *dscp != 0);
    }
    Ok(FoundHeader::new(header, 4 * words, None))
}

fn v2_behind_l4(bytes: &[u8]) -> Result<FoundHeader, DecodeError> {
    let [types, words, high, low] = int_refusal::fixed(bytes)?;
    let (words, rest) = (
        usize::from(words),
        bytes.get(SHIM_BYTES..).unwrap_or_default(),
    );
    if types & 3 != 0 {
        return Err(int_refusal::field(
            "reserved bits of an INT shim",
            0,
            types & 3,
            0,
        ));
    }
    let mut header = int_v2::header(types >> 4, rest, words)?;
    let mut next = None;
    // NPT defines the meaning of the last two bytes.
    match (types >> 2 & 3, high) {
        (0, 0) => header.original_dscp = Some(low >> 2),
        (1, _) => header.original_dport = Some(u16::from_be_bytes([high, low])),
        (2, 0) => {
            header.original_protocol = Some(low);
            next = Some(low.into());
        }
        (0 | 2, found) => {
            return Err(int_refusal::field(
                "reserved byte of an INT shim",
                2,
                found,
                0,
            ));
        }
        (found, _) => {
            return Err(DecodeError::Kind {
                what: "next protocol type (NPT) of an INT shim",
                found,
                expected: "0, 1 or 2",
            });
        }
    }
    Ok(FoundHeader::new(header, SHIM_BYTES + 4 * words, next))
}

/// The header after a VXLAN-GPE header, or after another INT header there.
pub(super) fn in_vxlan_gpe(bytes: &[u8]) -> Result<FoundHeader, DecodeError> {
    let [types, second, third, next] = int_refusal::fixed(bytes)?;
    let rest = bytes.get(SHIM_BYTES..).unwrap_or_default();
    let is_early = version_of(rest) < 2 || types & 0x0f != 0;
    let (header, size) = match (second, third) {
        (0, words) if is_early => {
            let words = usize::from(words);
            (int_early::behind_shim(types, rest, words, 0)?, 4 * words)
        }
        (found, _) if is_early => {
            return Err(int_refusal::field(
                "reserved byte of an INT shim",
                1,
                found,
                0,
            ));
        }
        (words, flags) if flags & 0x7f == 0 => {
            let words = usize::from(words);
            (
                int_v2::header(types >> 4, rest, words)?,
                SHIM_BYTES + 4 * words,
            )
        }
        (_, flags) => {
            return Err(int_refusal::field(
                "reserved bits of an INT shim",
                2,
                flags & 0x7f,
                0,
            ));
        }
    };
    Ok(FoundHeader::new(header, size, Some(next.into())))
}

/// The header after a GRE header.
pub(super) fn in_gre(bytes: &[u8]) -> Result<FoundHeader, DecodeError> {
    let [types, words, high, low] = int_refusal::fixed(bytes)?;
    let (words, rest) = (
        usize::from(words),
        bytes.get(SHIM_BYTES..).unwrap_or_default(),
    );
    if types & 7 != 0 {
        return Err(int_refusal::field(
            "reserved bits of an INT shim",
            0,
            types & 7,
            0,
        ));
    }
    let header = int_v2::header(types >> 4, rest, words)?;
    let next = u16::from_be_bytes([high, low]);
    Ok(FoundHeader::new(header, SHIM_BYTES + 4 * words, Some(next)))
}

/// The header in a Geneve option's data of `words` words, if nothing truncated it.
pub(super) fn in_geneve(kind: u8, data: &[u8], words: usize) -> Result<IntHeader, DecodeError> {
    let stack = |fixed: usize| words.checked_sub(fixed).ok_or(int_refusal::SHIM_TOO_SHORT);
    match version_of(data) {
        0 => int_early::v05(kind, data, stack(2)?),
        1 => int_early::v10(Stated::One, kind, data, stack(2)?),
        _ => int_v2::header(kind, data, words),
    }
}

impl FoundHeader {
    pub(super) fn new(header: IntHeader, bytes: usize, next: Option<u16>) -> Self {
        Self {
            header,
            bytes,
            next,
        }
    }
}

/// The version that a metadata header states.
fn version_of(header: &[u8]) -> u8 {
    header.first().map_or(0, |first| first >> 4)
}

/// Host-INT's block: shim type 3, a v0.5 header with one hop, a sequence number, a tail.
fn host_int(bytes: &[u8]) -> Result<FoundHeader, DecodeError> {
    let block = IntBlock::decode(bytes)?;
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
        return Ok(FoundHeader::new(header, BLOCK_BYTES, Some(protocol.into())));
    }
    Ok(FoundHeader::new(header, BLOCK_BYTES, None))
}
