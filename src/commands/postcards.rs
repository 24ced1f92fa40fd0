//! `hostint postcards`: the daemon in the foreground.

use anyhow::Result;

use crate::cli::{PostcardsArgs, exit};
use crate::daemon;

pub fn run(args: &PostcardsArgs) -> Result<u8> {
    daemon::postcards::run(args)?;
    Ok(exit::OK)
}
