//! A position in untrusted bytes that cannot leave them.

use super::error::DecodeError;

pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, offset: 0 }
    }

    /// A cursor that starts after the first `offset` bytes.
    pub(super) fn behind(bytes: &'a [u8], offset: usize) -> Self {
        Self { bytes, offset }
    }

    /// Number of bytes before this position.
    pub(super) fn offset(&self) -> usize {
        self.offset
    }

    /// The remaining bytes.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.offset..).unwrap_or_default()
    }

    /// Refuses bytes behind this position.
    pub(super) fn end(
        &self,
        what: &'static str,
        expected: &'static str,
    ) -> Result<(), DecodeError> {
        if self.rest().is_empty() {
            return Ok(());
        }
        Err(DecodeError::Length {
            what,
            found: self.bytes.len(),
            expected,
        })
    }

    pub(super) fn array<const N: usize>(
        &mut self,
        what: &'static str,
    ) -> Result<[u8; N], DecodeError> {
        let rest = self.rest();
        let (array, _) = rest
            .split_first_chunk::<N>()
            .ok_or(DecodeError::Truncated {
                what,
                offset: self.offset,
                needed: N,
                available: rest.len(),
            })?;
        self.offset += N;
        Ok(*array)
    }

    pub(super) fn u8(&mut self, what: &'static str) -> Result<u8, DecodeError> {
        self.array::<1>(what).map(|[byte]| byte)
    }

    pub(super) fn u16(&mut self, what: &'static str) -> Result<u16, DecodeError> {
        self.array(what).map(u16::from_be_bytes)
    }

    pub(super) fn u32(&mut self, what: &'static str) -> Result<u32, DecodeError> {
        self.array(what).map(u32::from_be_bytes)
    }

    pub(super) fn u64(&mut self, what: &'static str) -> Result<u64, DecodeError> {
        self.array(what).map(u64::from_be_bytes)
    }

    /// A number in groups of seven bits, lowest first, in as few bytes as it takes.
    pub(super) fn varint(&mut self, what: &'static str) -> Result<u64, DecodeError> {
        let begin = self.offset;
        let mut value = 0_u64;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.u8(what)?;
            let group = u64::from(byte & 0x7f);
            let fits = group << shift >> shift == group && (byte != 0 || shift == 0);
            value |= group << shift;
            if !fits {
                break;
            }
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(DecodeError::Length {
            what,
            found: self.offset - begin,
            expected: "the fewest that hold it, and 64 bits",
        })
    }

    /// The next `length` bytes; `length` may come from untrusted input.
    pub(super) fn take(
        &mut self,
        what: &'static str,
        length: usize,
    ) -> Result<&'a [u8], DecodeError> {
        let rest = self.rest();
        let (taken, _) = rest
            .split_at_checked(length)
            .ok_or(DecodeError::Truncated {
                what,
                offset: self.offset,
                needed: length,
                available: rest.len(),
            })?;
        self.offset += length;
        Ok(taken)
    }

    /// Reads a byte that must have this value.
    pub(super) fn expect_u8(
        &mut self,
        what: &'static str,
        expected: u8,
    ) -> Result<(), DecodeError> {
        let found = self.u8(what)?;
        self.check(what, 1, found.into(), expected.into())
    }

    /// Refuses a value, read from the last `width` bytes, that is not the expected one.
    pub(super) fn check(
        &self,
        what: &'static str,
        width: usize,
        found: u32,
        expected: u32,
    ) -> Result<(), DecodeError> {
        if found == expected {
            return Ok(());
        }
        Err(DecodeError::Field {
            what,
            offset: self.offset.saturating_sub(width),
            found,
            expected,
        })
    }
}
