//! Packets and their bytes.

/// Packets, and the bytes of their IP packets without INT. A superpacket counts as its segments, with the headers of each.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Volume {
    pub packets: u64,
    /// `None`: they were not reported.
    pub bytes: Option<u64>,
}

impl Default for Volume {
    fn default() -> Self {
        Self::of(0, 0)
    }
}

impl Volume {
    pub fn of(packets: u64, bytes: u64) -> Self {
        Self {
            packets,
            bytes: Some(bytes),
        }
    }

    pub fn of_packets(packets: u64) -> Self {
        Self {
            packets,
            bytes: None,
        }
    }

    pub fn is_nothing(self) -> bool {
        self.packets == 0 && self.bytes.unwrap_or(0) == 0
    }

    /// Bytes are known only if they are of both.
    pub fn add(&mut self, more: Self) {
        *self = self.with(more, u64::saturating_add);
    }

    pub fn times(self, n: u64) -> Self {
        Self {
            packets: self.packets.saturating_mul(n),
            bytes: self.bytes.map(|bytes| bytes.saturating_mul(n)),
        }
    }

    /// Returns what this total has more than an earlier one.
    pub fn since(self, before: Self) -> Self {
        self.with(before, u64::saturating_sub)
    }

    /// Returns the later one of two totals.
    pub fn later(self, other: Self) -> Self {
        self.with(other, u64::max)
    }

    fn with(self, other: Self, each: impl Fn(u64, u64) -> u64) -> Self {
        let bytes = self.bytes.zip(other.bytes);
        Self {
            packets: each(self.packets, other.packets),
            bytes: bytes.map(|(own, other)| each(own, other)),
        }
    }
}
