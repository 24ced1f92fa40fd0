//! What a preflight looks at: what flags name, else what the config file does.

use std::path::{Path, PathBuf};

use crate::cli::StatusArgs;
use crate::config::{ConfigError, File, Mistake, USUAL_FILE, read_key};
use crate::model::preflight::Finding;

/// What is looked at, and what was found while that was read.
#[derive(Default)]
pub struct Wanted {
    pub devs: Vec<String>,
    pub collectors: Vec<String>,
    /// Of --encap extension-udp.
    pub extension_ports: Vec<u16>,
    pub findings: Vec<Finding>,
}

impl Wanted {
    pub fn of(args: &StatusArgs) -> Self {
        let mut wanted = Self::default();
        if let Some(path) = path(args) {
            wanted.read(&path);
        }
        if !args.dev.is_empty() {
            wanted.devs.clone_from(&args.dev);
        }
        if !args.collector.is_empty() {
            wanted.collectors.clone_from(&args.collector);
        }
        wanted
    }

    fn read(&mut self, path: &Path) {
        let (file, mut mistakes) = match File::read(path) {
            Ok(read) => read,
            Err(ConfigError(mistakes)) => return self.tell(&mistakes),
        };
        file.check_tables(&mut mistakes);
        self.tell(&mistakes);
        if mistakes.is_empty() {
            let found = format!("{}: {}", path.display(), file.summary());
            self.findings.push(Finding::ok("config", found));
        }
        let (sink, source) = (&file.sink.options, &file.source.options);
        self.devs.extend_from_slice(&sink.dev);
        let others = source.dev.iter().filter(|dev| !sink.dev.contains(dev));
        self.devs.extend(others.cloned());
        self.collectors.clone_from(&sink.collector);
        let ports = [sink.extension_port, source.extension_port];
        self.extension_ports.extend(ports.into_iter().flatten());
        let mut keys: Vec<_> = [&sink.lease_key, &source.lease_key]
            .into_iter()
            .flatten()
            .collect();
        keys.dedup();
        // One that cannot be used is a mistake of the file.
        for key in keys.into_iter().filter(|key| read_key(key).is_ok()) {
            let found = format!("{}: a key that only its owner reads", key.display());
            self.findings.push(Finding::ok("lease-key", found));
        }
    }

    fn tell(&mut self, mistakes: &[Mistake]) {
        let told = mistakes
            .iter()
            .map(|one| Finding::fail("config", one.to_string()).advise("see hostint.toml(5)"));
        self.findings.extend(told);
    }
}

/// The file that is named, else that of the services, if it is there.
fn path(args: &StatusArgs) -> Option<PathBuf> {
    let named = args.config.clone();
    named
        .or_else(|| std::env::var_os("HOSTINT_CONFIG").map(PathBuf::from))
        .or_else(|| Some(PathBuf::from(USUAL_FILE)).filter(|path| path.exists()))
}
