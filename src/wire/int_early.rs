//! INT v0.5 and v1.0 metadata headers with their stacks, and departures from them that can be read in one way only.

use super::error::DecodeError;
use super::hop_stack::read_stack;
use super::int_refusal;
use super::int_v2;
use super::metadata_items::{ItemLayout, OTHER_V10, layout_of, words_of};
use crate::model::{IntHeader, IntType, IntVersion, Quirk};

/// The instructions whose items have other lengths on some devices.
const STAMPS: u16 = 0x0c00;
const LEVEL_2_PORTS: u16 = 0x0200;

/// The version that a header states.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Stated {
    Zero,
    One,
    Two,
}

/// The two types of INT v0.5 and v1.0: hop-by-hop and destination.
fn early_type(kind: u8) -> Result<IntType, DecodeError> {
    match kind {
        1 => Ok(IntType::Md),
        2 => Ok(IntType::Destination),
        found => Err(DecodeError::Kind {
            what: "INT type",
            found,
            expected: "1 (hop-by-hop) or 2 (destination)",
        }),
    }
}

/// A header behind a shim of v0.5 and v1.0 that is `words` long without its tail: of v0.5 if `has_tail` leaves a word of
/// it, and of v1.0 without.
pub(super) fn behind_shim(
    kind: u8,
    bytes: &[u8],
    words: usize,
    tail_words: usize,
) -> Result<IntHeader, DecodeError> {
    let stack = |fixed: usize| words.checked_sub(fixed).ok_or(int_refusal::SHIM_TOO_SHORT);
    match bytes.first().map_or(0, |first| first >> 4) {
        0 => v05(kind, bytes, stack(3 + tail_words)?).or_else(|refused| {
            // No header is read as v0.5 too: in its second byte v0.5 counts instructions, which are at least one, where
            // v1.0 has the M bit and zeros.
            let is_v05 = bytes.get(1).is_none_or(|count| count & 0x7f != 0);
            match stack(3)? {
                0 => Err(refused),
                _ if is_v05 || tail_words == 0 => Err(refused),
                stack_words => v10(Stated::Zero, kind, bytes, stack_words),
            }
        }),
        1 => v10(Stated::One, kind, bytes, stack(3)?),
        2 => version_two(kind, bytes, words),
        found => Err(int_refusal::version(found)),
    }
}

/// A header of v1.0 that states version 2. One of v2.x has a word more in front of its stack.
fn version_two(kind: u8, bytes: &[u8], words: usize) -> Result<IntHeader, DecodeError> {
    let stack_words = words.checked_sub(3).ok_or(int_refusal::SHIM_TOO_SHORT)?;
    let early = v10(Stated::Two, kind, bytes, stack_words)?;
    let hop_words = bytes.get(2).map_or(0, |byte| usize::from(byte & 0x1f));
    let is_whole = stack_words >= 1 && (stack_words - 1).is_multiple_of(hop_words.max(1));
    if is_whole && int_v2::header(kind, bytes, words - 1).is_ok() {
        return Err(int_refusal::TWO_LAYOUTS);
    }
    Ok(early)
}

/// A v0.5 metadata header with a stack of `stack_words`.
pub(super) fn v05(kind: u8, bytes: &[u8], stack_words: usize) -> Result<IntHeader, DecodeError> {
    let [first, count, max_hops, hops, high, low, reserved @ ..] = int_refusal::fixed::<8>(bytes)?;
    let bits = u16::from_be_bytes([high, low]);
    let hop_words = words_of(layout_of(IntVersion::V05), bits);
    int_refusal::asks(bits)?;
    if usize::from(count) != hop_words {
        return Err(int_refusal::field(
            "instruction count of INT v0.5",
            5,
            count,
            hop_words,
        ));
    }
    if hop_words * usize::from(hops) != stack_words {
        let expected = stack_words / hop_words;
        return Err(int_refusal::field(
            "total hop count of INT v0.5",
            7,
            hops,
            expected,
        ));
    }
    let [reserved, low_reserved] = reserved.map(u16::from);
    if reserved | low_reserved != 0 {
        let found = reserved << 8 | low_reserved;
        return Err(int_refusal::field(
            "reserved word of INT v0.5",
            10,
            found,
            0,
        ));
    }
    let mut header = IntHeader::new(IntVersion::V05, early_type(kind)?, bits);
    header.replication = first >> 2 & 3;
    header.copy = first & 2 != 0;
    header.hops_exceeded = first & 1 != 0;
    header.max_hops = Some(max_hops);
    let remaining = max_hops.checked_sub(hops);
    let over = || int_refusal::field("total hop count of INT v0.5", 7, hops, max_hops.into());
    header.remaining_hops = Some(remaining.ok_or_else(over)?);
    let layout = layout_of(IntVersion::V05);
    let rest = bytes.get(8..).unwrap_or_default();
    read_stack(&mut header, layout, rest, hop_words, stack_words, false);
    Ok(header)
}

/// A v1.0 metadata header with a stack of `stack_words`. Those that state another version, as ONOS's INT programs for BMv2
/// write 0, have to be of v1.0 in all else.
pub(super) fn v10(
    stated: Stated,
    kind: u8,
    bytes: &[u8],
    stack_words: usize,
) -> Result<IntHeader, DecodeError> {
    let [first, flags, hop_ml, remaining, high, low, reserved @ ..] =
        int_refusal::fixed::<8>(bytes)?;
    let bits = u16::from_be_bytes([high, low]);
    let reserved = u16::from_be_bytes(reserved);
    int_refusal::asks(bits)?;
    if flags & 0x7f != 0 {
        return Err(int_refusal::field(
            "reserved bits of INT v1.0",
            5,
            flags & 0x7f,
            0,
        ));
    }
    let (quirk, layout) = layout_by_hop_length(bits, hop_ml, stated)?;
    let hop_words = usize::from(hop_ml);
    if !stack_words.is_multiple_of(hop_words) {
        return Err(int_refusal::not_whole_hops("INT v1.0 stack", stack_words));
    }
    let mut header = IntHeader::new(IntVersion::V10, early_type(kind)?, bits);
    header.quirk = match stated {
        Stated::Zero => Some(Quirk::IntVersionZero),
        Stated::One => quirk,
        Stated::Two => Some(Quirk::IntVersionTwo),
    };
    if reserved != 0 {
        if stated != Stated::One {
            return Err(int_refusal::field(
                "reserved word of INT v1.0",
                10,
                reserved,
                0,
            ));
        }
        header.quirk.get_or_insert(Quirk::IntReservedWord);
    }
    header.replication = first >> 2 & 3;
    header.copy = first & 2 != 0;
    header.hops_exceeded = first & 1 != 0;
    header.mtu_exceeded = flags & 0x80 != 0;
    header.remaining_hops = Some(remaining);
    let rest = bytes.get(8..).unwrap_or_default();
    read_stack(&mut header, layout, rest, hop_words, stack_words, false);
    Ok(header)
}

/// The layout that the hop length tells: the standard's if it fits, else the only other one that does.
fn layout_by_hop_length(
    bits: u16,
    hop_ml: u8,
    stated: Stated,
) -> Result<(Option<Quirk>, &'static ItemLayout), DecodeError> {
    let standard = layout_of(IntVersion::V10);
    let expected = words_of(standard, bits);
    let found = usize::from(hop_ml);
    if found == expected {
        return Ok((None, standard));
    }
    let has = [bits & STAMPS != 0, bits & LEVEL_2_PORTS != 0];
    let can = [has[0], has[1], has[0] && has[1]];
    let others = OTHER_V10.iter().zip(can);
    let mut fits = others.filter(|((_, layout), can)| *can && words_of(layout, bits) == found);
    match (fits.next(), fits.next()) {
        (Some(((quirk, layout), _)), None) if stated != Stated::Zero => Ok((Some(*quirk), layout)),
        _ => {
            let what = "hop length (Hop ML) of INT v1.0, by its bitmap,";
            Err(int_refusal::field(what, 6, hop_ml, expected))
        }
    }
}
