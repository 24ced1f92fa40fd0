//! This process's network namespace, and the BPF file system that `ip netns exec` hides.

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
use nix::sys::statvfs::{FsFlags, statvfs};

use super::log;
use super::netdev::control_socket;

const BPFFS: &str = "/sys/fs/bpf";

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

/// Returns a number that tells this host, a network namespace, from all others until the machine reboots.
pub fn instance() -> io::Result<u64> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    let mut hasher = DefaultHasher::new();
    (boot.trim(), id()?).hash(&mut hasher);
    Ok(hasher.finish())
}

/// Returns a number that hosts have in common whose raw clocks are one: both halves of the kernel's boot id and the time
/// namespace, which shifts raw clocks, by exclusive or.
pub fn kernel() -> io::Result<u64> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    let digits: String = boot.trim().split('-').collect();
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
/// started this one, because `ip netns exec` covers /sys. With `create` it is mounted if none is found. The path stays
/// valid for this process when it gives up capabilities.
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
            Err(Errno::EACCES) => refused = Some(named(&path, Errno::EACCES.into())),
            _ => {}
        }
    }
    if !create {
        return refused.map_or(Ok(None), Err);
    }
    let mut failure = io::Error::from(io::ErrorKind::NotFound);
    for pid in processes {
        match mount_for(pid) {
            Ok(()) => {
                log::debug(|| format!("mounted a BPF file system at {BPFFS} of process {pid}"));
                return hold(&seen_from(pid)).map(Some);
            }
            Err(err) => failure = named(&seen_from(pid), err),
        }
    }
    Err(failure)
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
