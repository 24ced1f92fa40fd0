//! Decoding errors.

use crate::model::BadHeaders;

/// Why a datagram is not a report, or a block not an INT block. Offsets count bytes from the beginning.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum DecodeError {
    #[error("{what} at offset {offset} needs {needed} bytes, {available} left")]
    Truncated {
        what: &'static str,
        offset: usize,
        needed: usize,
        available: usize,
    },
    #[error("telemetry report version {found}, expected 0 (v0.5), 1 (v1.0) or 2 (v2.0)")]
    Version { found: u8 },
    #[error("{what} {found}, expected {expected}")]
    Kind {
        what: &'static str,
        found: u8,
        expected: &'static str,
    },
    #[error("more than {limit} individual reports in a group")]
    TooMany { limit: usize },
    #[error("{what} of {found} bytes, expected {expected}")]
    Length {
        what: &'static str,
        found: usize,
        expected: &'static str,
    },
    #[error("{what} at offset {offset} is {found:#x}, expected {expected:#x}")]
    Field {
        what: &'static str,
        offset: usize,
        found: u32,
        expected: u32,
    },
    #[error("{what} at offset {offset} is no printable UTF-8")]
    Text { what: &'static str, offset: usize },
    #[error(
        "distribution of latencies at offset {offset}: no values have these counts, sum and ends"
    )]
    Histogram { offset: usize },
    #[error("quoted headers at offset {offset}: {source}")]
    Headers { offset: usize, source: BadHeaders },
}

/// The kind of a [`DecodeError`], by which errors can be counted.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum DecodeErrorKind {
    Truncated,
    Version,
    Kind,
    Length,
    Field,
}

impl DecodeError {
    pub fn kind(&self) -> DecodeErrorKind {
        match self {
            Self::Truncated { .. } => DecodeErrorKind::Truncated,
            Self::Version { .. } => DecodeErrorKind::Version,
            Self::Kind { .. } => DecodeErrorKind::Kind,
            Self::Length { .. } | Self::TooMany { .. } => DecodeErrorKind::Length,
            Self::Field { .. }
            | Self::Text { .. }
            | Self::Histogram { .. }
            | Self::Headers { .. } => DecodeErrorKind::Field,
        }
    }
}
