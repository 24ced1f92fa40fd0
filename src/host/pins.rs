//! The pins of this host's network namespace, found or made.

use std::path::Path;

use anyhow::{Context, Result};

use super::advice::{advise, advise_pins};
use crate::datapath::pins::Pins;
use crate::os::privileges;

/// Makes the folder of pins if there is none.
///
/// # Errors
/// Without the privileges that loading programs takes, or without a BPF file system.
pub fn make(bpffs: Option<&Path>) -> Result<Pins> {
    require_privileges()?;
    Pins::of_this_host(bpffs, true)
        .map_err(advise)
        .context("cannot prepare the BPF file system")?
        .context("cannot find a BPF file system (try: mount -t bpf -o mode=700 bpf /sys/fs/bpf)")
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
    require_privileges()?;
    find(bpffs)
}

fn require_privileges() -> Result<()> {
    let missing = privileges::missing(&privileges::STEADY).context("cannot read capabilities")?;
    anyhow::ensure!(
        missing.is_empty(),
        "needs {} (try sudo)",
        missing.join(", ")
    );
    Ok(())
}
