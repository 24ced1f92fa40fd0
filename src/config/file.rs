//! The config file: tables of four kinds, read whole, with all mistakes and their lines.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use clap::{Args, Command};
use toml::Spanned;
use toml::de::{DeString, DeValue};

use super::lines::Lines;
use super::mistake::{ConfigError, Fault, Mistake, shown_table};
use super::settled::Settings;
use super::syntax;
use super::table::{Entry, Reader, Table, command_of, names_of, nearest, plain};
use super::value::kind_of;
use super::{CollectOptions, SinkOptions, SourceOptions, WatchOptions};
use crate::model::{PlainError, WatchRule};

/// The names of the tables.
pub const SINK: &str = "sink";
pub const SOURCE: &str = "source";
pub const COLLECT: &str = "collect";
pub const WATCH: &str = "watch";
const TABLES: [&str; 4] = [SINK, SOURCE, COLLECT, WATCH];

/// The number of rules that a source has room for.
pub const MAX_RULES: usize = 16_384;

/// The longest file that is read, far longer than any real one: a device might never end.
const LONGEST: u64 = 16 << 20;

const EMPTY_RULE: &str = "a rule without keys would watch every packet (try to = \"10.0.0.0/8\")";

/// A parsed config file.
#[derive(Clone, Debug)]
pub struct File {
    pub path: PathBuf,
    pub sink: Table<SinkOptions>,
    pub source: Table<SourceOptions>,
    pub collect: Table<CollectOptions>,
    pub rules: Vec<WatchRule>,
    /// The tables that the file has.
    pub tables: Vec<&'static str>,
}

/// The clap command that reads each table, with the flags as its definition. Cached, because it is expensive to build.
static READERS: LazyLock<[(&'static str, Command); 4]> = LazyLock::new(|| {
    [
        (SINK, command_of::<SinkOptions>()),
        (SOURCE, command_of::<SourceOptions>()),
        (COLLECT, command_of::<CollectOptions>()),
        (WATCH, command_of::<WatchOptions>()),
    ]
});

/// The keys of each table.
pub fn keys() -> Vec<(&'static str, Vec<String>)> {
    let keys = |command: &Command| names_of(command).map(str::to_owned).collect();
    let readers = READERS.iter();
    readers
        .map(|(table, command)| (*table, keys(command)))
        .collect()
}

fn reader<O: Settings>() -> Reader<O> {
    reader_of(O::TABLE)
}

fn reader_of<O: Args + Default>(table: &'static str) -> Reader<O> {
    let known = READERS.iter().find(|(name, _)| *name == table);
    let command = known.map_or_else(command_of::<O>, |(_, command)| command.clone());
    Reader::new(table, command)
}

/// The tables that have a key, for the hint where it was probably meant.
pub(super) fn tables_with(key: &str) -> Option<String> {
    let with = READERS
        .iter()
        .filter(|(_, command)| names_of(command).any(|one| one == key));
    let names: Vec<String> = with.map(|(table, _)| shown_table(table)).collect();
    (!names.is_empty()).then(|| names.join(" and "))
}

impl File {
    /// Reads the tables as far as they are right, and the mistakes in single values.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read(path: &Path) -> Result<(Self, Vec<Mistake>), ConfigError> {
        let bytes = read_bytes(path).map_err(|why| {
            ConfigError::one(format!("cannot read config {}: {why}", path.display()))
        })?;
        Ok(Self::parse(path, &bytes))
    }

    fn empty(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            sink: Table::empty(SINK),
            source: Table::empty(SOURCE),
            collect: Table::empty(COLLECT),
            rules: Vec::new(),
            tables: Vec::new(),
        }
    }

    /// Parses the bytes of a file, like [`Self::read`].
    pub fn parse(path: &Path, bytes: &[u8]) -> (Self, Vec<Mistake>) {
        let mut file = Self::empty(path);
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(err) => {
                let before = bytes.get(..err.valid_up_to()).unwrap_or_default();
                let mistake = Mistake {
                    file: Some(path.display().to_string()),
                    line: Some(before.iter().filter(|byte| **byte == b'\n').count() + 1),
                    message: "the file is not UTF-8 text (expected TOML)".to_owned(),
                    ..Mistake::default()
                };
                return (file, vec![mistake]);
            }
        };
        let lines = Lines::new(text);
        let mut mistakes = Vec::new();
        let ((), mut syntax) = syntax::parse(text, &lines, |root, wrong| {
            let mut root: Vec<_> = root.get_ref().iter().collect();
            root.sort_by_key(|(name, _)| TABLES.iter().position(|table| table == name.get_ref()));
            for (name, value) in root {
                file.take_table(name, value, &lines, &mut mistakes);
            }
            // A rule that only looks empty because its lines are wrong is not reported as empty.
            mistakes.retain(|one: &Mistake| one.message != EMPTY_RULE || wrong.is_empty());
        });
        mistakes.append(&mut syntax);
        for mistake in &mut mistakes {
            mistake.file = Some(path.display().to_string());
        }
        (file, mistakes)
    }

    fn take_table(
        &mut self,
        name: &Spanned<DeString<'_>>,
        value: &Spanned<DeValue<'_>>,
        lines: &Lines<'_>,
        mistakes: &mut Vec<Mistake>,
    ) {
        let line = lines.of(name.span().start);
        let mut refuse = |key: Option<&str>, message: String| {
            mistakes.push(Mistake {
                line: Some(line),
                key: key.map(str::to_owned),
                message,
                ..Mistake::default()
            });
        };
        let known = TABLES.into_iter().find(|table| table == name.get_ref());
        match (known, value.get_ref()) {
            (Some(WATCH), DeValue::Array(rules)) => self.take_rules(rules, lines, mistakes),
            (Some(WATCH), other) => refuse(
                Some("watch"),
                format!("{} (expected [[watch]] above each rule)", kind_of(other)),
            ),
            (Some(table), DeValue::Table(keys)) => {
                self.tables.push(table);
                match table {
                    SINK => self.sink = reader().read(keys, lines, mistakes),
                    SOURCE => self.source = reader().read(keys, lines, mistakes),
                    _ => self.collect = reader().read(keys, lines, mistakes),
                }
            }
            (Some(table), other) => refuse(
                Some(table),
                format!("{} (expected one table [{table}])", kind_of(other)),
            ),
            (None, value) => {
                let shown = plain(name.get_ref());
                let hint = match (
                    nearest(name.get_ref(), TABLES.into_iter()),
                    tables_with(name.get_ref()),
                ) {
                    (Some(near), _) => format!("did you mean {}?", shown_table(near)),
                    (None, Some(tables)) => format!("it belongs to {tables}"),
                    (None, None) => "expected [sink], [source], [collect] or [[watch]]".to_owned(),
                };
                match value {
                    DeValue::Table(_) => refuse(None, format!("[{shown}]: unknown table ({hint})")),
                    _ => refuse(
                        Some(&shown),
                        format!("unknown key outside of tables ({hint})"),
                    ),
                }
            }
        }
    }

    fn take_rules(
        &mut self,
        rules: &[Spanned<DeValue<'_>>],
        lines: &Lines<'_>,
        mistakes: &mut Vec<Mistake>,
    ) {
        self.tables.push(WATCH);
        let refuse = |rule: &Spanned<DeValue<'_>>, message: String| Mistake {
            line: Some(lines.of(rule.span().start)),
            table: Some(WATCH.to_owned()),
            message,
            ..Mistake::default()
        };
        let mut reader = reader_of::<WatchOptions>(WATCH);
        for rule in rules {
            let DeValue::Table(keys) = rule.get_ref() else {
                mistakes.push(refuse(
                    rule,
                    format!(
                        "{} (expected [[watch]] above each rule)",
                        kind_of(rule.get_ref())
                    ),
                ));
                continue;
            };
            if keys.is_empty() {
                mistakes.push(refuse(rule, EMPTY_RULE.to_owned()));
                continue;
            }
            let table = reader.read(keys, lines, mistakes);
            match table.options.clone().check() {
                Ok(rule) => self.rules.push(rule),
                Err(faults) => mistakes.extend(table.locate(None, |_| None, faults)),
            }
        }
        if let Some(first) = rules.get(MAX_RULES) {
            mistakes.push(refuse(
                first,
                format!("{} rules: {MAX_RULES} are possible", rules.len()),
            ));
        }
    }

    /// Mistakes within one table. Settings that are missing may still be given by flags.
    pub fn check_table<O: Settings>(&self) -> Vec<Mistake> {
        self.check_as_far::<O>(|_| true)
    }

    /// The same for a table of another command, whose secret files this command may be unable to read.
    pub fn check_others_table<O: Settings>(&self) -> Vec<Mistake> {
        self.check_as_far::<O>(|fault| !fault.secret)
    }

    fn check_as_far<O: Settings>(&self, counts: impl Fn(&Fault) -> bool) -> Vec<Mistake> {
        let table = O::table(self);
        let Err(mut faults) = table.options.clone().check() else {
            return Vec::new();
        };
        faults.retain(|fault| !fault.missing && counts(fault));
        table.locate(Some(&self.path.display().to_string()), |_| None, faults)
    }

    /// Mistakes between tables.
    pub fn check_together(&self) -> Vec<Mistake> {
        let (Some(sink), Some(source)) = (self.sink.options.node_id, self.source.options.node_id)
        else {
            return Vec::new();
        };
        let entry = self.source.entries.get("node-id");
        if sink == source {
            return Vec::new();
        }
        vec![Mistake {
            file: Some(self.path.display().to_string()),
            line: entry.map(|entry| entry.line),
            table: Some(SOURCE.to_owned()),
            key: Some("node-id".to_owned()),
            message: format!(
                "{source} differs from the sink's node id {sink}, but a host has one node id (try to leave it out here)"
            ),
            ..Mistake::default()
        }]
    }

    /// Reads a file that has no mistakes.
    ///
    /// # Errors
    /// All mistakes, in the order of their lines.
    pub fn check(path: &Path) -> Result<Self, ConfigError> {
        let (file, mut mistakes) = Self::read(path)?;
        file.check_tables(&mut mistakes);
        if mistakes.is_empty() {
            Ok(file)
        } else {
            Err(ConfigError(mistakes))
        }
    }

    /// Adds the mistakes within and between tables, and sorts all of them by line.
    pub fn check_tables(&self, mistakes: &mut Vec<Mistake>) {
        mistakes.extend(self.check_table::<SinkOptions>());
        mistakes.extend(self.check_table::<SourceOptions>());
        mistakes.extend(self.check_table::<CollectOptions>());
        mistakes.extend(self.check_together());
        in_order(mistakes);
    }

    /// Whether the file configures sources or their watchlist.
    pub fn is_about_sources(&self) -> bool {
        let mut tables = self.tables.iter();
        tables.any(|table| [SOURCE, WATCH].contains(table))
    }

    /// A one-line summary of the settings. Missing settings are left to flags.
    pub fn summary(&self) -> String {
        let on = |role: &str, devs: &[String]| match devs {
            [] => format!("{role} (no dev: left to flags)"),
            devs => format!("{role} on {}", devs.join(" and ")),
        };
        let mut parts = Vec::new();
        for table in &self.tables {
            parts.push(match *table {
                SINK => on(SINK, &self.sink.options.dev),
                SOURCE => on(SOURCE, &self.source.options.dev),
                COLLECT => match &self.collect.options.listen[..] {
                    [] => COLLECT.to_owned(),
                    listen => format!("{COLLECT} on {}", listen.join(" and ")),
                },
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
                _ => Vec::new(),
            };
            keys.retain(|key| i > 0 || !overridden(key));
            if !keys.is_empty() {
                found.push(format!("[{name}] {}", keys.join(", ")));
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

fn changed_keys<'a>(
    now: &'a BTreeMap<String, Entry>,
    before: &'a BTreeMap<String, Entry>,
) -> Vec<&'a str> {
    let text = |of: &'a BTreeMap<String, Entry>, key: &str| of.get(key).map(|entry| &entry.text);
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

/// Sorts mistakes by line; those without a line come last.
pub(super) fn in_order(mistakes: &mut Vec<Mistake>) {
    mistakes.sort_by_key(|mistake| (mistake.line.is_none(), mistake.line, mistake.column));
    mistakes.dedup();
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut file = fs::File::open(path).map_err(|err| PlainError(&err).to_string())?;
    Read::take(&mut file, LONGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(|err| PlainError(&err).to_string())?;
    if bytes.len() as u64 > LONGEST {
        return Err(format!("it is longer than {} MiB", LONGEST >> 20));
    }
    Ok(bytes)
}
