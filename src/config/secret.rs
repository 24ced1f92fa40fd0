//! Files with secrets, which only their owner can read.

use std::fmt;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::mistake::{Fault, secret_fault};
use crate::model::PlainError;

/// A password. Its debug output does not show it.
#[derive(Clone, Eq, PartialEq)]
pub struct Password(pub String);

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(secret)")
    }
}

/// Reads the password in a file; problems with the file become faults of `key`.
pub(super) fn read_password(
    key: &'static str,
    what: &str,
    path: &Path,
    faults: &mut Vec<Fault>,
) -> Option<Password> {
    read_secret(what, path)
        .map_err(|why| faults.push(secret_fault(key, why)))
        .map(Password)
        .ok()
}

/// Greatest length of a file with a secret.
const MOST: u64 = 64 << 10;

/// Reads the text of a file that others may not read, without the line feed that a text editor appends. `what` names
/// the file in errors.
///
/// # Errors
/// A sentence for the user that reveals nothing of the file's content.
pub(super) fn read_secret(what: &str, path: &Path) -> Result<String, String> {
    let shown = path.display();
    let cannot = |why: &dyn std::fmt::Display| format!("cannot read {what} {shown}: {why}");
    let file = fs::metadata(path).map_err(|err| cannot(&PlainError(&err)))?;
    // A device or pipe might never end.
    if !file.is_file() {
        return Err(cannot(&"it is not a regular file"));
    }
    if file.permissions().mode() & 0o077 != 0 && !is_credential(path) {
        return Err(format!(
            "cannot use {what} {shown}: others may read it (try: chmod 600 {shown})"
        ));
    }
    if file.len() > MOST {
        return Err(cannot(&"it is longer than 64 KiB"));
    }
    let text = fs::read_to_string(path).map_err(|err| cannot(&PlainError(&err)))?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

/// Whether the service manager gave the file to this service alone. It may do so by an access list, which looks like a
/// group that may read.
fn is_credential(path: &Path) -> bool {
    let folder = std::env::var_os("CREDENTIALS_DIRECTORY").filter(|folder| !folder.is_empty());
    folder.is_some_and(|folder| path.parent() == Some(Path::new(&folder)))
}
