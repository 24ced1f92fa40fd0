//! Whether connections of a pair may go in options of their own segments. No probe shows that options pass a path: the
//! first connections do.

/// After segments with options came to nothing, none is sent for this time.
const AGAIN_NS: u64 = 60_000_000_000;
/// If they do so again and again, that becomes this many times as long at the most.
const LEAST_OFTEN: u64 = 16;

/// The trust of one pair.
#[derive(Default)]
pub(super) struct OptionTrust {
    /// Connections go without until then; 0: with.
    again_ns: u64,
    /// How often in a row it was given up.
    failures: u32,
}

impl OptionTrust {
    pub(super) fn is_trusted(&self) -> bool {
        self.again_ns == 0
    }

    /// Segments with options do not arrive: something on the path takes options off, or drops what has some.
    pub(super) fn give_up(&mut self, now_ns: u64) {
        if self.is_trusted() {
            let times = (1 << self.failures.min(8)).min(LEAST_OFTEN);
            self.failures += 1;
            self.again_ns = now_ns + AGAIN_NS * times;
        }
    }

    /// Lets connections try again, if it is time.
    pub(super) fn try_again(&mut self, now_ns: u64) {
        if self.again_ns <= now_ns {
            self.again_ns = 0;
        }
    }
}
