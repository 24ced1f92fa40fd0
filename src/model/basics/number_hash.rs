//! Quick hashes of numbers: of those that this process chooses, which other hosts cannot make collide, and, with a seed, of
//! others.

use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};

/// An odd number whose bits are as good as random: 2^64 divided by the golden ratio.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Makes the hash of each number.
pub type NumberHash = BuildHasherDefault<NumberHasher>;

/// Makes the hash of numbers that other hosts choose: they do not know the seed.
#[derive(Clone, Copy, Debug)]
pub struct SeededHash(u64);

impl Default for SeededHash {
    fn default() -> Self {
        Self(RandomState::new().build_hasher().finish())
    }
}

impl BuildHasher for SeededHash {
    type Hasher = NumberHasher;

    fn build_hasher(&self) -> NumberHasher {
        NumberHasher(self.0)
    }
}

/// The hash of the numbers so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            word.iter_mut().zip(part).for_each(|(to, byte)| *to = *byte);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, number: u8) {
        self.write_u64(u64::from(number));
    }

    fn write_u16(&mut self, number: u16) {
        self.write_u64(u64::from(number));
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
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
