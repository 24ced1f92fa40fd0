//! The key of lease messages, in a file that only its owner reads.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::model::LeaseKey;

/// Reads 32 hexadecimal digits.
///
/// # Errors
/// If they are none, or others may read them: a sentence for the user.
pub fn read_key(path: &Path) -> Result<LeaseKey, String> {
    let shown = path.display();
    let cannot = |why: &dyn std::fmt::Display| format!("cannot read lease key {shown}: {why}");
    let file = fs::metadata(path).map_err(|err| cannot(&err))?;
    // Reading a device or pipe might never end.
    if !file.is_file() {
        return Err(cannot(&"it is no regular file"));
    }
    let mode = file.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(format!(
            "cannot use lease key {shown}: others may read it (try: chmod 600 {shown})"
        ));
    }
    let text = fs::read_to_string(path).map_err(|err| cannot(&err))?;
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
