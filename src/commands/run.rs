//! `hostint run`: all roles of this host.

use std::path::Path;

use anyhow::Result;

use crate::cli::{RunArgs, exit};
use crate::daemon::agent;

pub fn run(bpffs: Option<&Path>, args: &RunArgs) -> Result<u8> {
    agent::run(bpffs, args)?;
    Ok(exit::OK)
}
