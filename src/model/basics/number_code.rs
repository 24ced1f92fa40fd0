//! Numbers as bytes, in groups of seven bits, lowest first: small ones take one byte.

/// Appends a number.
pub fn put(out: &mut Vec<u8>, mut value: u128) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a number that may be negative.
pub fn put_signed(out: &mut Vec<u8>, value: i128) {
    put(out, ((value << 1) ^ (value >> 127)) as u128);
}

/// Takes what [`put`] appended; `None` if the bytes end before.
pub fn take(bytes: &mut &[u8]) -> Option<u128> {
    let mut value = 0;
    for shift in (0..128).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u128::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// Takes what [`put_signed`] appended.
pub fn take_signed(bytes: &mut &[u8]) -> Option<i128> {
    let value = take(bytes)?;
    Some((value >> 1) as i128 ^ -((value & 1) as i128))
}
