//! The Internet checksum (RFC 1071).

/// The checksum of these parts, all of them but the last of even length.
pub(super) fn checksum(parts: &[&[u8]]) -> u16 {
    let words = parts.iter().flat_map(|part| part.chunks(2));
    let mut sum = words.fold(0u32, |sum, word| {
        let low = word.get(1).copied().unwrap_or_default();
        sum + u32::from(u16::from_be_bytes([word[0], low]))
    });
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}
