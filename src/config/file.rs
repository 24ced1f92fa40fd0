//! The config file: tables of several kinds, read whole, with all mistakes and their lines.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use toml::Spanned;
use toml::de::{DeString, DeValue};

use super::catalogue;
use super::collect::{CollectConfig, CollectOptions};
use super::definition::command_of;
use super::file_bytes::read_bytes;
use super::lines::LineIndex;
use super::mistake::{ConfigError, Fault, Mistake, in_order};
use super::names_table;
use super::postcards::{PostcardsConfig, PostcardsOptions};
use super::run::{RunConfig, RunOptions};
use super::sink::SinkConfig;
use super::sink_options::SinkOptions;
use super::source::{SourceOptions, SourceSetup};
use super::syntax;
use super::table::{SettingsTable, TableReader, plain};
use super::table_hint::hint_for;
use super::table_name::{
    COLLECT, LIMITS, NAMES, POSTCARDS, QUEUE, RUN, SINK, SOURCE, TABLES, TCP, TRANSIT, WATCH,
};
use super::tcp::{TcpConfig, TcpOptions};
use super::transit::{TransitOptions, TransitSetup};
use super::value::kind_of;
use super::watch::FileRules;
use super::{one_node, static_form};
use crate::model::{NodeId, QueueRule, TrafficLimit, WatchPurpose, WatchRule};

pub(super) const EMPTY_RULE: &str =
    "a rule without keys would watch every packet (try to = \"10.0.0.0/8\")";

/// The settings of a command, which flags, environment variables and a table of the file can give.
pub trait CommandSettings: Args + Clone + Default {
    type Config;
    const TABLE: &'static str;
    /// Examples of command lines, which end the help.
    const EXAMPLES: &'static [&'static str];

    /// # Errors
    /// All faults.
    fn check(self) -> Result<Self::Config, Vec<Fault>>;

    fn table(file: &File) -> &SettingsTable<Self>;
}

macro_rules! settings {
    ($options:ty, $config:ty, $name:expr, $table:ident, $examples:expr) => {
        impl CommandSettings for $options {
            type Config = $config;
            const TABLE: &'static str = $name;
            const EXAMPLES: &'static [&'static str] = &$examples;

            fn check(self) -> Result<Self::Config, Vec<Fault>> {
                self.check()
            }

            fn table(file: &File) -> &SettingsTable<Self> {
                &file.$table
            }
        }
    };
}

settings!(RunOptions, RunConfig, RUN, run, ["hostint run"]);
settings!(
    SinkOptions,
    SinkConfig,
    SINK,
    sink,
    [
        "hostint sink --dev eth0 --node-id 2 --collector 192.0.2.9",
        "hostint sink --config /etc/hostint/hostint.toml",
        "hostint sink detach",
    ]
);
settings!(
    SourceOptions,
    SourceSetup,
    SOURCE,
    source,
    [
        "hostint source attach --dev eth0",
        "hostint source --dev eth0 --node-id 1",
        "hostint source attach --dev veth0 --hook tc-ingress --superpackets skip",
    ]
);
settings!(
    CollectOptions,
    CollectConfig,
    COLLECT,
    collect,
    [
        "hostint collect --http 127.0.0.1",
        "hostint collect --json --output reports.jsonl --output-size 100M",
        "hostint collect --read reports.pcap",
    ]
);
settings!(
    TransitOptions,
    TransitSetup,
    TRANSIT,
    transit,
    [
        "hostint transit attach --dev eth0,eth1 --node-id 7",
        "hostint transit --config /etc/hostint/hostint.toml",
        "hostint transit detach",
    ]
);
settings!(
    PostcardsOptions,
    PostcardsConfig,
    POSTCARDS,
    postcards,
    [
        "hostint postcards --drops",
        "hostint postcards --drops --once=10s --json",
        "hostint postcards --config /etc/hostint/hostint.toml",
    ]
);
settings!(
    TcpOptions,
    TcpConfig,
    TCP,
    tcp,
    [
        "hostint tcp",
        "hostint tcp --once=5s",
        "hostint tcp --config /etc/hostint/hostint.toml --json",
    ]
);

/// A parsed config file.
#[derive(Clone, Debug)]
pub struct File {
    pub path: PathBuf,
    pub run: SettingsTable<RunOptions>,
    pub sink: SettingsTable<SinkOptions>,
    pub source: SettingsTable<SourceOptions>,
    pub transit: SettingsTable<TransitOptions>,
    pub postcards: SettingsTable<PostcardsOptions>,
    pub tcp: SettingsTable<TcpOptions>,
    pub collect: SettingsTable<CollectOptions>,
    pub rules: Vec<FileRules>,
    /// The tables [[queue]], whose rules are among the options of postcards.
    pub queues: Vec<QueueRule>,
    pub limits: Vec<TrafficLimit>,
    /// The names that the collector gives nodes.
    pub names: BTreeMap<NodeId, String>,
    /// The tables that the file has, with the lines of their headers.
    pub tables: BTreeMap<&'static str, usize>,
}

fn reader<O: CommandSettings>() -> TableReader<O> {
    reader_of(O::TABLE)
}

pub(super) fn reader_of<O: Args + Default>(table: &'static str) -> TableReader<O> {
    TableReader::new(
        table,
        catalogue::command(table).unwrap_or_else(command_of::<O>),
    )
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
            run: SettingsTable::empty(RUN),
            sink: SettingsTable::empty(SINK),
            source: SettingsTable::empty(SOURCE),
            transit: SettingsTable::empty(TRANSIT),
            postcards: SettingsTable::empty(POSTCARDS),
            tcp: SettingsTable::empty(TCP),
            collect: SettingsTable::empty(COLLECT),
            rules: Vec::new(),
            queues: Vec::new(),
            limits: Vec::new(),
            names: BTreeMap::new(),
            tables: BTreeMap::new(),
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
        let lines = LineIndex::new(text);
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
        one_node::share([
            &mut file.sink.options.node_id,
            &mut file.source.options.node_id,
            &mut file.transit.options.node_id,
            &mut file.postcards.options.node_id,
            &mut file.tcp.options.node_id,
        ]);
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
        lines: &LineIndex<'_>,
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
        if let Some(table) = known {
            self.tables.insert(table, line);
        }
        match (known, value.get_ref()) {
            (Some(WATCH), DeValue::Array(rules)) => self.take_rules(rules, lines, mistakes),
            (Some(WATCH), other) => refuse(
                Some("watch"),
                format!("{} (expected [[watch]] above each rule)", kind_of(other)),
            ),
            (Some(QUEUE), DeValue::Array(all)) => self.take_queues(all, lines, mistakes),
            (Some(LIMITS), DeValue::Array(all)) => self.take_limits(all, lines, mistakes),
            (Some(table @ (QUEUE | LIMITS)), other) => refuse(
                Some(table),
                format!("{} (expected [[{table}]] above each)", kind_of(other)),
            ),
            (Some(table), DeValue::Table(keys)) => match table {
                RUN => self.run = reader().read(keys, lines, mistakes),
                SINK => self.sink = reader().read(keys, lines, mistakes),
                SOURCE => self.source = reader().read(keys, lines, mistakes),
                TRANSIT => self.transit = reader().read(keys, lines, mistakes),
                POSTCARDS => self.postcards = reader().read(keys, lines, mistakes),
                TCP => self.tcp = reader().read(keys, lines, mistakes),
                NAMES => self.names = names_table::read(keys, lines, mistakes),
                _ => self.collect = reader().read(keys, lines, mistakes),
            },
            (Some(table), other) => refuse(
                Some(table),
                format!("{} (expected one table [{table}])", kind_of(other)),
            ),
            (None, value) => {
                let shown = plain(name.get_ref());
                let hint = hint_for(name.get_ref());
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

    /// The rules of a file for this purpose; none without a file.
    pub fn rules_for(file: Option<&Self>, purpose: WatchPurpose) -> Vec<WatchRule> {
        let all = file.map_or(&[][..], |file| &file.rules);
        let fitting = all.iter().filter(|one| one.purposes.contains(&purpose));
        fitting.flat_map(|one| one.rules.iter().cloned()).collect()
    }

    /// Mistakes within one table. Settings that are missing may still be given by flags.
    pub fn check_table<O: CommandSettings>(&self) -> Vec<Mistake> {
        self.check_as_far::<O>(|_| true)
    }

    /// The same for a table of another command, whose secret files this command may be unable to read.
    pub fn check_others_table<O: CommandSettings>(&self) -> Vec<Mistake> {
        self.check_as_far::<O>(|fault| !fault.secret)
    }

    fn check_as_far<O: CommandSettings>(&self, counts: impl Fn(&Fault) -> bool) -> Vec<Mistake> {
        let table = O::table(self);
        let Err(mut faults) = table.options.clone().check() else {
            return Vec::new();
        };
        faults.retain(|fault| !fault.missing && counts(fault));
        table.locate(Some(&self.path.display().to_string()), |_| None, faults)
    }

    /// Reads a file that has no mistakes.
    ///
    /// # Errors
    /// All mistakes, in the order of their lines.
    pub fn check(path: &Path) -> Result<Self, ConfigError> {
        Self::check_with(path, Self::check_table::<CollectOptions>)
    }

    /// The same for the agent: the collector may be another user, whose secrets the agent cannot read.
    ///
    /// # Errors
    /// All mistakes, in the order of their lines.
    pub fn check_but_collectors_secrets(path: &Path) -> Result<Self, ConfigError> {
        Self::check_with(path, Self::check_others_table::<CollectOptions>)
    }

    fn check_with(
        path: &Path,
        collect: impl Fn(&Self) -> Vec<Mistake>,
    ) -> Result<Self, ConfigError> {
        let (file, mut mistakes) = Self::read(path)?;
        file.check_tables_with(collect, &mut mistakes);
        let rules = Self::rules_for(Some(&file), WatchPurpose::Int);
        let why = static_form::check(&file.source.options, &rules);
        mistakes.extend(why.map(|why| file.source.mistake_at(&file.path, "encap", why)));
        if mistakes.is_empty() {
            Ok(file)
        } else {
            Err(ConfigError(mistakes))
        }
    }

    /// Returns the mistakes of tables that give this host another node id than the first one of them does.
    pub fn check_one_node(&self) -> Vec<Mistake> {
        one_node::check(&self.path, &self.sink, &self.source, &self.transit)
    }

    /// Adds the mistakes within and between tables, and sorts all of them by line.
    pub fn check_tables(&self, mistakes: &mut Vec<Mistake>) {
        self.check_tables_with(Self::check_table::<CollectOptions>, mistakes);
    }

    fn check_tables_with(
        &self,
        collect: impl Fn(&Self) -> Vec<Mistake>,
        mistakes: &mut Vec<Mistake>,
    ) {
        mistakes.extend(self.check_table::<RunOptions>());
        mistakes.extend(self.check_table::<SinkOptions>());
        mistakes.extend(self.check_table::<SourceOptions>());
        mistakes.extend(self.check_table::<TransitOptions>());
        mistakes.extend(self.check_table::<PostcardsOptions>());
        mistakes.extend(self.check_table::<TcpOptions>());
        mistakes.extend(collect(self));
        mistakes.extend(self.check_one_node());
        in_order(mistakes);
    }
}
