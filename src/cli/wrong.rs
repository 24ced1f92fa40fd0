//! Wrong command lines, explained in the form of hostint's other messages.

use std::error::Error;
use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::config::{number_problem, variables};

/// The process's arguments; `hostint version` means `hostint --version`.
pub fn arguments() -> Vec<OsString> {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    if let [_, command] = &mut arguments[..]
        && command == "version"
    {
        *command = "--version".into();
    }
    arguments
}

/// The process's arguments behind a subcommand, without this flag and its value.
pub fn words_behind(subcommand: &str, flag: &str) -> Vec<String> {
    let words = arguments().into_iter();
    let mut words = words
        .map(|word| word.to_string_lossy().into_owned())
        .skip_while(|word| word != subcommand)
        .skip(1);
    let mut behind = Vec::new();
    while let Some(word) = words.next() {
        match word.strip_prefix(flag) {
            Some("") => drop(words.next()),
            Some(value) if value.starts_with('=') => {}
            _ => behind.push(word),
        }
    }
    behind
}

/// What is wrong with a command line, in one line.
pub fn sentence(err: &clap::Error) -> String {
    let text = err.render().to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

/// The message of a wrong command line, in the form of hostint's other messages.
pub fn message(err: &clap::Error) -> String {
    let text = err.render().to_string();
    let mut text = match text.strip_prefix("error: ") {
        Some(rest) => format!("hostint: {rest}"),
        None => text,
    };
    if let Some(source) = err.source()
        && let Some(number) = source.downcast_ref()
    {
        text = text.replace(&source.to_string(), number_problem(number));
    }
    if is_of(err, "--node-id") {
        text += "A node id is a number (try --node-id 1); --node-name gives the host a name.\n";
    }
    if let Some(name) = variable_in(err) {
        text += &format!("The value comes from the environment variable {name}.\n");
    }
    text
}

/// True if the value of this flag was refused.
fn is_of(err: &clap::Error, flag: &str) -> bool {
    let arg = err.get(ContextKind::InvalidArg);
    err.kind() == ErrorKind::ValueValidation
        && matches!(arg, Some(ContextValue::String(arg)) if arg.starts_with(flag))
}

/// The environment variable that a refused value came from; `None` if a flag gave it.
fn variable_in(err: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(arg)) = err.get(ContextKind::InvalidArg) else {
        return None;
    };
    let end = arg.find([' ', '[', '=']).unwrap_or(arg.len());
    let flag = arg[..end].strip_prefix("--")?;
    let refused = match err.get(ContextKind::InvalidValue) {
        Some(ContextValue::String(value)) => value.as_str(),
        _ => "",
    };
    let says = |name: &String| {
        let value = std::env::var_os(name);
        value.is_some_and(|value| value.to_string_lossy().contains(refused))
    };
    let name = variables(flag).into_iter().find(says)?;
    let flag = |given: &OsString| given.to_string_lossy().starts_with(&arg[..end]);
    let given = std::env::args_os().any(|given| flag(&given));
    (!given).then_some(name)
}
