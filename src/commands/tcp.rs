//! `hostint tcp`: the daemon in the foreground.

use std::path::Path;

use anyhow::Result;

use crate::cli::{TcpArgs, exit};
use crate::daemon;

pub fn run(bpffs: Option<&Path>, args: &TcpArgs) -> Result<u8> {
    daemon::tcp::run(bpffs, args)?;
    Ok(exit::OK)
}
