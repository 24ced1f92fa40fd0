//! The reasons why bytes that look like INT are none. Offsets count from the shim, or from a Geneve option.

use super::error::DecodeError;
use super::metadata_items::{layout_of, words_of};
use crate::model::IntVersion;

/// A shim's length that leaves no room for the header.
pub(super) const SHIM_TOO_SHORT: DecodeError = DecodeError::Length {
    what: "INT header by its shim's length",
    found: 0,
    expected: "the header and its stack",
};

/// A header of v1.0 that states version 2 and could be one of v2.x.
pub(super) const TWO_LAYOUTS: DecodeError = DecodeError::Kind {
    what: "INT version behind a shim of v1.0",
    found: 2,
    expected: "1, because its lengths fit the layouts of both",
};

/// Nothing is asked for: data rather than INT.
pub(super) const NOTHING_ASKED: DecodeError = DecodeError::Field {
    what: "instruction bitmap of INT",
    offset: 8,
    found: 0,
    expected: 0xffff,
};

/// Bytes of a shim, and of the shortest metadata header.
const SHIM_BYTES: usize = 4;
const LEAST_HEADER_BYTES: usize = 8;

pub(super) fn version(found: u8) -> DecodeError {
    DecodeError::Kind {
        what: "INT version",
        found,
        expected: "0 (v0.5), 1 (v1.0) or 2 (v2.x)",
    }
}

pub(super) fn field(
    what: &'static str,
    offset: usize,
    found: impl Into<u32>,
    expected: usize,
) -> DecodeError {
    DecodeError::Field {
        what,
        offset,
        found: found.into(),
        expected: u32::try_from(expected).unwrap_or(u32::MAX),
    }
}

/// The bytes of a header that do not depend on its stack.
pub(super) fn fixed<const N: usize>(bytes: &[u8]) -> Result<[u8; N], DecodeError> {
    bytes.first_chunk().copied().ok_or(DecodeError::Truncated {
        what: "INT header",
        offset: SHIM_BYTES,
        needed: N,
        available: bytes.len(),
    })
}

/// Refuses a bitmap without a bit.
pub(super) fn asks(bits: u16) -> Result<(), DecodeError> {
    match bits {
        0 => Err(NOTHING_ASKED),
        _ => Ok(()),
    }
}

/// True for bytes behind TCP or UDP that are a shim and a header and hardly anything else, by these fields: the
/// type, reserved bits, a length that holds the header, a version and a bitmap.
pub(super) fn resembles_int(bytes: &[u8]) -> bool {
    let Some(shim) = bytes.first_chunk::<SHIM_BYTES>() else {
        return false;
    };
    let Some([first, second, _, _, high, low, ..]) = bytes
        .get(SHIM_BYTES..)
        .and_then(<[u8]>::first_chunk::<LEAST_HEADER_BYTES>)
    else {
        return false;
    };
    let asks = (*high, *low) != (0, 0);
    let version = first >> 4;
    match *shim {
        // Instructions are counted, or a hop has a length.
        [1 | 2, 0, words, _] => {
            asks && words >= 3 && version <= 2 && words <= 0x80 && *second < 0x90
        }
        [3, 0, words, _] => asks && (7..=16).contains(&words) && version == 0,
        [types, words, _, _] if types & 3 == 0 => {
            asks && (1..=3).contains(&(types >> 4)) && words >= 3 && version == 2
        }
        _ => false,
    }
}

/// Why bytes behind TCP or UDP are no INT, if all their fields but one of the shim, or but the version, agree as those of INT
/// v1.0 or v2.x with hops do. Other data has no reason to: the bitmap tells the length of a hop, and that the stack's, and
/// reserved words are 0.
pub(super) fn but_for_one_field(bytes: &[u8]) -> Option<DecodeError> {
    only_of(&early_departures(bytes)?).or_else(|| only_of(&v2_departures(bytes)?))
}

fn only_of(departures: &[Option<DecodeError>]) -> Option<DecodeError> {
    let mut all = departures.iter().flatten();
    let first = all.next().copied();
    first.filter(|_| all.next().is_none())
}

/// What is wrong with a shim and a header of v1.0; `None` if it is none of a flow's hops.
fn early_departures(bytes: &[u8]) -> Option<[Option<DecodeError>; 4]> {
    let [
        kind,
        reserved,
        words,
        _,
        first,
        flags,
        hop_ml,
        _,
        high,
        low,
        0,
        0,
    ] = *bytes.first_chunk()?
    else {
        return None;
    };
    let hop_words = words_of(layout_of(IntVersion::V10), u16::from_be_bytes([high, low]));
    if hop_words == 0 || usize::from(hop_ml) != hop_words || flags != 0 {
        return None;
    }
    let is_known = matches!(kind, 1 | 2);
    Some([
        (!is_known).then_some(DecodeError::Kind {
            what: "INT type",
            found: kind,
            expected: "1 (hop-by-hop) or 2 (destination)",
        }),
        (reserved != 0).then(|| field("reserved byte of an INT shim", 1, reserved, 0)),
        (first >> 4 > 2).then(|| version(first >> 4)),
        stack_departure("INT v1.0 stack", words, hop_words),
    ])
}

/// The same of v2.x, without a domain.
fn v2_departures(bytes: &[u8]) -> Option<[Option<DecodeError>; 4]> {
    let [
        types,
        words,
        _,
        _,
        first,
        0,
        hop_ml,
        _,
        high,
        low,
        domain @ ..,
    ] = *bytes.first_chunk::<16>()?
    else {
        return None;
    };
    let hop_words = words_of(layout_of(IntVersion::V2), u16::from_be_bytes([high, low]));
    if hop_words == 0 || usize::from(hop_ml) != hop_words || domain != [0; 6] {
        return None;
    }
    let is_known = matches!(types >> 4, 1 | 2);
    Some([
        (!is_known).then_some(DecodeError::Kind {
            what: "INT type",
            found: types >> 4,
            expected: "1 (MD), 2 (destination) or 3 (MX)",
        }),
        (types & 3 != 0).then(|| field("reserved bits of an INT shim", 0, types & 3, 0)),
        (first >> 4 != 2).then(|| version(first >> 4)),
        stack_departure(V2_STACK, words, hop_words),
    ])
}

/// The stack of INT v2.x.
pub(super) const V2_STACK: &str = "INT v2 stack";

/// A stack, behind three words that the shim counts, that is no whole number of hops, or has none.
fn stack_departure(what: &'static str, words: u8, hop_words: usize) -> Option<DecodeError> {
    match usize::from(words).checked_sub(3) {
        None => Some(SHIM_TOO_SHORT),
        Some(stack) if stack == 0 || !stack.is_multiple_of(hop_words) => {
            Some(not_whole_hops(what, stack))
        }
        Some(_) => None,
    }
}

pub(super) fn not_whole_hops(what: &'static str, words: usize) -> DecodeError {
    DecodeError::Length {
        what,
        found: 4 * words,
        expected: "hops of its hop length",
    }
}
