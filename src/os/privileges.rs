//! What this process may do: capabilities looked at, and given up.

use std::io;

pub use caps::Capability;
use caps::{CapSet, CapsHashSet};

/// For what hostint does to the kernel all the time: maps and programs (BPF), what these read (PERFMON), interfaces
/// and hooks (NET_ADMIN).
pub const STEADY: [Capability; 3] = [
    Capability::CAP_BPF,
    Capability::CAP_NET_ADMIN,
    Capability::CAP_PERFMON,
];

/// With those, all that hostint does can be done.
pub const WANTED: [Capability; 4] = [
    Capability::CAP_BPF,
    Capability::CAP_NET_ADMIN,
    Capability::CAP_PERFMON,
    Capability::CAP_NET_RAW,
];

/// To begin: sockets that ask for leases (NET_RAW), memory for maps before Linux 5.11 (SYS_RESOURCE), the control
/// socket's group (CHOWN); where bpffs is not mounted, or not seen from here, to mount and to find it (SYS_ADMIN,
/// SYS_PTRACE); and to leave the bounding set (SETPCAP).
pub const BEGIN: [Capability; 9] = [
    Capability::CAP_BPF,
    Capability::CAP_NET_ADMIN,
    Capability::CAP_PERFMON,
    Capability::CAP_NET_RAW,
    Capability::CAP_SYS_RESOURCE,
    Capability::CAP_CHOWN,
    Capability::CAP_SYS_ADMIN,
    Capability::CAP_SYS_PTRACE,
    Capability::CAP_SETPCAP,
];

/// Gives up all capabilities but these, for good: neither this thread, nor threads and programs that it starts, get
/// others again. Those of threads that run already stay.
pub fn keep_only(kept: &[Capability]) -> io::Result<()> {
    nix::sys::prctl::set_no_new_privs()?;
    let wanted: CapsHashSet = kept.iter().copied().collect();
    let has = caps::read(None, CapSet::Permitted).map_err(io::Error::other)?;
    let left: CapsHashSet = has.intersection(&wanted).copied().collect();
    if caps::has_cap(None, CapSet::Effective, Capability::CAP_SETPCAP).map_err(io::Error::other)? {
        for capability in caps::all() {
            // The kernel may not know it.
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

/// Which of these capabilities this process lacks, by name.
pub fn missing(needed: &[Capability]) -> io::Result<Vec<String>> {
    let has = caps::read(None, CapSet::Effective).map_err(io::Error::other)?;
    // What CAP_BPF and CAP_PERFMON allow, this one did before.
    let all = has.contains(&Capability::CAP_SYS_ADMIN);
    let lacks = |one: &&Capability| {
        let covered = all && matches!(one, Capability::CAP_BPF | Capability::CAP_PERFMON);
        !covered && !has.contains(one)
    };
    Ok(needed
        .iter()
        .filter(lacks)
        .map(Capability::to_string)
        .collect())
}

/// Whether this process may mount file systems.
pub fn may_mount() -> io::Result<bool> {
    caps::has_cap(None, CapSet::Effective, Capability::CAP_SYS_ADMIN).map_err(io::Error::other)
}
