//! The path of the control socket.

use std::io;
use std::path::{Path, PathBuf};

use crate::os::netns;

/// The folder of the sockets of all network namespaces.
const FOLDER: &str = "/run/hostint";
const POSTCARDS_FOLDER: &str = "/run/hostint-postcards";
const TCP_FOLDER: &str = "/run/hostint-tcp";

/// A role of which nothing is pinned, so that only its daemon knows its state.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum UnpinnedRole {
    Postcards,
    Tcp,
}

impl UnpinnedRole {
    /// The name of its command.
    pub fn name(self) -> &'static str {
        match self {
            Self::Postcards => "postcards",
            Self::Tcp => "tcp",
        }
    }

    /// The folder of its sockets. Its daemon may be a user without privileges, so it has a folder of its own.
    fn folder(self) -> &'static str {
        match self {
            Self::Postcards => POSTCARDS_FOLDER,
            Self::Tcp => TCP_FOLDER,
        }
    }
}

/// The folders in which daemons have their sockets, unless other paths are given.
pub const FOLDERS: [&str; 3] = [FOLDER, POSTCARDS_FOLDER, TCP_FOLDER];

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

/// The path of the socket at which the daemon of a role answers in this network namespace.
///
/// # Errors
/// If the network namespace cannot be named.
pub fn role_socket_path(role: UnpinnedRole) -> io::Result<PathBuf> {
    Ok(Path::new(role.folder()).join(format!("control.{}.sock", netns::id()?)))
}
