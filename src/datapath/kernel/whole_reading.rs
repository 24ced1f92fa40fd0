//! A record and its counts in another map, as they were at one time.
//!
//! The kernel half counts a packet in the slots, then in the record: it cannot change both at once, and whoever reads takes two
//! looks. A record that is the same before and after the slots were read had no packet in between.

use std::io;

/// The most times that a record is read again while packets come.
const READINGS: u32 = 8;

/// Reads what belongs to the record, and the record again, until that did not change. `first` is the record as it was read
/// before; `is_same` compares what packets change. A record that is too busy is returned as it was read last: it will be read
/// again. One that is gone is returned as it was read before.
pub fn read_whole<R, S>(
    first: R,
    is_same: impl Fn(&R, &R) -> bool,
    mut read_rest: impl FnMut(&R) -> io::Result<S>,
    mut read_again: impl FnMut() -> io::Result<Option<R>>,
) -> io::Result<(R, S)> {
    let mut record = first;
    let mut rest = read_rest(&record)?;
    for _ in 0..READINGS {
        match read_again()? {
            Some(now) if !is_same(&now, &record) => record = now,
            _ => break,
        }
        rest = read_rest(&record)?;
    }
    Ok((record, rest))
}
