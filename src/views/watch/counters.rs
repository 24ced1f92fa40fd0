//! All counters of a host, with their rates.

use crate::model::HostStatus;

/// The origin of a counter.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Section {
    Sink,
    Source,
    Daemon,
}

impl Section {
    pub fn name(self) -> &'static str {
        match self {
            Self::Sink => "sink",
            Self::Source => "source",
            Self::Daemon => "daemon",
        }
    }
}

/// One counter.
#[derive(Clone, Debug)]
pub struct Counter {
    pub section: Section,
    pub name: &'static str,
    pub text: &'static str,
    pub count: u64,
    /// Increments per second since the last refresh.
    pub rate: Option<f64>,
}

/// All counters, those that are 0 last; rates are relative to the refresh before.
pub fn counters(status: &HostStatus, before: &[Counter], seconds: Option<f64>) -> Vec<Counter> {
    let mut all = Vec::new();
    let mut add = |section, name: &'static str, text, count| {
        let known = before
            .iter()
            .find(|one| one.section == section && one.name == name);
        let rate = match (known, seconds) {
            // A smaller value means that the count restarted.
            (Some(known), Some(seconds)) if seconds > 0.0 && count >= known.count => {
                Some((count - known.count) as f64 / seconds)
            }
            _ => None,
        };
        all.push(Counter {
            section,
            name,
            text,
            count,
            rate,
        });
    };
    if let Some(sink) = &status.sink {
        for one in &sink.counters {
            add(Section::Sink, one.name, one.text, one.packets);
        }
    }
    if let Some(source) = &status.source {
        for one in &source.counters {
            add(Section::Source, one.name, one.text, one.packets);
        }
    }
    if let Some(sink) = &status.sink {
        for one in &sink.daemon {
            // Times and the process id do not count anything.
            if !one.name.ends_with("_ns") && one.name != "pid" {
                add(Section::Daemon, one.name, one.text, one.value);
            }
        }
    }
    all.sort_by_key(|one| (one.count == 0, one.section as u8));
    all
}

/// The rate of one counter.
pub fn rate(all: &[Counter], section: Section, name: &str) -> Option<f64> {
    let found = all
        .iter()
        .find(|one| one.section == section && one.name == name);
    found.and_then(|one| one.rate)
}
