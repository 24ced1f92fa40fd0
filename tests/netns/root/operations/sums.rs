//! The sums of all runs: how many operations of each kind, packets and bytes, in a file that later runs add to.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Names and counts. A file has a line for each.
pub struct Sums {
    path: Option<PathBuf>,
    pub counts: BTreeMap<String, u64>,
}

impl Sums {
    /// Reads the file that `HOSTINT_OPERATION_SUMS` names; without one nothing is kept.
    pub fn from_env() -> Self {
        let path = std::env::var_os("HOSTINT_OPERATION_SUMS").map(PathBuf::from);
        let text = path.as_ref().map(std::fs::read_to_string);
        let text = text.and_then(Result::ok).unwrap_or_default();
        let line = |line: &str| {
            let (count, name) = line.trim().split_once(' ').unwrap();
            (name.to_owned(), count.parse().unwrap())
        };
        Self {
            path,
            counts: text.lines().map(line).collect(),
        }
    }

    pub fn get(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or(0)
    }

    pub fn add(&mut self, name: &str, count: u64) {
        *self.counts.entry(name.to_owned()).or_default() += count;
    }

    /// Writes the file whole, so that a run that is ended loses its last round at most.
    pub fn save(&self) {
        let Some(path) = &self.path else {
            return;
        };
        let beside = path.with_extension("new");
        std::fs::write(&beside, self.to_string()).unwrap();
        std::fs::rename(&beside, path).unwrap();
    }
}

impl std::fmt::Display for Sums {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut lines = String::new();
        for (name, count) in &self.counts {
            writeln!(lines, "{count:>12} {name}")?;
        }
        f.write_str(&lines)
    }
}
