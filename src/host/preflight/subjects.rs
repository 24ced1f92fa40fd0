//! The subjects of a preflight: those that flags name, else those of the config file.

use std::path::{Path, PathBuf};

use crate::config::{ConfigError, File, Mistake, USUAL_FILE, read_key};
use crate::host::interfaces::named_by;
use crate::model::preflight::Finding;

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
        for dev in sink.dev.iter().chain(&source.dev).chain(&transit.dev) {
            if !self.devs.contains(dev) {
                self.devs.push(dev.clone());
            }
        }
        match named_by(&self.devs) {
            Ok(devs) => self.devs = devs,
            Err(err) => {
                let found = Finding::fail("interface", format!("{err:#}"));
                self.findings.push(found.advise("see ip link, ip route"));
            }
        }
        self.collectors.clone_from(&sink.collector);
        for one in source
            .collector
            .iter()
            .chain(&file.postcards.options.collector)
            .chain(&file.tcp.options.collector)
        {
            if !self.collectors.contains(one) {
                self.collectors.push(one.clone());
            }
        }
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

    fn report(&mut self, mistakes: &[Mistake]) {
        self.findings.extend(mistakes.iter().map(|mistake| {
            Finding::fail("config", mistake.to_string()).advise("see hostint.toml(5)")
        }));
    }
}

/// The file that is named, else that of the services, if it is there.
fn config_path(named: Option<&Path>) -> Option<PathBuf> {
    named
        .map(Path::to_owned)
        .or_else(|| std::env::var_os("HOSTINT_CONFIG").map(PathBuf::from))
        .or_else(|| Some(PathBuf::from(USUAL_FILE)).filter(|path| path.exists()))
}
