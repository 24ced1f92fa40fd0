//! The subcommands, one file each: arguments become one call, its result is printed, and an exit code is returned.

mod check;
mod collect;
mod completions;
mod demo;
mod doctor;
mod doctor_hosts;
mod history;
mod off;
mod output;
mod postcards;
mod run;
mod sink;
mod source;
mod status;
mod tcp;
mod transit;
mod watch;

use anyhow::{Context, Result};

use crate::cli::{Cli, Command, SinkCommand, SourceCommand, TransitCommand};
pub use crate::host::advice::{hint, is_usage};
use crate::host::off as switch;
use crate::os::open_files;
pub use completions::answer_shell;

/// True for a command that runs until a signal ends it, and has handlers for signals then.
pub fn is_daemon(cli: &Cli) -> bool {
    match &cli.command {
        Command::Sink(args) => args.command.is_none(),
        Command::Source(args) => match &args.command {
            Some(SourceCommand::Attach(args)) => args.foreground,
            Some(_) => false,
            None => true,
        },
        Command::Transit(args) => args.command.is_none(),
        Command::Run(_) | Command::Postcards(_) | Command::Tcp(_) => true,
        Command::Collect(args) => args.read.is_none(),
        Command::Off { .. }
        | Command::On(_)
        | Command::Status(_)
        | Command::Doctor(_)
        | Command::Check(_)
        | Command::History(_)
        | Command::Demo(_)
        | Command::Completions { .. } => false,
    }
}

/// True for a command that leaves programs attached.
fn is_attach(cli: &Cli) -> bool {
    match &cli.command {
        Command::Sink(args) => matches!(args.command, Some(SinkCommand::Attach(_))),
        Command::Source(args) => matches!(args.command, Some(SourceCommand::Attach(_))),
        Command::Transit(args) => matches!(args.command, Some(TransitCommand::Attach(_))),
        _ => false,
    }
}

/// True for a command that does not begin while hostint is off: it would load kernel programs.
fn may_be_off(cli: &Cli) -> bool {
    let waits = matches!(cli.command, Command::Run(_) | Command::Collect(_));
    is_attach(cli) || is_daemon(cli) && !waits
}

/// Runs a command line and returns the exit code.
pub fn run(cli: &Cli) -> Result<u8> {
    if is_daemon(cli) || is_attach(cli) {
        open_files::require().context("cannot start")?;
    }
    if may_be_off(cli) {
        switch::refuse().context("cannot start")?;
    }
    let bpffs = cli.bpffs.as_deref();
    match &cli.command {
        Command::Run(args) => run::run(bpffs, args),
        Command::Off { now, fleet } => off::off(bpffs, *now, fleet),
        Command::On(fleet) => off::on(bpffs, fleet),
        Command::Sink(args) => sink::run(bpffs, args),
        Command::Source(args) => source::run(bpffs, args),
        Command::Transit(args) => transit::run(bpffs, args),
        Command::Postcards(args) => postcards::run(bpffs, args),
        Command::Tcp(args) => tcp::run(bpffs, args),
        Command::Collect(args) => collect::run(args),
        Command::Status(args) => status::run(bpffs, args),
        Command::Doctor(args) => doctor::run(bpffs, args),
        Command::Check(args) => check::run(bpffs, args),
        Command::History(args) => history::run(args),
        Command::Demo(args) => demo::run(args),
        Command::Completions { shell } => completions::run(shell),
    }
}
