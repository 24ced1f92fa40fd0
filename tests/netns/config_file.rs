//! A config file that changes while a daemon runs.

use std::fs;
use std::path::PathBuf;

use hostint_testing::netns::{Daemon, Host, await_that_or};
use nix::sys::signal::Signal;

/// A host's config file; it goes with its guard.
pub struct Config(PathBuf);

impl Config {
    pub fn new(host: &Host, text: &str) -> Self {
        let config = Self(std::env::temp_dir().join(format!("{}.toml", host.ns)));
        config.write(text);
        config
    }

    pub fn write(&self, text: &str) {
        fs::write(&self.0, text).unwrap();
    }

    pub fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }

    /// Writes, asks the daemon to read, and gives back what it says up to `until`.
    pub fn reload(&self, daemon: &Daemon, text: &str, until: &str) -> String {
        let before = daemon.stderr().len();
        self.write(text);
        daemon.signal(Signal::SIGHUP);
        let said = || daemon.stderr()[before..].to_owned();
        await_that_or(
            || said().contains(until),
            || format!("never said {until:?}: {}", said()),
        );
        said()
    }

    pub fn applies(&self, daemon: &Daemon, text: &str) -> String {
        self.reload(daemon, text, " applied: ")
    }

    pub fn refuses(&self, daemon: &Daemon, text: &str) -> String {
        self.reload(daemon, text, "all settings stay as they were")
    }
}

impl Drop for Config {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
