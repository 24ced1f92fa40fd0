//! The network namespace we are in, and the file systems that `ip netns exec` hides.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::statfs::{BPF_FS_MAGIC, statfs};

const BPFFS: &str = "/sys/fs/bpf";

/// The inode number that names this network namespace.
pub fn id() -> io::Result<u64> {
    Ok(std::fs::metadata("/proc/self/ns/net")?.ino())
}

fn is_bpffs(path: &Path) -> bool {
    statfs(path).is_ok_and(|found| found.filesystem_type() == BPF_FS_MAGIC)
}

/// A mounted BPF file system: `/sys/fs/bpf` here, else (in `ip netns exec`, which covers /sys) that of
/// process 1. With `create` it is mounted there if nobody did.
pub fn bpffs(create: bool) -> io::Result<Option<PathBuf>> {
    let outside = PathBuf::from("/proc/1/root").join(&BPFFS[1..]);
    for path in [PathBuf::from(BPFFS), outside.clone()] {
        if is_bpffs(&path) {
            return Ok(Some(path));
        }
    }
    if !create {
        return Ok(None);
    }
    mount_outside()?;
    Ok(is_bpffs(&outside).then_some(outside))
}

/// Mounts the BPF file system in the mount namespace of process 1, where every later command finds it.
fn mount_outside() -> io::Result<()> {
    let mounted = thread::spawn(|| -> io::Result<()> {
        let namespace = File::open("/proc/1/ns/mnt")?;
        // A thread may change its mount namespace only if it shares its root and directory with nobody.
        unshare(CloneFlags::CLONE_FS)?;
        setns(&namespace, CloneFlags::CLONE_NEWNS)?;
        mount(
            Some("bpf"),
            BPFFS,
            Some("bpf"),
            MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC,
            Some("mode=700"),
        )?;
        Ok(())
    });
    mounted
        .join()
        .unwrap_or_else(|_| Err(io::Error::other("thread ended")))
}
