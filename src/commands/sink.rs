//! `hostint sink`: the daemon in the foreground, and the sink attached or detached without it.

use std::path::Path;

use anyhow::Result;

use super::output::found_to_detach;
use crate::cli::{SinkArgs, SinkCommand, exit};
use crate::daemon;
use crate::host::sink::detach;

pub fn run(bpffs: Option<&Path>, args: &SinkArgs) -> Result<u8> {
    let (devs, now) = match &args.command {
        Some(SinkCommand::Attach(serve)) => {
            daemon::sink::attach(bpffs, serve)?;
            return Ok(exit::OK);
        }
        Some(SinkCommand::Detach { dev, now }) => (dev, *now),
        None => {
            daemon::sink::run(bpffs, &args.serve)?;
            return Ok(exit::OK);
        }
    };
    Ok(found_to_detach("sink", &detach(bpffs, devs, now)?))
}
