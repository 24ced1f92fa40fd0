//! `hostint sink`: the daemon in the foreground, and the sink attached or detached without it.

use std::path::Path;

use anyhow::Result;

use super::output::found_to_detach;
use crate::cli::{SinkArgs, exit};
use crate::daemon;
use crate::host::sink::detach;

pub fn run(bpffs: Option<&Path>, args: &SinkArgs) -> Result<u8> {
    if args.detach {
        let detached = detach(bpffs, &args.settings.options.dev, args.now)?;
        return Ok(found_to_detach("sink", &detached));
    }
    daemon::sink::run(bpffs, args)?;
    Ok(exit::OK)
}
