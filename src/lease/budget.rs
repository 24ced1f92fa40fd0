//! The budget of probes: together with the questions to 1,000 idle peers, all probes of a host take at most 1 Mbit/s.

/// Bytes per second.
const RATE: u64 = 90_000;
/// Bytes that may be sent at once: a few peers are proved without delay.
const BURST: u64 = 160_000;
const SECOND_NS: u64 = 1_000_000_000;

/// A token bucket of bytes.
pub(super) struct Budget {
    bytes: u64,
    /// The time up to which bytes were added.
    filled_ns: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            bytes: BURST,
            filled_ns: 0,
        }
    }
}

impl Budget {
    fn fill(&mut self, now_ns: u64) {
        let elapsed_ns = now_ns.saturating_sub(self.filled_ns);
        let full_ns = BURST * SECOND_NS / RATE;
        let more = elapsed_ns.min(full_ns) * RATE / SECOND_NS;
        if more > 0 {
            self.bytes = (self.bytes + more).min(BURST);
            self.filled_ns = now_ns;
        }
    }

    /// True if this many bytes may be sent now.
    pub(super) fn allows(&mut self, bytes: u64, now_ns: u64) -> bool {
        self.fill(now_ns);
        self.bytes >= bytes
    }

    /// Takes the bytes if they may be sent now.
    pub(super) fn take(&mut self, bytes: u64, now_ns: u64) -> bool {
        let allowed = self.allows(bytes, now_ns);
        if allowed {
            self.bytes -= bytes;
        }
        allowed
    }
}
