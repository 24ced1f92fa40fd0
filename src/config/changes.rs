//! Summaries of a config file: its settings in one line, and the differences to another version of it.

use std::collections::BTreeMap;

use super::file::File;
use super::table::TableEntry;
use super::table_name::{
    COLLECT, LIMITS, NAMES, POSTCARDS, QUEUE, RUN, SINK, SOURCE, TABLES, TCP, TRANSIT, WATCH,
};

/// The keys of [collect] that change while a collector runs.
const APPLIED_BY_COLLECTORS: [&str; 2] = ["drop-reasons", "name"];

impl File {
    /// Whether the file configures sources or their watchlist.
    pub fn is_about_sources(&self) -> bool {
        let mut tables = self.tables.keys();
        tables.any(|table| [SOURCE, WATCH].contains(table))
    }

    /// A one-line summary of the settings. Missing settings are left to flags.
    pub fn summary(&self) -> String {
        let on = |role: &str, devs: &[String]| match devs {
            [] => format!("{role} (no dev: left to flags)"),
            devs => format!("{role} on {}", devs.join(" and ")),
        };
        let mut parts = Vec::new();
        for table in TABLES
            .into_iter()
            .filter(|table| self.tables.contains_key(table))
        {
            parts.push(match table {
                RUN => RUN.to_owned(),
                SINK => on(SINK, &self.sink.options.dev),
                SOURCE => on(SOURCE, &self.source.options.dev),
                TRANSIT => on(TRANSIT, &self.transit.options.dev),
                POSTCARDS => POSTCARDS.to_owned(),
                TCP => TCP.to_owned(),
                COLLECT => match &self.collect.options.listen[..] {
                    [] => COLLECT.to_owned(),
                    listen => format!("{COLLECT} on {}", listen.join(" and ")),
                },
                NAMES => count_names(self.names.len()),
                LIMITS => count_limits(self.limits.len()),
                QUEUE => count_queues(self.queues.len()),
                _ => count_rules(self.rules.len()),
            });
        }
        if parts.is_empty() {
            parts.push("nothing is set".to_owned());
        }
        parts.join(", ")
    }

    /// The differences to another version of the file, by table. Keys of the first table that flags or environment
    /// variables override, `overridden`, are left out.
    pub fn changes(
        &self,
        before: &Self,
        tables: &[&str],
        overridden: impl Fn(&str) -> bool,
    ) -> Vec<String> {
        let mut found = Vec::new();
        for (i, name) in tables.iter().enumerate() {
            let mut keys = match *name {
                SINK => changed_keys(&self.sink.entries, &before.sink.entries),
                SOURCE => changed_keys(&self.source.entries, &before.source.entries),
                TRANSIT => changed_keys(&self.transit.entries, &before.transit.entries),
                POSTCARDS => changed_keys(&self.postcards.entries, &before.postcards.entries),
                TCP => changed_keys(&self.tcp.entries, &before.tcp.entries),
                COLLECT => {
                    let mut keys = changed_keys(&self.collect.entries, &before.collect.entries);
                    keys.retain(|key| APPLIED_BY_COLLECTORS.contains(key));
                    keys
                }
                _ => Vec::new(),
            };
            keys.retain(|key| i > 0 || !overridden(key));
            if !keys.is_empty() {
                found.push(format!("[{name}] {}", keys.join(", ")));
            }
            if *name == NAMES && self.names != before.names {
                found.push(format!("[names] {}", count_names(self.names.len())));
            }
            if *name == LIMITS && self.limits != before.limits {
                found.push(format!("[[limits]] {}", count_limits(self.limits.len())));
            }
            if *name == QUEUE && self.queues != before.queues {
                found.push(format!("[[queue]] {}", count_queues(self.queues.len())));
            }
            if *name == WATCH && self.rules != before.rules {
                found.push(format!("[[watch]] {}", count_rules(self.rules.len())));
            }
        }
        found
    }
}

fn count_rules(rules: usize) -> String {
    format!("{rules} rule{}", if rules == 1 { "" } else { "s" })
}

fn count_queues(queues: usize) -> String {
    format!("{queues} queue{}", if queues == 1 { "" } else { "s" })
}

fn count_limits(limits: usize) -> String {
    format!("{limits} limit{}", if limits == 1 { "" } else { "s" })
}

fn count_names(names: usize) -> String {
    format!("{names} name{}", if names == 1 { "" } else { "s" })
}

fn changed_keys<'a>(
    now: &'a BTreeMap<String, TableEntry>,
    before: &'a BTreeMap<String, TableEntry>,
) -> Vec<&'a str> {
    let text =
        |of: &'a BTreeMap<String, TableEntry>, key: &str| of.get(key).map(|entry| &entry.text);
    let mut keys: Vec<&str> = now
        .keys()
        .chain(before.keys())
        .map(String::as_str)
        .filter(|key| text(now, key) != text(before, key))
        .collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}
