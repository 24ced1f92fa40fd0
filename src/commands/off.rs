//! `hostint off` and `hostint on`: all that hostint does to packets of this host ends at once, and stays so.

use std::path::Path;

use anyhow::Result;

use crate::cli::exit;
use crate::host::{off, sink, source, transit};
use crate::os::log;

/// Takes everything off, each part although another one cannot be.
pub fn off(bpffs: Option<&Path>, now: bool) -> Result<u8> {
    let is_new = off::set();
    // Tagging ends first, while this host's sink still strips what others send.
    let parts = [
        source::detach(bpffs, &[]),
        transit::detach(bpffs, &[]),
        sink::detach(bpffs, &[], now),
    ];
    let mut failed = false;
    for err in parts.into_iter().filter_map(Result::err) {
        log::error(format_args!("{err:#}"));
        failed = true;
    }
    let is_new = is_new?;
    if failed {
        return Ok(exit::FAILURE);
    }
    log::info(match is_new {
        true => {
            "off: no packet of this host is changed, and no role starts, also after a reboot, until hostint on"
        }
        false => "it was off, and is",
    });
    Ok(exit::OK)
}

/// Lets roles start again.
pub fn on() -> Result<u8> {
    let was_off = off::end()?;
    log::info(match was_off {
        true => {
            "on: hostint run starts its roles within a second; roles of other commands are to be started by hand"
        }
        false => "it was on, and is",
    });
    Ok(exit::OK)
}
