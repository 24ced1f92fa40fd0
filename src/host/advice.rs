//! Errors of the operating system, with the sentence that says what to try.

use std::io;
use std::path::Path;

use anyhow::{Context, anyhow};

use crate::config::ConfigError;
use crate::datapath::kernel::load::is_refusal;
use crate::model::preflight::version;
use crate::model::{KernelPart, PartsFound, Surroundings};
use crate::os::{cgroup, container, kernel, log, privileges};

/// A wrong command line that clap cannot see.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// True if the user's input was wrong and nothing was done.
pub fn is_usage(err: &anyhow::Error) -> bool {
    err.chain().any(|cause| {
        cause.is::<ConfigError>()
            || cause.is::<Usage>()
            || cause.downcast_ref().is_some_and(names_no_bpffs)
    })
}

/// True for the error about a folder that the user names as a BPF file system.
fn names_no_bpffs(err: &io::Error) -> bool {
    err.kind() == io::ErrorKind::NotADirectory && err.raw_os_error().is_none()
}

/// Why even root was refused, which surprises root.
pub fn hint(err: &anyhow::Error) -> Option<&'static str> {
    let refused = format!("{err:#}").contains("Permission denied");
    (refused && privileges::is_root_by_modes()).then_some(
        "the daemon drops CAP_DAC_OVERRIDE: make the file, and its folders, readable for root by their modes",
    )
}

/// Where this process runs.
pub fn surroundings() -> Surroundings {
    match (container::is_pod(), container::is_here()) {
        (true, _) => Surroundings::Pod,
        (false, true) => Surroundings::Container,
        (false, false) => Surroundings::Machine,
    }
}

/// Checks that this process may load programs.
///
/// # Errors
/// It lacks capabilities, or a seccomp profile refuses what they are for.
pub fn require(needed: &[privileges::Capability]) -> anyhow::Result<()> {
    let missing = privileges::missing(needed).context("cannot read capabilities")?;
    anyhow::ensure!(missing.is_empty(), "{}", needs(&missing));
    anyhow::ensure!(!container::refuses_bpf(), "{}", refused_by_profile());
    Ok(())
}

fn needs(missing: &[String]) -> String {
    let root = nix::unistd::geteuid().is_root();
    let give = surroundings().give_capabilities(missing, root);
    format!("needs {} (try {give})", missing.join(", "))
}

fn refused_by_profile() -> String {
    let allow = surroundings().allow_bpf();
    format!("the seccomp profile of this process refuses bpf(), which loads programs (try {allow})")
}

/// Adds to the error of a file that cannot be made what gives a container its folder.
pub fn advise_folder(err: anyhow::Error, file: &Path) -> anyhow::Error {
    let folder = file.parent().unwrap_or(file).to_string_lossy();
    let is_read_only = |cause: &(dyn std::error::Error + 'static)| {
        let err = cause.downcast_ref::<io::Error>();
        err.is_some_and(|err| err.kind() == io::ErrorKind::ReadOnlyFilesystem)
    };
    match surroundings().give_folder(&folder) {
        Some(give) if err.chain().any(is_read_only) => anyhow!("{err:#} (try {give})"),
        _ => err,
    }
}

/// Says in the log that sockets outside of this container's control group are not reached.
pub fn warn_of_own_cgroup(folder: &Path) {
    let show = surroundings().show("/sys/fs/cgroup");
    if let Some(show) = show.filter(|_| !cgroup::is_root(folder)) {
        log::warning(format_args!(
            "this container sees its own control group alone, so sockets outside of it are not reached (try {show})"
        ));
    }
}

/// Adds what to try to an error of the operating system.
pub fn advise(err: io::Error) -> anyhow::Error {
    let advice = match err.kind() {
        io::ErrorKind::PermissionDenied => return denied(err),
        io::ErrorKind::ResourceBusy if err.raw_os_error().is_none() => {
            "remove it, or use another --hook (see ip link show, bpftool net)"
        }
        _ => match err.raw_os_error() {
            Some(nix::libc::EBUSY | nix::libc::EEXIST) => {
                "another program holds this hook (see ip link show, bpftool net)"
            }
            Some(nix::libc::EOPNOTSUPP) => "the driver has no native XDP (try --xdp-mode generic)",
            Some(nix::libc::ERANGE) => {
                "the MTU is too large for native XDP here (try --xdp-mode generic)"
            }
            Some(nix::libc::ENODEV | nix::libc::ENXIO) => "no such interface (see ip link)",
            _ => return err.into(),
        },
    };
    anyhow!("{err}; {advice}")
}

/// Adds what to try to an error about pins: reading them takes no capability, but their owner.
pub fn advise_pins(err: io::Error) -> anyhow::Error {
    if err.kind() == io::ErrorKind::PermissionDenied {
        if nix::unistd::geteuid().is_root() {
            return anyhow!(
                "{err} (try --bpffs DIR, with a BPF file system that this process may open)"
            );
        }
        return anyhow!(
            "{err}; what is pinned is root's, or of the user who runs the daemon (try sudo)"
        );
    }
    advise(err)
}

/// Adds the privileges that are missing, of those that are needed.
pub fn advise_for(err: io::Error, needed: &[privileges::Capability]) -> anyhow::Error {
    // The verifier refuses what takes a privilege, too.
    let missing = match err.kind() == io::ErrorKind::PermissionDenied || is_refusal(&err) {
        true => privileges::missing(needed).unwrap_or_default(),
        false => Vec::new(),
    };
    match missing.as_slice() {
        [] if container::refuses_bpf() => anyhow!("{err}; {}", refused_by_profile()),
        [] => err.into(),
        missing => anyhow!("{err}; {}", needs(missing)),
    }
}

/// What a part of a role begins with; `None`, and a line in the log, if the kernel lacks or refuses it.
///
/// # Errors
/// The part does not begin for another reason, such as privileges that are missing.
pub fn unless_refused<T>(
    part: KernelPart,
    needed: &[privileges::Capability],
    begun: io::Result<T>,
) -> anyhow::Result<(Option<T>, PartsFound)> {
    let mut found = PartsFound::default();
    found.tried.insert(part);
    let err = match begun {
        Ok(begun) => return Ok((Some(begun), found)),
        Err(err) => err,
    };
    let missing = privileges::missing(needed).unwrap_or_default();
    if !is_refusal(&err) || !missing.is_empty() || container::refuses_bpf() {
        return Err(advise_for(err, needed));
    }
    log::warning(format_args!("{}: {err}", part.facts().sentence()));
    found.refused.insert(part);
    Ok((None, found))
}

/// Names the privileges that are missing.
fn denied(err: io::Error) -> anyhow::Error {
    match privileges::missing(&privileges::STEADY)
        .unwrap_or_default()
        .as_slice()
    {
        [] if container::refuses_bpf() => anyhow!("{err}; {}", refused_by_profile()),
        // What files refuse is EACCES.
        [] if is_refusal(&err) || err.raw_os_error() == Some(nix::libc::EPERM) => {
            anyhow!("{err}; {}", why_refused())
        }
        [] => advise_pins(err),
        missing => anyhow!("{err}; {}", needs(missing)),
    }
}

/// Why the kernel may refuse something to a process with all capabilities.
fn why_refused() -> String {
    let release = kernel::release().unwrap_or_default();
    let locked = kernel::lockdown().filter(|mode| mode != "none");
    match (locked, version(&release)) {
        (Some(mode), _) => format!(
            "the kernel is locked down ({mode}) and refuses it to every user (try lockdown=integrity at boot)"
        ),
        // Until then maps and programs were charged to the process.
        (None, Some(old)) if old < (5, 11) => {
            "the limit of locked memory may be too low (try ulimit -l unlimited)".to_owned()
        }
        (None, _) => "this process has all capabilities for it, so the kernel refuses it to every user (hostint doctor \
                      names all that is refused)"
            .to_owned(),
    }
}
