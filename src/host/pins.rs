//! The pins of this host's network namespace, found or made.

use std::io;
use std::path::Path;

use anyhow::{Context, Result, anyhow};

use super::advice::{advise, advise_pins, require, surroundings};
use crate::datapath::kernel::pins::Pins;
use crate::datapath::kernel::stale_pins;
use crate::os::{log, netns, privileges};

/// Makes the folder of pins if there is none, and removes those of network namespaces that are gone.
///
/// # Errors
/// Without the privileges that loading programs takes, or without a BPF file system.
pub fn make(bpffs: Option<&Path>) -> Result<Pins> {
    require(&privileges::STEADY)?;
    let pins = Pins::of_this_host(bpffs, true)
        .map_err(|err| match bpffs {
            None => advise_mount(err),
            Some(_) => advise(err),
        })
        .context("cannot prepare the BPF file system")?
        .context("cannot find a BPF file system (try: mount -t bpf -o mode=700 bpf /sys/fs/bpf)")?;
    remove_stale(&pins);
    Ok(pins)
}

/// Removes pins of network namespaces that are gone, where this process can see that they are.
fn remove_stale(pins: &Pins) {
    match stale_pins::remove(pins) {
        Ok(0) => {}
        Ok(count) => log::info(format_args!(
            "removed the pins of {count} network namespace{} gone",
            if count == 1 { " that is" } else { "s that are" },
        )),
        Err(err) => log::debug(|| {
            format!("pins stay that may be of network namespaces that are gone: {err}")
        }),
    }
}

/// Finds the folder of pins, if there is one.
pub fn find(bpffs: Option<&Path>) -> Result<Option<Pins>> {
    Pins::of_this_host(bpffs, false)
        .map_err(advise_pins)
        .context("cannot look for pins in the BPF file system")
}

/// The same for a daemon that is about to load programs.
///
/// # Errors
/// Without the privileges that this takes.
pub fn find_to_change(bpffs: Option<&Path>) -> Result<Option<Pins>> {
    require(&privileges::STEADY)?;
    find(bpffs)
}

/// A container can mount no BPF file system, and does not see its host's unless it is given that.
fn advise_mount(err: io::Error) -> anyhow::Error {
    match surroundings().show(netns::BPFFS) {
        Some(show) if !netns::is_bpffs(Path::new(netns::BPFFS)) => {
            anyhow!("this container does not see its host's (try {show})")
        }
        _ => advise(err),
    }
}
