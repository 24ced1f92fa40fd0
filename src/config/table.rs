//! A table of the config file, read by the definition of the flags that its keys stand for.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Args, Command};
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::catalogue::tables_with;
use super::definition::names_of;
use super::lines::LineIndex;
use super::mistake::{Fault, Mistake};
use super::number::number_problem;
use super::origin::Origin;
use super::value::{Word, either, shown, words};

/// A key of the file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TableEntry {
    pub line: usize,
    /// The lines of a list's values.
    items: Vec<usize>,
    /// The value as text, by which a change is recognised.
    pub text: String,
    /// The value was refused.
    refused: bool,
}

impl TableEntry {
    /// The line of a value, which in a list may be another one than that of the key.
    pub fn line_of(&self, item: usize) -> usize {
        self.items.get(item).copied().unwrap_or(self.line)
    }
}

/// The settings of one table, and their places in the file.
#[derive(Clone, Debug)]
pub struct SettingsTable<O> {
    pub name: &'static str,
    pub options: O,
    pub entries: BTreeMap<String, TableEntry>,
}

/// A reader for tables of one kind.
pub struct TableReader<O> {
    name: &'static str,
    command: Command,
    options: PhantomData<O>,
}

impl<O: Args + Default> TableReader<O> {
    pub fn new(name: &'static str, command: Command) -> Self {
        Self {
            name,
            command,
            options: PhantomData,
        }
    }

    pub fn read(
        &mut self,
        table: &DeTable<'_>,
        lines: &LineIndex<'_>,
        mistakes: &mut Vec<Mistake>,
    ) -> SettingsTable<O> {
        let mut found = SettingsTable::empty(self.name);
        let mut good: Vec<(String, Vec<Word>)> = Vec::new();
        for (key, value) in table {
            let mut keys = self.command.get_arguments();
            let known = |arg: &&Arg| arg.get_long() == Some(key.get_ref()) && !arg.is_hide_set();
            match keys.find(known) {
                Some(arg) => {
                    let (entry, words) = self.take(arg, key, value, lines, mistakes);
                    if !entry.refused {
                        good.push((key.get_ref().to_string(), words));
                    }
                    found.entries.insert(key.get_ref().to_string(), entry);
                }
                None => mistakes.push(self.unknown(key, lines)),
            }
        }
        if let Some(options) = self.parse(&good) {
            found.options = options;
            return found;
        }
        // A value was refused: each is tried alone, so that all mistakes are found.
        good.retain(|(key, words)| {
            let before = mistakes.len();
            for word in words {
                if let Err(err) = self
                    .command
                    .try_get_matches_from_mut([flag(key, &word.text)])
                {
                    let line = lines.of(word.span.start);
                    mistakes.push(self.mistake(line, key, refusal(&err, &word.text)));
                }
            }
            if mistakes.len() > before
                && let Some(entry) = found.entries.get_mut(key)
            {
                entry.refused = true;
            }
            mistakes.len() == before
        });
        found.options = self.parse(&good).unwrap_or_default();
        found
    }

    fn parse(&mut self, given: &[(String, Vec<Word>)]) -> Option<O> {
        let flags = given
            .iter()
            .flat_map(|(key, words)| words.iter().map(|word| flag(key, &word.text)));
        let matches = self.command.try_get_matches_from_mut(flags).ok()?;
        O::from_arg_matches(&matches).ok()
    }

    fn take(
        &self,
        arg: &Arg,
        key: &Spanned<DeString<'_>>,
        value: &Spanned<DeValue<'_>>,
        lines: &LineIndex<'_>,
        mistakes: &mut Vec<Mistake>,
    ) -> (TableEntry, Vec<Word>) {
        let (words, misfits) = words(arg, value);
        let entry = TableEntry {
            line: lines.of(key.span().start),
            items: words.iter().map(|word| lines.of(word.span.start)).collect(),
            text: shown(value.get_ref()),
            refused: !misfits.is_empty(),
        };
        mistakes.extend(misfits.into_iter().map(|misfit| {
            self.mistake(lines.of(misfit.span.start), key.get_ref(), misfit.message)
        }));
        (entry, words)
    }

    fn mistake(&self, line: usize, key: &str, message: String) -> Mistake {
        Mistake {
            line: Some(line),
            table: Some(self.name.to_owned()),
            key: Some(plain(key)),
            message,
            ..Mistake::default()
        }
    }

    fn unknown(&self, key: &Spanned<DeString<'_>>, lines: &LineIndex<'_>) -> Mistake {
        let name = key.get_ref();
        let hint = match nearest(name, names_of(&self.command)) {
            Some(near) => format!("did you mean {near}?"),
            None => tables_with(name).map_or_else(
                || "see hostint.toml(5)".to_owned(),
                |tables| format!("it belongs to {tables}"),
            ),
        };
        self.mistake(
            lines.of(key.span().start),
            name,
            format!("unknown key ({hint})"),
        )
    }
}

fn flag(key: &str, word: &str) -> String {
    format!("--{key}={word}")
}

/// A key as one line of text; it may hold any characters.
pub fn plain(key: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !key.is_empty() && key.chars().all(bare) {
        key.to_owned()
    } else {
        format!("{key:?}")
    }
}

/// The known name that is most like this one.
pub fn nearest<'a>(name: &str, of: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    const LIKE: f64 = 0.8;
    let name = name.replace('_', "-").to_lowercase();
    of.map(|candidate| (strsim::jaro(&name, candidate), candidate))
        .filter(|(likeness, _)| *likeness > LIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// Why a flag refuses a word, in one line.
fn refusal(err: &clap::Error, word: &str) -> String {
    let shown = shortened(word);
    if err.kind() == ErrorKind::InvalidValue
        && let Some(ContextValue::Strings(possible)) = err.get(ContextKind::ValidValue)
    {
        let near = nearest(word, possible.iter().map(String::as_str));
        let hint = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
        return format!(
            "unknown value {shown} (expected {}{hint})",
            either(possible)
        );
    }
    let source = std::error::Error::source(err);
    if let Some(error) = source.and_then(|source| source.downcast_ref()) {
        return format!("cannot use {shown}: {}", number_problem(error));
    }
    let why = source.map_or_else(|| err.kind().to_string(), ToString::to_string);
    let why = why.replace(['\n', '\r'], " ");
    match why
        .split_once(" is not in ")
        .and_then(|(_, range)| range.split_once("..="))
    {
        Some((first, last)) => format!("{word} is out of range (expected {first} to {last})"),
        None => format!("cannot use {shown}: {why}"),
    }
}

/// A value as messages quote it.
pub fn shortened(text: &str) -> String {
    const LONGEST: usize = 60;
    if text.chars().count() <= LONGEST {
        return format!("{text:?}");
    }
    let start: String = text.chars().take(LONGEST).collect();
    format!("{start:?}...")
}

impl<O: Args + Default> SettingsTable<O> {
    /// A table that the file does not have.
    pub fn empty(name: &'static str) -> Self {
        Self {
            name,
            options: O::default(),
            entries: BTreeMap::new(),
        }
    }

    /// True if all keys have the same values in both tables.
    pub fn same_values(&self, other: &Self) -> bool {
        let texts = |of: &Self| -> Vec<(String, String)> {
            let entries = of.entries.iter();
            entries
                .map(|(key, entry)| (key.clone(), entry.text.clone()))
                .collect()
        };
        texts(self) == texts(other)
    }

    /// A mistake about a key, with its place in the file at `path`.
    pub fn mistake_at(&self, path: &Path, key: &str, message: String) -> Mistake {
        let entry = self.entries.get(key);
        Mistake {
            file: Some(path.display().to_string()),
            line: entry.map(|entry| entry.line),
            column: None,
            table: Some(self.name.to_owned()),
            key: Some(key.to_owned()),
            message,
        }
    }

    /// Adds the place of each fault, and drops faults that follow from a mistake already reported.
    pub fn locate(
        &self,
        path: Option<&str>,
        origin: impl Fn(&str) -> Option<Origin>,
        faults: Vec<Fault>,
    ) -> Vec<Mistake> {
        faults
            .into_iter()
            .filter(|fault| {
                let refused = |key: &&str| self.entries.get(*key).is_some_and(|at| at.refused);
                !fault.keys.iter().any(refused)
            })
            .map(|fault| self.locate_one(path, &origin, fault))
            .collect()
    }

    fn locate_one(
        &self,
        path: Option<&str>,
        origin: &impl Fn(&str) -> Option<Origin>,
        fault: Fault,
    ) -> Mistake {
        let in_file = fault.keys.iter().find_map(|key| match origin(key) {
            None => self.entries.get(*key).map(|entry| (*key, entry)),
            Some(_) => None,
        });
        let mut flags = fault.keys.iter().filter_map(|key| origin(key));
        let Some((key, entry)) = in_file else {
            let key = flags.next().map(|origin| match origin {
                Origin::Flag(name) | Origin::Variable(name) => name,
            });
            return match path.filter(|_| fault.missing) {
                Some(path) => Mistake {
                    file: Some(path.to_owned()),
                    table: Some(self.name.to_owned()),
                    message: fault.message,
                    ..Mistake::default()
                },
                None => Mistake {
                    key,
                    message: fault.message,
                    ..Mistake::default()
                },
            };
        };
        let item = fault.item.filter(|_| fault.keys.first() == Some(&key));
        let item = item.and_then(|item| entry.items.get(item));
        let others: String = flags
            .map(|origin| match origin {
                Origin::Flag(name) => format!("; {name} is from the command line"),
                Origin::Variable(name) => format!("; {name} is from the environment"),
            })
            .collect();
        Mistake {
            file: path.map(str::to_owned),
            line: Some(item.copied().unwrap_or(entry.line)),
            column: None,
            table: Some(self.name.to_owned()),
            key: Some(key.to_owned()),
            message: fault.message + &others,
        }
    }
}
