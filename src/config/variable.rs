//! Environment variables of settings, and the commands that read them.

use std::env;
use std::ffi::OsStr;

use super::file::{COLLECT, SINK, SOURCE};
use super::settled::Settings;
use super::table::command_of;
use super::{CollectOptions, SinkOptions, SourceOptions};

/// The variable of a flag that all commands share.
pub fn variable(flag: &str) -> String {
    format!("HOSTINT_{}", flag.replace('-', "_").to_uppercase())
}

/// The variable of a flag for one command.
fn own_variable(table: &str, flag: &str) -> String {
    variable(&format!("{table}-{flag}"))
}

/// All variables that can set a flag.
pub fn variables(flag: &str) -> [String; 4] {
    let [sink, source, collect] = [SINK, SOURCE, COLLECT].map(|table| own_variable(table, flag));
    [sink, source, collect, variable(flag)]
}

/// Where a command's setting is read from: its own variable if that is set, else the one for all, unless only
/// another command can use what that says.
pub(super) fn variable_read<O: Settings>(flag: &str) -> String {
    let (own, shared) = (own_variable(O::TABLE, flag), variable(flag));
    let said = env::var_os(&shared);
    let said = said.as_deref().and_then(OsStr::to_str);
    if env::var_os(&own).is_some() || said.is_some_and(|value| is_for_others::<O>(flag, value)) {
        own
    } else {
        shared
    }
}

/// Whether a flag can have a value.
type Fits = fn(&str, &str) -> bool;

fn is_for_others<O: Settings>(flag: &str, value: &str) -> bool {
    let all: [(&str, Fits); 3] = [
        (SINK, fits::<SinkOptions>),
        (SOURCE, fits::<SourceOptions>),
        (COLLECT, fits::<CollectOptions>),
    ];
    let mut others = all.iter().filter(|(table, _)| *table != O::TABLE);
    !fits::<O>(flag, value) && others.any(|(_, fits)| fits(flag, value))
}

fn fits<O: Settings>(flag: &str, value: &str) -> bool {
    let read = command_of::<O>().try_get_matches_from([format!("--{flag}={value}")]);
    let Ok(options) = read.and_then(|matches| O::from_arg_matches(&matches)) else {
        return false;
    };
    let faults = options.check().err().unwrap_or_default();
    !faults
        .iter()
        .any(|fault| !fault.missing && fault.keys.contains(&flag))
}
