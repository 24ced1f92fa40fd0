//! The container that this process runs in, if it does, and what its seccomp profile refuses.

use std::env;
use std::path::Path;

use nix::errno::Errno;
use nix::libc;

/// No kernel has a command of this number.
const NO_COMMAND: libc::c_int = -1;

/// True in a container of an engine: podman and hostint's own image set a variable, and podman leaves a file. Docker's file is
/// in virtual machines, too, whose disks were made of images.
pub fn is_here() -> bool {
    env::var_os("container").is_some() || Path::new("/run/.containerenv").exists() || is_pod()
}

/// True in a container of Kubernetes.
pub fn is_pod() -> bool {
    env::var_os("KUBERNETES_SERVICE_HOST").is_some()
}

/// True if a seccomp profile, and not the kernel, refuses bpf(2) to this process, which has the capabilities for it.
pub fn refuses_bpf() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    is_filtered(&status) && !matches!(try_no_command(), Err(Errno::EINVAL))
}

/// True if the status of a process says that a filter looks at its system calls.
pub fn is_filtered(status: &str) -> bool {
    let mode = status
        .lines()
        .find_map(|line| line.strip_prefix("Seccomp:"));
    mode.is_some_and(|mode| mode.trim() == "2")
}

/// Asks for nothing: a kernel that is reached says that the command is wrong.
fn try_no_command() -> nix::Result<libc::c_long> {
    // SAFETY: no memory is named, and a command that does not exist does nothing.
    let result = unsafe { libc::syscall(libc::SYS_bpf, NO_COMMAND, std::ptr::null::<u8>(), 0) };
    Errno::result(result)
}
