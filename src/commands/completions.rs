//! `hostint completions`: what a shell needs to complete hostint's command lines. `make install` calls it.

use anyhow::Result;
use clap::CommandFactory;
use clap_complete::Shell;

use super::output;
use crate::cli::{Cli, exit};

pub fn run(shell: Shell) -> Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "hostint", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(exit::OK)
}
