//! Which options a page of the manual shows: each is said once, and other pages refer to that one.

use clap::{Arg, Command};

/// Options that every command has.
const COMMON: [&str; 5] = ["bpffs", "help", "version", "log_level", "verbose"];

/// Options that every command has are in hostint(8) only.
pub fn without_common(command: Command) -> Command {
    command.mut_args(|arg| {
        let hidden = arg.is_hide_set();
        arg.clone()
            .hide(hidden || COMMON.contains(&arg.get_id().as_str()))
    })
}

/// The command without the options of the one above it, and whether there were any.
pub fn without_options_of(above: &Command, command: Command) -> (Command, bool) {
    let shared: Vec<String> = above
        .get_arguments()
        .filter(|arg| !arg.is_hide_set())
        .map(|arg| arg.get_id().to_string())
        .collect();
    let repeats = command
        .get_arguments()
        .filter(|arg| shared.contains(&arg.get_id().to_string()))
        .count();
    let is_form_of_it = !shared.is_empty() && repeats == shared.len();
    let command = command.mut_args(|arg| {
        let hidden = arg.is_hide_set();
        let repeated = is_form_of_it && shared.contains(&arg.get_id().to_string());
        arg.hide(hidden || repeated)
    });
    (command, is_form_of_it)
}

/// The options, by name and help, that all commands below this one have: they are shown once.
pub fn options_of_all_below(command: &Command) -> Vec<String> {
    let shown = |sub: &Command| -> Vec<(String, String)> {
        let args = sub.get_arguments().filter(|arg| !arg.is_hide_set());
        args.map(|arg| {
            let help = arg.get_help().map(ToString::to_string);
            (arg.get_id().to_string(), help.unwrap_or_default())
        })
        .collect()
    };
    let below: Vec<_> = command
        .get_subcommands()
        .filter(|sub| sub.get_name() != "help")
        .map(|sub| shown(&without_common(sub.clone())))
        .collect();
    let first = below.first().cloned().unwrap_or_default();
    first
        .into_iter()
        .filter(|arg| below.iter().all(|args| args.contains(arg)))
        .map(|(id, _)| id)
        .collect()
}

pub fn without(ids: &[String], command: Command) -> Command {
    command.mut_args(|arg| {
        let hidden = arg.is_hide_set() || ids.contains(&arg.get_id().to_string());
        arg.hide(hidden)
    })
}

pub fn only(ids: &[String], command: Command) -> Command {
    command.mut_args(|arg| {
        let hidden = arg.is_hide_set() || !ids.contains(&arg.get_id().to_string());
        arg.hide(hidden)
    })
}

/// Essential options are on each page.
const ESSENTIALS: &str = "Essentials";

/// The options of a command that the page of another one has in the same words.
pub fn said_in(other: &Command, command: &Command) -> Vec<String> {
    let words = |arg: &Arg| {
        let help = arg.get_help().map(ToString::to_string);
        (
            arg.get_id().clone(),
            help,
            arg.get_default_values().to_vec(),
        )
    };
    let is_essential = |arg: &&Arg| arg.get_help_heading() == Some(ESSENTIALS);
    let there: Vec<_> = other
        .get_arguments()
        .filter(|arg| !is_essential(arg))
        .map(words)
        .collect();
    command
        .get_arguments()
        .filter(|arg| !arg.is_hide_set() && !is_essential(arg) && there.contains(&words(arg)))
        .map(|arg| arg.get_id().to_string())
        .collect()
}
