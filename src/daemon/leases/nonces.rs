//! Random numbers that cannot be guessed.

use crate::os::clock;

/// Nonces, fetched in batches.
#[derive(Default)]
pub(super) struct Nonces(Vec<u64>);

impl Nonces {
    pub(super) fn next(&mut self) -> u64 {
        if self.0.is_empty() {
            let mut bytes = [0; 1024];
            if getrandom::fill(&mut bytes).is_ok() {
                let words = bytes.chunks_exact(8);
                self.0 = words
                    .map(|word| word.iter().fold(0, |all, byte| all << 8 | u64::from(*byte)))
                    .collect();
            }
        }
        // Without entropy the last resort is a number that is never used twice.
        self.0.pop().unwrap_or_else(clock::monotonic_ns)
    }
}
