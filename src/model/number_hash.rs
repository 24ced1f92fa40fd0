//! A quick hash of numbers that this process chooses: other hosts cannot make them collide.

use std::hash::{BuildHasherDefault, Hasher};

/// An odd number whose bits are as good as random: 2^64 divided by the golden ratio.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Makes the hash of each number.
pub type NumberHash = BuildHasherDefault<NumberHasher>;

/// The hash of the numbers so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        let wide = u128::from(self.0 ^ number) * u128::from(MULTIPLIER);
        // Tables take low bits and high ones.
        self.0 = wide as u64 ^ (wide >> 64) as u64;
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_i64(&mut self, number: i64) {
        self.write_u64(number.cast_unsigned());
    }
}
