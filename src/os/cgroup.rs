//! Control groups of the unified hierarchy (cgroup2).

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use nix::sys::statfs::{CGROUP2_SUPER_MAGIC, statfs};

use super::netns;

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

/// True of the cgroup that all others are below, and not of one that a container sees in its place.
pub fn is_root(folder: &Path) -> bool {
    const ROOT: u64 = 1;
    std::fs::metadata(folder).is_ok_and(|found| found.ino() == ROOT)
}

/// Finds the cgroup that all others are below: where this process has it mounted, else process 1 or those that started
/// this one, because `ip netns exec` covers /sys. The path stays valid for this process when it gives up capabilities, and is
/// looked for once, as seeing the mounts of others takes some.
pub fn root() -> Option<PathBuf> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOUND.get_or_init(find_root).clone()
}

fn find_root() -> Option<PathBuf> {
    let outer = || {
        netns::outer_processes().into_iter().find_map(|pid| {
            let root = PathBuf::from(format!("/proc/{pid}/root"));
            netns::hold(&mounted_for(&pid.to_string(), &root)?).ok()
        })
    };
    mounted_for("self", Path::new("/")).or_else(outer)
}

/// The folder of a cgroup2 file system among a process's mounts that is not covered by another mount, as it is seen below the
/// root of that process: the one with all cgroups, which a container may have beside its own, or else the first.
fn mounted_for(process: &str, root: &Path) -> Option<PathBuf> {
    let mounts = std::fs::read_to_string(format!("/proc/{process}/mounts")).ok()?;
    let fields = mounts.lines().map(|line| line.split(' '));
    let seen = fields.filter_map(|mut fields| {
        let folder = Path::new(fields.nth(1)?);
        let folder = root.join(folder.strip_prefix("/").ok()?);
        let is_seen =
            || statfs(&folder).is_ok_and(|found| found.filesystem_type() == CGROUP2_SUPER_MAGIC);
        (fields.next()? == "cgroup2" && is_seen()).then_some(folder)
    });
    let seen = Vec::from_iter(seen);
    let whole = seen.iter().find(|folder| is_root(folder)).cloned();
    whole.or_else(|| seen.into_iter().next())
}
