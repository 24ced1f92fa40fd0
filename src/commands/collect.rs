//! `hostint collect`: receives reports, or reads a file of them.

use anyhow::Result;

use crate::cli::{CollectArgs, exit};
use crate::daemon;

pub fn run(args: &CollectArgs) -> Result<u8> {
    daemon::collect::run(args)?;
    Ok(exit::OK)
}
