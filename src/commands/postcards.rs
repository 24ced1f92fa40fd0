//! `hostint postcards`: the daemon in the foreground.

use std::path::Path;

use anyhow::Result;

use crate::cli::{PostcardsArgs, exit};
use crate::daemon;

pub fn run(bpffs: Option<&Path>, args: &PostcardsArgs) -> Result<u8> {
    daemon::postcards::run(bpffs, args)?;
    Ok(exit::OK)
}
