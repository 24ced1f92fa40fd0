//! Environment variables of settings, and the commands that read them.

use std::env;

use clap::ValueEnum;

use super::choice::HookChoice;
use super::duration::TimeSpan;
use super::size::Size;
use super::source::SHORTEST_IDLE;
use super::source_encapsulation::SourceEncapsulation;
use super::source_hook::SourceHook;
use super::table_name::{COLLECT, POSTCARDS, SINK, SOURCE, TCP, TRANSIT};
use crate::model::{CpuBudget, Encapsulation, QueueRule};

/// The variable of a flag that all commands share.
pub fn variable(flag: &str) -> String {
    format!("HOSTINT_{}", flag.replace('-', "_").to_uppercase())
}

/// The variable of a flag for one command.
fn own_variable(table: &str, flag: &str) -> String {
    variable(&format!("{table}-{flag}"))
}

/// The budget that the environment gives the host's source, to a daemon that holds it without being a source's.
pub fn budget_of_environment() -> Option<CpuBudget> {
    let names = [own_variable(SOURCE, "budget"), variable("budget")];
    let set = names.iter().find_map(|name| env::var(name).ok())?;
    set.parse().ok()
}

/// All variables that can set a flag.
pub fn variables(flag: &str) -> [String; 7] {
    let [sink, source, transit, postcards, tcp, collect] =
        [SINK, SOURCE, TRANSIT, POSTCARDS, TCP, COLLECT].map(|table| own_variable(table, flag));
    [
        sink,
        source,
        transit,
        postcards,
        tcp,
        collect,
        variable(flag),
    ]
}

/// The variable that sets a command's flag: its own if it is set, or else the shared one. A shared value that only
/// another command takes is left to that command.
pub(super) fn variable_read(table: &str, flag: &str) -> String {
    let (own, shared) = (own_variable(table, flag), variable(flag));
    let value = env::var(&shared).unwrap_or_default();
    if env::var_os(&own).is_some() || is_for_another(table, flag, &value) {
        own
    } else {
        shared
    }
}

fn is_for_another(table: &str, flag: &str, value: &str) -> bool {
    let others = match flag {
        "queue" => [POSTCARDS, COLLECT],
        _ => [SINK, SOURCE],
    };
    !takes(table, flag, value) && others.iter().any(|other| takes(other, flag, value))
}

/// Whether a command's flag takes a value. Only these flags take other values at one command than at another.
fn takes(table: &str, flag: &str, value: &str) -> bool {
    let encapsulation = |text: &str| text.parse::<Encapsulation>().is_ok();
    match (flag, table) {
        ("hook", SINK) => HookChoice::from_str(value, false).is_ok(),
        ("hook", SOURCE) => SourceHook::from_str(value, false).is_ok(),
        ("queue", POSTCARDS) => value.split(' ').all(|one| one.parse::<QueueRule>().is_ok()),
        ("queue", COLLECT) => value.parse::<Size>().is_ok(),
        ("encap", SINK) => value.split(',').all(encapsulation),
        ("encap", SOURCE) => value.parse::<SourceEncapsulation>().is_ok(),
        ("idle-flow-timeout", SINK) => value.parse::<TimeSpan>().is_ok(),
        ("idle-flow-timeout", SOURCE) => value
            .parse::<TimeSpan>()
            .is_ok_and(|span| span.0 >= SHORTEST_IDLE),
        _ => true,
    }
}
