//! All counters of a host, with how fast they move.

use crate::model::HostStatus;

/// Who counts.
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
    /// How many a second since the last look.
    pub rate: Option<f64>,
}

/// What was counted, counters that are 0 last; rates by what the look before had.
pub fn counters(status: &HostStatus, before: &[Counter], seconds: Option<f64>) -> Vec<Counter> {
    let mut all = Vec::new();
    let mut add = |section, name: &'static str, text, count| {
        let known = before
            .iter()
            .find(|one| one.section == section && one.name == name);
        let rate = match (known, seconds) {
            // Less than before: counted anew.
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
            // Times, and the process: they count nothing.
            if !one.name.ends_with("_ns") && one.name != "pid" {
                add(Section::Daemon, one.name, one.text, one.value);
            }
        }
    }
    all.sort_by_key(|one| (one.count == 0, one.section as u8));
    all
}

/// How fast one of them moves.
pub fn rate(all: &[Counter], section: Section, name: &str) -> Option<f64> {
    let found = all
        .iter()
        .find(|one| one.section == section && one.name == name);
    found.and_then(|one| one.rate)
}
