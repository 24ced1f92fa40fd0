//! The catalogue of the config file's tables: the keys of each, by the definition of its flags.

use std::sync::LazyLock;

use clap::Command;

use super::collect::CollectOptions;
use super::definition::{command_of, names_of};
use super::limit::LimitOptions;
use super::postcards::PostcardsOptions;
use super::queue::QueueOptions;
use super::run::RunOptions;
use super::sink_options::SinkOptions;
use super::source::SourceOptions;
use super::table_name::{
    COLLECT, LIMITS, POSTCARDS, QUEUE, RUN, SINK, SOURCE, TCP, TRANSIT, WATCH, shown_table,
};
use super::tcp::TcpOptions;
use super::transit::TransitOptions;
use super::watch::WatchOptions;

/// The clap command that reads each table, with the flags as its definition. Cached, because it is expensive to build.
static READERS: LazyLock<[(&'static str, Command); 10]> = LazyLock::new(|| {
    [
        (RUN, command_of::<RunOptions>()),
        (SINK, command_of::<SinkOptions>()),
        (SOURCE, command_of::<SourceOptions>()),
        (TRANSIT, command_of::<TransitOptions>()),
        (POSTCARDS, command_of::<PostcardsOptions>()),
        (TCP, command_of::<TcpOptions>()),
        (COLLECT, command_of::<CollectOptions>()),
        (LIMITS, command_of::<LimitOptions>()),
        (QUEUE, command_of::<QueueOptions>()),
        (WATCH, command_of::<WatchOptions>()),
    ]
});

/// The clap command that reads this table.
pub fn command(table: &str) -> Option<Command> {
    let known = READERS.iter().find(|(name, _)| *name == table);
    known.map(|(_, command)| command.clone())
}

/// The keys of each table.
pub fn keys() -> Vec<(&'static str, Vec<String>)> {
    let keys = |command: &Command| names_of(command).map(str::to_owned).collect();
    let readers = READERS.iter();
    readers
        .map(|(table, command)| (*table, keys(command)))
        .collect()
}

/// The tables that have a key, for the hint where it was probably meant.
pub fn tables_with(key: &str) -> Option<String> {
    let with = READERS
        .iter()
        .filter(|(_, command)| names_of(command).any(|one| one == key));
    let names: Vec<String> = with.map(|(table, _)| shown_table(table)).collect();
    match &names[..] {
        [] => None,
        [only] => Some(only.clone()),
        [first @ .., last] => Some(format!("{} and {last}", first.join(", "))),
    }
}
