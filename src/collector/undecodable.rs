//! Counts of undecodable datagrams and reports, by cause.

use std::fmt;

use serde::Serialize;

use super::decoded::{DecodeError, DecodeErrorKind};

/// Undecodable datagrams, and undecodable individual reports in groups, by cause.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize)]
pub struct UndecodableCounts {
    pub truncated: u64,
    pub version: u64,
    pub kind: u64,
    pub length: u64,
    pub field: u64,
}

/// The undecodable datagrams of one address.
#[derive(Clone, Debug, Default)]
pub struct UndecodableFrom {
    pub counts: UndecodableCounts,
    /// What was wrong with the last one.
    pub last: Option<DecodeError>,
    pub(super) last_seen_ns: u64,
}

impl fmt::Display for UndecodableFrom {
    /// `3 undecodable (field 3); the last: header length at offset 0 is 0x1, expected 0x4`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} undecodable ({})", self.counts.total(), self.counts)?;
        match &self.last {
            Some(why) => write!(f, "; the last: {why}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for UndecodableCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let causes = [
            ("truncated", self.truncated),
            ("version", self.version),
            ("kind", self.kind),
            ("length", self.length),
            ("field", self.field),
        ];
        let counted = causes.iter().filter(|(_, count)| *count > 0);
        for (index, (cause, count)) in counted.enumerate() {
            write!(f, "{}{cause} {count}", if index > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

impl UndecodableCounts {
    pub fn total(&self) -> u64 {
        self.truncated + self.version + self.kind + self.length + self.field
    }

    pub(super) fn count(&mut self, kind: DecodeErrorKind) {
        *match kind {
            DecodeErrorKind::Truncated => &mut self.truncated,
            DecodeErrorKind::Version => &mut self.version,
            DecodeErrorKind::Kind => &mut self.kind,
            DecodeErrorKind::Length => &mut self.length,
            DecodeErrorKind::Field => &mut self.field,
        } += 1;
    }
}
