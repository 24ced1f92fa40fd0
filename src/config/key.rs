//! The key of lease messages, in a file that only its owner can read.

use std::path::Path;

use super::mistake::{Fault, secret_fault};
use super::secret::read_secret;
use crate::model::LeaseKey;

/// Reads 32 hexadecimal digits.
///
/// # Errors
/// A sentence for the user, if the file is anything else or others may read it.
pub fn read_key(path: &Path) -> Result<LeaseKey, String> {
    let shown = path.display();
    let text = read_secret("lease key", path)?;
    parse(text.trim()).ok_or_else(|| {
        format!(
            "cannot use lease key {shown}: expected 32 hexadecimal digits, not all zero \
             (try: openssl rand -hex 16 > {shown})"
        )
    })
}

fn parse(text: &str) -> Option<LeaseKey> {
    if text.len() != 32 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let number = u128::from_str_radix(text, 16)
        .ok()
        .filter(|number| *number != 0)?;
    Some(LeaseKey(number.to_be_bytes()))
}

/// Reads the key in a file; problems with the file become faults.
pub(super) fn check_key(path: Option<&Path>, faults: &mut Vec<Fault>) -> Option<LeaseKey> {
    read_key(path?)
        .map_err(|why| faults.push(secret_fault("lease-key", why)))
        .ok()
}
