//! Network namespaces without a name, and mounts of this process's own: all of it ends with the processes that use it,
//! however they end.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, parent_id};
use std::path::Path;
use std::process::{Child, Command};
use std::thread;

use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;

use super::log;

const QUIET: MsFlags = MsFlags::MS_NOSUID
    .union(MsFlags::MS_NODEV)
    .union(MsFlags::MS_NOEXEC);

/// A network namespace, which lives for as long as this value or a process in it.
#[derive(Debug)]
pub struct PrivateNetns(OwnedFd);

impl PrivateNetns {
    /// Makes a network namespace with nothing in it but loopback, which is down.
    pub fn new() -> io::Result<Self> {
        in_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET)?;
            let own = File::open("/proc/thread-self/ns/net")?;
            log::debug(|| "made a network namespace without a name".to_owned());
            Ok(Self(own.into()))
        })
    }

    /// Runs this by a thread in the namespace. Sockets and threads that it makes stay there.
    pub fn enter<T: Send>(&self, run: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        in_thread(|| {
            setns(self.0.as_fd(), CloneFlags::CLONE_NEWNET)?;
            run()
        })
    }
}

/// Starts a program, which gets this signal when the calling thread ends. If it is to be in a namespace, it sees the interfaces
/// of that below /sys.
pub fn spawn(
    command: &mut Command,
    at_end: Signal,
    inside: Option<&PrivateNetns>,
) -> io::Result<Child> {
    let netns = inside.map(|netns| netns.0.try_clone()).transpose()?;
    let parent = std::process::id();
    let begin = move || {
        set_pdeathsig(at_end)?;
        if parent_id() != parent {
            // The parent ended before the kernel knew that the child is to end with it.
            return Err(Errno::ESRCH.into());
        }
        if let Some(netns) = &netns {
            setns(netns.as_fd(), CloneFlags::CLONE_NEWNET)?;
            unshare(CloneFlags::CLONE_NEWNS)?;
            mount(Some("sysfs"), "/sys", Some("sysfs"), QUIET, None::<&str>)?;
        }
        Ok(())
    };
    // SAFETY: between fork and exec there are system calls only: the paths are short, so nix takes no memory for them.
    unsafe { command.pre_exec(begin) };
    command.spawn()
}

impl AsFd for PrivateNetns {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn in_thread<T: Send>(run: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let ended = thread::Builder::new().spawn_scoped(scope, run)?.join();
        ended.unwrap_or_else(|_| Err(io::Error::other("thread ended")))
    })
}

/// Mounts an empty file system over /run for this thread, and those threads and processes that it starts from now on. What
/// they leave there goes with the last of them.
pub fn take_own_run() -> io::Result<()> {
    unshare(CloneFlags::CLONE_NEWNS)?;
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    mount(None::<&str>, "/", None::<&str>, private, None::<&str>)?;
    mount(
        Some("tmpfs"),
        "/run",
        Some("tmpfs"),
        QUIET,
        Some("mode=755"),
    )?;
    log::debug(|| "mounted a file system over /run, for this process only".to_owned());
    Ok(())
}

/// Mounts a BPF file system at this folder.
pub fn mount_bpffs(at: &Path) -> io::Result<()> {
    mount(Some("bpf"), at, Some("bpf"), QUIET, Some("mode=700"))?;
    Ok(())
}
