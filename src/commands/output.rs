//! The output of commands: standard output, and exit codes that several commands share.

use std::io::{self, Write};

use anyhow::{Context, Result};

use crate::cli::exit;
use crate::os::log;

/// Writes to standard output. It is no failure if the reader has read enough.
pub fn print(text: &str) -> Result<()> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(err) if err.kind() != io::ErrorKind::BrokenPipe => {
            Err(err).context("cannot write to standard output")
        }
        _ => Ok(()),
    }
}

/// The exit code of a command that detached a role from these interfaces.
pub fn found_to_detach(role: &str, detached: &[String]) -> u8 {
    if detached.is_empty() {
        log::info(format_args!("no {role} to detach"));
        return exit::NOTHING;
    }
    exit::OK
}
