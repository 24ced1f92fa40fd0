//! What every other noun is written in: numbers and names as bytes, hashes, errors in words.

pub(super) mod hex;
pub(super) mod interned_name;
pub mod name_pattern;
pub mod number_code;
mod number_hash;
mod plain_error;
mod search_words;

pub use number_hash::{NumberHash, SeededHash};
pub use plain_error::PlainError;
pub use search_words::SearchWords;
