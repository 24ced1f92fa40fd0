//! `hostint sink --detach`: sources stop tagging, then the programs go.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::cli::exit;
use crate::commands::{advise, find_pins, tell_detached};
use crate::config::SinkOptions;
use crate::datapath::pins::Pins;
use crate::datapath::{grants, sink_links};
use crate::os::log;

pub fn detach(bpffs: Option<&Path>, options: &SinkOptions, now: bool) -> Result<u8> {
    let Some(pins) = find_pins(bpffs)? else {
        log::info("no sink on this host");
        return Ok(exit::NOTHING);
    };
    if !now {
        close(&pins, &options.dev).context("cannot end leases before detaching (try --now)")?;
    }
    let _changing = pins.change().context("cannot detach the sink")?;
    let detached = sink_links::detach(&pins, &options.dev)
        .map_err(advise)
        .context("cannot detach the sink")?;
    for dev in &detached {
        tell_detached("sink", dev);
    }
    if detached.is_empty() {
        log::info("no sink to detach");
        return Ok(exit::NOTHING);
    }
    Ok(exit::OK)
}

/// Detaches from these interfaces, after sources have stopped tagging.
pub fn leave(pins: &Pins, devs: &[String]) -> Result<()> {
    close(pins, devs).context("cannot end leases before detaching")?;
    let _changing = pins.change()?;
    for dev in sink_links::detach(pins, devs).map_err(advise)? {
        tell_detached("sink", &dev);
    }
    Ok(())
}

/// Has sources stop tagging while their packets are still stripped.
fn close(pins: &Pins, devs: &[String]) -> Result<()> {
    let attached = sink_links::attached_devs(pins)?;
    let concerned = attached
        .iter()
        .any(|(dev, _)| devs.is_empty() || devs.contains(dev));
    if !concerned || !grants::held(pins)?.in_use {
        return Ok(());
    }
    sink_links::set_closing(pins, true)?;
    log::info("waiting until sources have stopped tagging");
    std::thread::sleep(Duration::from_nanos(grants::LEASE_ENDS_NS));
    let last = attached
        .iter()
        .all(|(dev, _)| devs.is_empty() || devs.contains(dev));
    if !last {
        sink_links::set_closing(pins, false)?;
    }
    Ok(())
}
