//! The path of the control socket.

use std::io;
use std::path::{Path, PathBuf};

use crate::os::netns;

/// The folder of the sockets of all network namespaces.
const FOLDER: &str = "/run/hostint";

/// The path that was given, else that of this network namespace.
///
/// # Errors
/// If the network namespace cannot be named.
pub fn socket_path(given: Option<&Path>) -> io::Result<PathBuf> {
    match given {
        Some(path) => Ok(path.to_owned()),
        None => Ok(Path::new(FOLDER).join(format!("control.{}.sock", netns::id()?))),
    }
}
