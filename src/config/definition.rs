//! Settings as clap defines them: flags, which are also the keys of a table.

use clap::{Arg, Args, Command};

/// The settings that `O` consists of, as clap arguments.
pub fn settings_of<O: Args>() -> Vec<Arg> {
    let command = O::augment_args(Command::new(""));
    command
        .get_arguments()
        .filter(|arg| arg.get_long().is_some())
        .cloned()
        .collect()
}

/// The settings that `O` consists of, as a command of their own.
pub fn command_of<O: Args>() -> Command {
    let mut command = Command::new("")
        .no_binary_name(true)
        .disable_help_flag(true)
        .args(settings_of::<O>());
    command.build();
    command
}

/// The names of the keys.
pub fn names_of(command: &Command) -> impl Iterator<Item = &str> {
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
    shown.filter_map(Arg::get_long)
}
