//! Small files that a host keeps across restarts, in a folder of their own: the collector's state belongs to another user.

use std::env;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::os::netns;

const FOLDER: &str = "/var/lib/hostint-node";

/// The path of the file with this name. A network namespace is a host of its own, with files of its own.
pub fn path(name: &str) -> PathBuf {
    // systemd names the folder that it makes.
    let reported = env::var_os("STATE_DIRECTORY");
    let reported = reported.and_then(|all| env::split_paths(&all).next());
    let name = match netns::name() {
        Some(namespace) => format!("{name}@{namespace}"),
        None => name.to_owned(),
    };
    reported.unwrap_or_else(|| FOLDER.into()).join(name)
}

/// Replaces the file as a whole: roles that start at once write the same. All users may read it, because some roles are not
/// root.
///
/// # Errors
/// If it cannot be written.
pub fn write(file: &Path, text: &str) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("/"));
    if !folder.exists() {
        fs::create_dir_all(folder)?;
        fs::set_permissions(folder, Permissions::from_mode(0o755))?;
    }
    let new = file.with_extension(format!("{}.new", std::process::id()));
    fs::write(&new, text)?;
    fs::set_permissions(&new, Permissions::from_mode(0o644))?;
    fs::rename(&new, file)
}
