//! The bytes of a config file.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use crate::model::PlainError;

/// The longest file that is read, far longer than any real one: a device might never end.
const LONGEST: u64 = 16 << 20;

/// Reads the file, if it is not too long for one.
///
/// # Errors
/// Why it cannot be read, and what to try.
pub(super) fn read_bytes(path: &Path) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut file = fs::File::open(path).map_err(|err| {
        let hint = match err.kind() {
            io::ErrorKind::NotFound => {
                " (try another --config; hostint.toml(5) says how to write one)"
            }
            _ => "",
        };
        format!("{}{hint}", PlainError(&err))
    })?;
    Read::take(&mut file, LONGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(|err| PlainError(&err).to_string())?;
    if bytes.len() as u64 > LONGEST {
        return Err(format!("it is longer than {} MiB", LONGEST >> 20));
    }
    Ok(bytes)
}
