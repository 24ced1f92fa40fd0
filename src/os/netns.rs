//! This process's network namespace, and the BPF file system that `ip netns exec` hides.

use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use std::thread;

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg, OFlag, open};
use nix::libc;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::stat::Mode;
use nix::sys::statfs::{BPF_FS_MAGIC, statfs};
use nix::sys::statvfs::{FsFlags, statvfs};

use super::log;
use super::netdev::control_socket;

/// Where the BPF file system is mounted.
pub const BPFFS: &str = "/sys/fs/bpf";

/// Returns a number that names this network namespace: its cookie, which is unique until the machine reboots, or its
/// inode number before Linux 5.14.
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

/// Returns the name that `ip netns add` gave this network namespace, if it has one.
pub fn name() -> Option<String> {
    let here = std::fs::metadata("/proc/self/ns/net").ok()?;
    let named = std::fs::read_dir("/run/netns").ok()?;
    let names = named.flatten().filter(|entry| {
        let found = std::fs::metadata(entry.path());
        found.is_ok_and(|found| (found.dev(), found.ino()) == (here.dev(), here.ino()))
    });
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    names.min()
}

/// Returns the inode of this network namespace, by which the kernel's programs know it.
pub fn inode() -> io::Result<u32> {
    let ino = std::fs::metadata("/proc/self/ns/net")?.ino();
    u32::try_from(ino).map_err(io::Error::other)
}

fn boot_id() -> io::Result<&'static str> {
    static BOOT: OnceLock<String> = OnceLock::new();
    if let Some(known) = BOOT.get() {
        return Ok(known);
    }
    let read = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    Ok(BOOT.get_or_init(|| read.trim().to_owned()))
}

/// Returns a number that tells this host, a network namespace, from all others until the machine reboots.
pub fn instance() -> io::Result<u64> {
    let mut hasher = DefaultHasher::new();
    (boot_id()?, id()?).hash(&mut hasher);
    Ok(hasher.finish())
}

/// Returns a number that hosts have in common whose raw clocks are one: both halves of the kernel's boot id and the time
/// namespace, which shifts raw clocks, by exclusive or.
pub fn kernel() -> io::Result<u64> {
    let digits: String = boot_id()?.split('-').collect();
    let boot = u128::from_str_radix(&digits, 16).map_err(io::Error::other)?;
    // Linux 5.6.
    let time = std::fs::metadata("/proc/self/ns/time").map_or(0, |found| found.ino());
    Ok((boot >> 64) as u64 ^ boot as u64 ^ time)
}

/// True if a BPF file system is mounted at the path.
pub fn is_bpffs(path: &Path) -> bool {
    statfs(path).is_ok_and(|found| found.filesystem_type() == BPF_FS_MAGIC)
}

/// True if the file system at the path is mounted read-only.
pub fn is_read_only(path: &Path) -> bool {
    statvfs(path).is_ok_and(|found| found.flags().contains(FsFlags::ST_RDONLY))
}

/// Finds a mounted BPF file system: `/sys/fs/bpf` of this process, else that of process 1 or of the processes that
/// started this one, because `ip netns exec` covers /sys. With `create` it is mounted if none is found. Where process 1 may
/// not be looked at and the others have ended, other processes are asked. The path stays valid for this process when it gives
/// up capabilities.
pub fn bpffs(create: bool) -> io::Result<Option<PathBuf>> {
    let here = PathBuf::from(BPFFS);
    if is_bpffs(&here) {
        return Ok(Some(here));
    }
    let mut failure = None;
    for processes in [outer_processes, other_processes] {
        let processes = processes();
        let mut found = find_among(&processes);
        if create && !matches!(found, Ok(Some(_))) {
            found = mount_among(&processes);
        }
        match found {
            Ok(Some(path)) => return hold(&path).map(Some),
            Ok(None) => {}
            Err(err) => failure = failure.or(Some(err)),
        }
    }
    match failure {
        Some(err) => Err(err),
        None if create => Err(io::ErrorKind::NotFound.into()),
        None => Ok(None),
    }
}

fn seen_from(pid: u32) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/root{BPFFS}"))
}

/// The BPF file system of the first of these processes that has one.
///
/// # Errors
/// If there is none, and not all of the processes may be looked at.
fn find_among(processes: &[u32]) -> io::Result<Option<PathBuf>> {
    let mut refused = None;
    for path in processes.iter().copied().map(seen_from) {
        match statfs(&path) {
            Ok(found) if found.filesystem_type() == BPF_FS_MAGIC => return Ok(Some(path)),
            Err(Errno::EACCES) => refused = Some(named(&path, Errno::EACCES.into())),
            _ => {}
        }
    }
    refused.map_or(Ok(None), Err)
}

/// Mounts one for the first of these processes for which that can be done.
fn mount_among(processes: &[u32]) -> io::Result<Option<PathBuf>> {
    let mut failure = None;
    for pid in processes.iter().copied() {
        let path = seen_from(pid);
        match mount_once(pid, &path) {
            Ok(()) => return Ok(Some(path)),
            Err(err) => failure = Some(named(&path, err)),
        }
    }
    failure.map_or(Ok(None), Err)
}

/// Mounts one for a process, unless another process did that at the same time: what is pinned in a file system is not
/// found any more once another one covers it.
fn mount_once(pid: u32, path: &Path) -> io::Result<()> {
    // Whoever mounts holds the lock of the folder below.
    let folder = match Flock::lock(File::open(path)?, FlockArg::LockExclusive) {
        Ok(folder) => folder,
        Err((_, err)) => return Err(err.into()),
    };
    if !is_bpffs(path) {
        mount_for(pid)?;
        log::debug(|| format!("mounted a BPF file system at {BPFFS} of process {pid}"));
    }
    drop(folder);
    Ok(())
}

/// Names the path that was tried.
fn named(path: &Path, err: io::Error) -> io::Error {
    let text = match err.raw_os_error() {
        Some(number) => format!("{}: {}", path.display(), Errno::from_raw(number).desc()),
        None => format!("{}: {err}", path.display()),
    };
    io::Error::new(err.kind(), text)
}

/// Returns a path to a folder that can be used without the privilege to see the process that it belongs to, and after
/// its file system was unmounted or covered.
pub fn hold(folder: &Path) -> io::Result<PathBuf> {
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
            log::debug(|| format!("holding the folder {}", folder.display()));
            held.len() - 1
        }
    };
    Ok(PathBuf::from(format!(
        "/proc/self/fd/{}",
        held[at].1.as_raw_fd()
    )))
}

/// Returns process 1, then this process's ancestors from the outermost to its parent.
pub(super) fn outer_processes() -> Vec<u32> {
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

/// Returns the processes that have this one's root folder but other mounts, the oldest first: `ip netns exec` was begun among
/// their mounts.
fn other_processes() -> Vec<u32> {
    let root = |pid: &str| {
        let found = std::fs::metadata(format!("/proc/{pid}/root/")).ok()?;
        Some((found.dev(), found.ino()))
    };
    let mounts = |pid: &str| std::fs::read_link(format!("/proc/{pid}/ns/mnt")).ok();
    let (ours, our_mounts) = (root("self"), mounts("self"));
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut found: Vec<u32> = names
        .filter(|name| ours.is_some() && root(name) == ours && mounts(name) != our_mounts)
        .filter_map(|name| name.parse().ok())
        .collect();
    found.sort_unstable();
    found
}

fn parent_of(pid: u32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    line.trim().parse().ok()
}

/// Mounts the BPF file system in the mount namespace of a process, where later commands will find it.
fn mount_for(pid: u32) -> io::Result<()> {
    let mounted = thread::spawn(move || -> io::Result<()> {
        let namespace = File::open(format!("/proc/{pid}/ns/mnt"))?;
        // A thread may only change its mount namespace if it shares its root and working directory with no other
        // thread.
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
