//! `hostint tcp`: the daemon in the foreground.

use anyhow::Result;

use crate::cli::{TcpArgs, exit};
use crate::daemon;

pub fn run(args: &TcpArgs) -> Result<u8> {
    daemon::tcp::run(args)?;
    Ok(exit::OK)
}
