//! The subcommands: each joins the stages that it needs.

mod ask;
mod check_config;
mod collect;
mod control;
mod flows;
mod follow;
mod history;
mod http;
mod keeping;
mod leases;
mod lookups;
mod names;
mod page;
mod peers;
mod preflight;
mod pushing;
mod reloading;
mod sink;
mod source;
mod state_line;
mod status;
mod troubles;
mod watch;

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result, anyhow};

use crate::cli::{Cli, Command};
use crate::config::ConfigError;
use crate::datapath::pins::Pins;
use crate::os::log::{self, Event, Level};
use crate::os::privileges::{self, Capability};

/// Runs a command line and returns the exit code.
pub fn run(cli: &Cli) -> Result<u8> {
    let bpffs = cli.bpffs.as_deref();
    match &cli.command {
        Command::Sink(args) => sink::run(bpffs, args),
        Command::Source(command) => source::run(bpffs, command),
        Command::Collect(args) => collect::run(args),
        Command::Status(args) => status::run(bpffs, args),
        Command::History(args) => history::run(args),
    }
}

/// True if the user's input was wrong, and nothing was done.
pub fn is_usage(err: &anyhow::Error) -> bool {
    err.chain()
        .any(|cause| cause.is::<ConfigError>() || cause.is::<Usage>())
}

/// Root is not used to being refused: why it was.
pub fn hint(err: &anyhow::Error) -> Option<&'static str> {
    let refused = format!("{err:#}").contains("Permission denied");
    (refused && privileges::is_root_by_modes()).then_some(
        "daemons give up root's right to open any file: files and their folders must be open to root by their modes",
    )
}

/// A wrong command line that clap can't see.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Usage(String);

/// Adds what to try to an error of the operating system.
fn advise(err: io::Error) -> anyhow::Error {
    let advice = match err.kind() {
        io::ErrorKind::PermissionDenied => {
            return denied(err);
        }
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
            None if err.kind() == io::ErrorKind::NotADirectory => {
                return Usage(err.to_string()).into();
            }
            Some(nix::libc::ENODEV | nix::libc::ENXIO) => "no such interface (see ip link)",
            _ => return err.into(),
        },
    };
    anyhow!("{err}; {advice}")
}

/// The same of what is pinned, which takes no capability, but its owner.
fn advise_pins(err: io::Error) -> anyhow::Error {
    if err.kind() == io::ErrorKind::PermissionDenied {
        return anyhow!(
            "{err}; what is pinned is root's, or of the user who runs the daemon (try sudo)"
        );
    }
    advise(err)
}

/// Says which privileges lack.
fn denied(err: io::Error) -> anyhow::Error {
    match privileges::missing(&privileges::STEADY)
        .unwrap_or_default()
        .as_slice()
    {
        [] => advise_pins(err),
        missing => anyhow!("{err}; needs {} (try sudo)", missing.join(", ")),
    }
}

/// Before something is begun that takes privileges.
fn require_privileges() -> Result<()> {
    let missing = privileges::missing(&privileges::STEADY).context("cannot read capabilities")?;
    anyhow::ensure!(
        missing.is_empty(),
        "needs {} (try sudo)",
        missing.join(", ")
    );
    Ok(())
}

/// Keeps only these capabilities, for good.
fn give_up(kept: &[Capability]) -> Result<()> {
    privileges::keep_only(kept).context("cannot give up privileges")
}

/// Says that a command took a program off.
fn tell_detached(role: &str, dev: &str) {
    log::event(
        Level::Info,
        Event::Detached,
        &[("DEV", &dev), ("ROLE", &role)],
        format_args!("{role} detached from {dev}"),
    );
}

/// The pins of this host, made if need be.
fn make_pins(bpffs: Option<&Path>) -> Result<Pins> {
    require_privileges()?;
    Pins::of_this_host(bpffs, true)
        .map_err(advise)
        .context("cannot prepare the BPF file system")?
        .context("cannot find a BPF file system (try: mount -t bpf -o mode=700 bpf /sys/fs/bpf)")
}

/// The pins of this host, if there are any.
fn find_pins(bpffs: Option<&Path>) -> Result<Option<Pins>> {
    Pins::of_this_host(bpffs, false)
        .map_err(advise_pins)
        .context("cannot look for pins in the BPF file system")
}

/// Writes to standard output; a reader that has seen enough is no failure.
fn print(text: &str) -> Result<()> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(err) if err.kind() != io::ErrorKind::BrokenPipe => {
            Err(err).context("cannot write to standard output")
        }
        _ => Ok(()),
    }
}
