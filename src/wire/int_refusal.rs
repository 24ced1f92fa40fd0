//! The reasons why bytes that look like INT are none. Offsets count from the shim, or from a Geneve option.

use super::DecodeError;

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
