//! `hostint transit`: attaches and detaches the transit hop, or looks after it in the foreground.

use std::path::Path;

use anyhow::Result;

use super::output::found_to_detach;
use crate::cli::{TransitArgs, TransitCommand, exit};
use crate::daemon;
use crate::host::transit::detach;

pub fn run(bpffs: Option<&Path>, args: &TransitArgs) -> Result<u8> {
    match &args.command {
        None => daemon::transit::run(bpffs, &args.serve)?,
        Some(TransitCommand::Attach(args)) => daemon::transit::attach(bpffs, args)?,
        Some(TransitCommand::Detach { dev }) => {
            return Ok(found_to_detach("transit hop", &detach(bpffs, dev)?));
        }
    }
    Ok(exit::OK)
}
