//! The host's name.

use std::io;

/// Returns the name that the command `hostname` prints.
pub fn get() -> io::Result<String> {
    Ok(nix::unistd::gethostname()?.to_string_lossy().into_owned())
}
