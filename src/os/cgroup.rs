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

/// Where the unified hierarchy is mounted, alone or beside others.
const ROOTS: [&str; 2] = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];

/// Returns the root of the unified hierarchy, if it is mounted at one of its usual places.
pub fn root() -> Option<&'static Path> {
    let is_root = |root: &&Path| {
        statfs(*root).is_ok_and(|found| found.filesystem_type() == CGROUP2_SUPER_MAGIC)
    };
    ROOTS.iter().map(Path::new).find(is_root)
}
