//! The subcommands, one file each: arguments become one call, its result is printed, and an exit code is returned.

mod check_config;
mod collect;
mod demo;
mod history;
mod output;
mod postcards;
mod sink;
mod source;
mod status;
mod tcp;
mod transit;
mod watch;

use anyhow::Result;

use crate::cli::{Cli, Command};
pub use crate::host::advice::{hint, is_usage};

/// Runs a command line and returns the exit code.
pub fn run(cli: &Cli) -> Result<u8> {
    let bpffs = cli.bpffs.as_deref();
    match &cli.command {
        Command::Sink(args) => sink::run(bpffs, args),
        Command::Source(args) => source::run(bpffs, args),
        Command::Transit(args) => transit::run(bpffs, args),
        Command::Postcards(args) => postcards::run(bpffs, args),
        Command::Tcp(args) => tcp::run(bpffs, args),
        Command::Collect(args) => collect::run(args),
        Command::Status(args) => status::run(bpffs, args),
        Command::History(args) => history::run(args),
        Command::Demo(args) => demo::run(args),
    }
}
