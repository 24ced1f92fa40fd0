//! Control groups of the unified hierarchy (cgroup2).

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nix::sys::statfs::{CGROUP2_SUPER_MAGIC, statfs};

/// Returns the id by which the kernel's programs know the cgroup of this folder.
///
/// # Errors
/// If there is no such folder, or it is no cgroup.
pub fn id(folder: &Path) -> io::Result<u64> {
    let metadata = std::fs::metadata(folder)?;
    if !metadata.is_dir() || statfs(folder)?.filesystem_type() != CGROUP2_SUPER_MAGIC {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is no folder of a cgroup2 file system (try one below /sys/fs/cgroup)",
        ));
    }
    Ok(metadata.ino())
}
