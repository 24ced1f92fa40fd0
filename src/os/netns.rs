//! The network namespace we are in, and the file systems that `ip netns exec` hides.

use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;

use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::libc;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::stat::Mode;
use nix::sys::statfs::{BPF_FS_MAGIC, statfs};

use super::netdev::control_socket;

const BPFFS: &str = "/sys/fs/bpf";

/// A number that names this network namespace: its cookie, which is never given twice until reboot, or
/// before 5.14 its inode number.
pub fn id() -> io::Result<u64> {
    let socket = control_socket()?;
    let mut cookie = 0u64;
    let mut len = size_of_val(&cookie) as libc::socklen_t;
    // SAFETY: the option's value is a u64, for which there is room.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_NETNS_COOKIE,
            (&raw mut cookie).cast(),
            &mut len,
        )
    };
    if result == 0 {
        return Ok(cookie);
    }
    Ok(std::fs::metadata("/proc/self/ns/net")?.ino())
}

/// A number that tells this host, a network namespace, from all others until the machine boots again.
pub fn instance() -> io::Result<u64> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    let mut hasher = DefaultHasher::new();
    (boot.trim(), id()?).hash(&mut hasher);
    Ok(hasher.finish())
}

/// True if a BPF file system is mounted there.
pub fn is_bpffs(path: &Path) -> bool {
    statfs(path).is_ok_and(|found| found.filesystem_type() == BPF_FS_MAGIC)
}

/// A mounted BPF file system: `/sys/fs/bpf` here, else that of process 1 or of the processes that started
/// this one, because `ip netns exec` covers /sys. With `create` it is mounted there if nobody did. The path is
/// good for this process, whatever capabilities it gives up.
pub fn bpffs(create: bool) -> io::Result<Option<PathBuf>> {
    let here = PathBuf::from(BPFFS);
    if is_bpffs(&here) {
        return Ok(Some(here));
    }
    let processes = outer_processes();
    let mut refused = None;
    let seen_from = |pid: u32| PathBuf::from(format!("/proc/{pid}/root{BPFFS}"));
    for pid in &processes {
        let path = seen_from(*pid);
        match statfs(&path) {
            Ok(found) if found.filesystem_type() == BPF_FS_MAGIC => return hold(&path).map(Some),
            Err(Errno::EACCES) => refused = Some(Errno::EACCES.into()),
            _ => {}
        }
    }
    if !create {
        return refused.map_or(Ok(None), Err);
    }
    let mut failure = io::Error::from(io::ErrorKind::NotFound);
    for pid in processes {
        match mount_for(pid) {
            Ok(()) => return hold(&seen_from(pid)).map(Some),
            Err(err) => failure = err,
        }
    }
    Err(failure)
}

/// Another process's folder, by a way that needs no right to look at that process.
fn hold(folder: &Path) -> io::Result<PathBuf> {
    static HELD: Mutex<Vec<(PathBuf, OwnedFd)>> = Mutex::new(Vec::new());
    let mut held = HELD
        .lock()
        .map_err(|err| io::Error::other(err.to_string()))?;
    let known = held.iter().position(|(path, _)| path == folder);
    let at = match known {
        Some(at) => at,
        None => {
            let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
            held.push((folder.to_owned(), open(folder, flags, Mode::empty())?));
            held.len() - 1
        }
    };
    Ok(PathBuf::from(format!(
        "/proc/self/fd/{}",
        held[at].1.as_raw_fd()
    )))
}

/// Process 1, then this one's ancestors from the outermost on.
fn outer_processes() -> Vec<u32> {
    let mut ancestors = Vec::new();
    let mut next = Some(nix::unistd::getppid().as_raw().unsigned_abs());
    while let Some(pid) = next.filter(|pid| *pid > 1) {
        ancestors.push(pid);
        next = parent_of(pid);
    }
    ancestors.push(1);
    ancestors.reverse();
    ancestors
}

fn parent_of(pid: u32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    line.trim().parse().ok()
}

/// Mounts the BPF file system in the mount namespace of a process, where later commands find it.
fn mount_for(pid: u32) -> io::Result<()> {
    let mounted = thread::spawn(move || -> io::Result<()> {
        let namespace = File::open(format!("/proc/{pid}/ns/mnt"))?;
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
