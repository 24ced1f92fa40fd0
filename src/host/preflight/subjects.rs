//! The subjects of a preflight: those that flags name, else those of the config file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::slice;

use super::addresses::{judge_addresses, place};
use crate::config::{ConfigError, File, Mistake, SettingsTable, USUAL_FILE, read_key};
use crate::host::interfaces::named_by;
use crate::model::preflight::{FilePlace, Finding};

/// What flags say of a preflight.
#[derive(Clone, Copy, Debug)]
pub struct PreflightQuery<'a> {
    pub config: Option<&'a Path>,
    pub devs: &'a [String],
    pub collectors: &'a [String],
}

/// The subjects of a preflight, and what was found while the config file was read.
#[derive(Default)]
pub struct Subjects {
    pub devs: Vec<String>,
    pub collectors: Vec<String>,
    /// The ports of --encap extension-udp.
    pub extension_ports: Vec<u16>,
    pub findings: Vec<Finding>,
    /// Where the file names interfaces and collectors.
    places: BTreeMap<String, FilePlace>,
}

impl Subjects {
    pub fn of(query: PreflightQuery<'_>) -> Self {
        let mut subjects = Self::default();
        if let Some(path) = config_path(query.config) {
            subjects.read(&path);
        }
        if !query.devs.is_empty() {
            subjects.devs = query.devs.to_vec();
        }
        if !query.collectors.is_empty() {
            subjects.collectors = query.collectors.to_vec();
        }
        subjects
    }

    fn read(&mut self, path: &Path) {
        let (file, mut mistakes) = match File::read(path) {
            Ok(read) => read,
            Err(ConfigError(mistakes)) => return self.report(&mistakes),
        };
        file.check_tables(&mut mistakes);
        self.report(&mistakes);
        if mistakes.is_empty() {
            let found = format!("{}: {}", path.display(), file.summary());
            self.findings.push(Finding::ok("config", found));
        }
        let (sink, source) = (&file.sink.options, &file.source.options);
        let transit = &file.transit.options;
        self.take_devs(&file.sink, &sink.dev);
        self.take_devs(&file.source, &source.dev);
        self.take_devs(&file.transit, &transit.dev);
        self.take_collectors(&file.sink, &sink.collector);
        self.take_collectors(&file.source, &source.collector);
        self.take_collectors(&file.postcards, &file.postcards.options.collector);
        self.take_collectors(&file.tcp, &file.tcp.options.collector);
        self.findings.extend(judge_addresses(&file));
        let ports = [
            sink.marks.extension_port,
            source.marks.extension_port,
            transit.marks.extension_port,
        ];
        self.extension_ports.extend(ports.into_iter().flatten());
        let mut keys: Vec<_> = [&sink.lease_key, &source.lease_key]
            .into_iter()
            .flatten()
            .collect();
        keys.dedup();
        // A key that cannot be used was reported as a mistake of the file.
        for key in keys.into_iter().filter(|key| read_key(key).is_ok()) {
            let found = format!("{}: a key that only its owner reads", key.display());
            self.findings.push(Finding::ok("lease-key", found));
        }
    }

    /// The interfaces that a table names.
    fn take_devs<O>(&mut self, table: &SettingsTable<O>, words: &[String]) {
        for (item, word) in words.iter().enumerate() {
            let place = place(table, "dev", item);
            match named_by(slice::from_ref(word)) {
                Ok(devs) => devs
                    .into_iter()
                    .for_each(|dev| take(dev, place.clone(), &mut self.devs, &mut self.places)),
                Err(err) => self.findings.push(
                    Finding::fail("interface", format!("{err:#}"))
                        .advise("see ip link, ip route")
                        .at(place),
                ),
            }
        }
    }

    fn take_collectors<O>(&mut self, table: &SettingsTable<O>, names: &[String]) {
        for (item, name) in names.iter().enumerate() {
            let place = place(table, "collector", item);
            take(name.clone(), place, &mut self.collectors, &mut self.places);
        }
    }

    /// Where the file names an interface or a collector.
    pub fn place_of(&self, name: &str) -> Option<FilePlace> {
        self.places.get(name).cloned()
    }

    fn report(&mut self, mistakes: &[Mistake]) {
        self.findings.extend(mistakes.iter().map(|mistake| {
            Finding::fail("config", mistake.to_string()).advise("see hostint.toml(5)")
        }));
    }
}

/// The history that the collector of the config file keeps, if it names one.
pub fn store_of(config: Option<&Path>) -> Option<PathBuf> {
    let (file, _) = File::read(&config_path(config)?).ok()?;
    file.collect.options.store.store.map(PathBuf::from)
}

/// Takes what a table names, unless another one has before.
fn take(
    name: String,
    place: Option<FilePlace>,
    names: &mut Vec<String>,
    places: &mut BTreeMap<String, FilePlace>,
) {
    if !names.contains(&name) {
        places.extend(place.map(|place| (name.clone(), place)));
        names.push(name);
    }
}

/// The file that is named, else that of the services, if it is there.
fn config_path(named: Option<&Path>) -> Option<PathBuf> {
    named
        .map(Path::to_owned)
        .or_else(|| std::env::var_os("HOSTINT_CONFIG").map(PathBuf::from))
        .or_else(|| Some(PathBuf::from(USUAL_FILE)).filter(|path| path.exists()))
}
