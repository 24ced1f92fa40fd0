//! Flows that the guard untagged because their packets came to nothing.

/// This many flows that come to nothing within [`FALL_NS`] make their form distrusted.
const FALLS: u64 = 3;
const FALL_NS: u64 = 10_000_000_000;

/// The kernel's count of flows of a pair that fell.
#[derive(Default)]
pub(super) struct Falls {
    /// The kernel's count now, and at the beginning of the current period.
    count: Option<u64>,
    first: u64,
    since_ns: u64,
}

impl Falls {
    /// Takes the kernel's count. Returns true if too many flows fell in a short time.
    pub(super) fn note(&mut self, count: u64, now_ns: u64) -> bool {
        let before = self.count.replace(count);
        if before.is_none_or(|before| count < before)
            || now_ns.saturating_sub(self.since_ns) > FALL_NS
        {
            self.first = before.filter(|before| *before <= count).unwrap_or(count);
            self.since_ns = now_ns;
        }
        let many = count - self.first >= FALLS;
        if many {
            self.first = count;
        }
        many
    }
}
