//! The name of this host.

use std::io;

/// As `hostname` says it.
pub fn get() -> io::Result<String> {
    Ok(nix::unistd::gethostname()?.to_string_lossy().into_owned())
}
