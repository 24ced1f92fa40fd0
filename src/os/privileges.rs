//! The privileges of this process: capabilities that it has, lacks or gives up.

use std::io;

pub use caps::Capability;
use caps::{CapSet, CapsHashSet};

use super::log;

/// The capabilities that a daemon needs all the time: maps and programs (BPF), the kernel data that programs read
/// (PERFMON), interfaces and hooks (NET_ADMIN).
pub const STEADY: [Capability; 3] = [
    Capability::CAP_BPF,
    Capability::CAP_NET_ADMIN,
    Capability::CAP_PERFMON,
];

/// The capabilities that postcards need all the time: programs (BPF), the kernel data that they read (PERFMON), and the
/// names of the kernel's functions (SYSLOG).
pub const POSTCARDS: [Capability; 3] = [
    Capability::CAP_BPF,
    Capability::CAP_PERFMON,
    Capability::CAP_SYSLOG,
];

/// The same where packets are timed, too: hooks of interfaces (NET_ADMIN).
pub const POSTCARDS_HOPS: [Capability; 4] = [
    Capability::CAP_BPF,
    Capability::CAP_PERFMON,
    Capability::CAP_SYSLOG,
    Capability::CAP_NET_ADMIN,
];

/// The capabilities that postcards use at their start besides: hooks of interfaces (NET_ADMIN), memory for maps before
/// Linux 5.11 (SYS_RESOURCE), and leaving the bounding set (SETPCAP).
pub const POSTCARDS_BEGIN: [Capability; 6] = [
    Capability::CAP_BPF,
    Capability::CAP_PERFMON,
    Capability::CAP_SYSLOG,
    Capability::CAP_NET_ADMIN,
    Capability::CAP_SYS_RESOURCE,
    Capability::CAP_SETPCAP,
];

/// The capabilities that the view of TCP connections needs all the time: programs (BPF), and the kernel data that they
/// read (PERFMON).
pub const TCP: [Capability; 2] = [Capability::CAP_BPF, Capability::CAP_PERFMON];

/// The capabilities that it uses at its start besides, as postcards do, and the program that sends option 114, which
/// takes part in the work of sockets (NET_ADMIN).
pub const TCP_BEGIN: [Capability; 5] = [
    Capability::CAP_BPF,
    Capability::CAP_PERFMON,
    Capability::CAP_NET_ADMIN,
    Capability::CAP_SYS_RESOURCE,
    Capability::CAP_SETPCAP,
];

/// The same where option 114 is sent.
pub const TCP_OPTION: [Capability; 3] = [
    Capability::CAP_BPF,
    Capability::CAP_PERFMON,
    Capability::CAP_NET_ADMIN,
];

/// The capability of sockets that ask for leases.
pub const LEASES: [Capability; 1] = [Capability::CAP_NET_RAW];

/// The capabilities that hostint needs for all its commands.
pub const WANTED: [Capability; 4] = [
    Capability::CAP_BPF,
    Capability::CAP_NET_ADMIN,
    Capability::CAP_PERFMON,
    Capability::CAP_NET_RAW,
];

/// The capabilities that a daemon uses at its start: sockets that ask for leases (NET_RAW), memory for maps before
/// Linux 5.11 (SYS_RESOURCE), the control socket's group (CHOWN), mounting or finding a BPF file system that is not
/// visible (SYS_ADMIN, SYS_CHROOT, SYS_PTRACE), and leaving the bounding set (SETPCAP).
pub const BEGIN: [Capability; 10] = [
    Capability::CAP_BPF,
    Capability::CAP_NET_ADMIN,
    Capability::CAP_PERFMON,
    Capability::CAP_NET_RAW,
    Capability::CAP_SYS_RESOURCE,
    Capability::CAP_CHOWN,
    Capability::CAP_SYS_ADMIN,
    Capability::CAP_SYS_PTRACE,
    Capability::CAP_SYS_CHROOT,
    Capability::CAP_SETPCAP,
];

/// The capabilities that CAP_SYS_ADMIN includes: before Linux 5.8 they did not exist.
const BY_ADMIN: [Capability; 2] = [Capability::CAP_BPF, Capability::CAP_PERFMON];

/// Gives up all capabilities but these for good: neither this thread nor threads and programs that it starts can get
/// others again. Threads that run already keep theirs. CAP_SYS_ADMIN is kept if it stands for one that is missing.
pub fn keep_only(kept: &[Capability]) -> io::Result<()> {
    nix::sys::prctl::set_no_new_privs()?;
    let mut wanted: CapsHashSet = kept.iter().copied().collect();
    let has = caps::read(None, CapSet::Permitted).map_err(io::Error::other)?;
    if kept
        .iter()
        .any(|one| BY_ADMIN.contains(one) && !has.contains(one))
    {
        wanted.insert(Capability::CAP_SYS_ADMIN);
    }
    let left: CapsHashSet = has.intersection(&wanted).copied().collect();
    log::debug(|| {
        let mut names: Vec<String> = left.iter().map(Capability::to_string).collect();
        names.sort();
        format!("giving up all capabilities but {}", names.join(", "))
    });
    if caps::has_cap(None, CapSet::Effective, Capability::CAP_SETPCAP).map_err(io::Error::other)? {
        for capability in caps::all() {
            // The kernel may not know the capability.
            if !wanted.contains(&capability)
                && caps::has_cap(None, CapSet::Bounding, capability).unwrap_or(false)
            {
                caps::drop(None, CapSet::Bounding, capability).map_err(io::Error::other)?;
            }
        }
    }
    caps::clear(None, CapSet::Ambient).map_err(io::Error::other)?;
    caps::set(None, CapSet::Effective, &left).map_err(io::Error::other)?;
    caps::set(None, CapSet::Permitted, &left).map_err(io::Error::other)?;
    caps::clear(None, CapSet::Inheritable).map_err(io::Error::other)
}

/// Returns the names of those capabilities that this process lacks.
pub fn missing(needed: &[Capability]) -> io::Result<Vec<String>> {
    let has = caps::read(None, CapSet::Effective).map_err(io::Error::other)?;
    let all = has.contains(&Capability::CAP_SYS_ADMIN);
    let may = |one: &Capability| has.contains(one) || all && BY_ADMIN.contains(one);
    Ok(needed
        .iter()
        .filter(|one| !may(one))
        .map(Capability::to_string)
        .collect())
}

/// True if this process may mount file systems.
pub fn may_mount() -> io::Result<bool> {
    caps::has_cap(None, CapSet::Effective, Capability::CAP_SYS_ADMIN).map_err(io::Error::other)
}

/// True if the process runs as root, but without root's right to open any file.
pub fn is_root_by_modes() -> bool {
    nix::unistd::geteuid().is_root()
        && caps::has_cap(None, CapSet::Effective, Capability::CAP_DAC_OVERRIDE)
            .is_ok_and(|may| !may)
}
