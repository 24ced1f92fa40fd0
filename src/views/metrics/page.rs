//! Metrics as lines: families with help and type, their values with labels.

use std::collections::HashMap;
use std::fmt::{Display, Write};

/// The label of what shares a sum because there is too much of its kind; no class can be named so.
pub const OTHER: &str = "_other";

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    Counter,
    Gauge,
    Histogram,
}

/// What a scrape gets.
#[derive(Default)]
pub struct Page(pub String);

/// A metric, whose values follow.
pub struct Family<'a> {
    page: &'a mut Page,
    name: &'a str,
}

impl Page {
    pub fn family<'a>(&'a mut self, name: &'a str, kind: Kind, help: &str) -> Family<'a> {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        let help = help.replace('\\', "\\\\").replace('\n', "\\n");
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
        Family { page: self, name }
    }
}

impl Family<'_> {
    pub fn value(&mut self, labels: &[(&str, &str)], value: impl Display) {
        self.part("", labels, value);
    }

    /// A value of a histogram: its name has a suffix.
    pub fn part(&mut self, suffix: &str, labels: &[(&str, &str)], value: impl Display) {
        let out = &mut self.page.0;
        let _ = write!(out, "{}{suffix}", self.name);
        for (i, (name, text)) in labels.iter().enumerate() {
            let _ = write!(out, "{}{name}=\"", if i == 0 { '{' } else { ',' });
            for c in text.chars() {
                match c {
                    '\\' => out.push_str("\\\\"),
                    '"' => out.push_str("\\\""),
                    '\n' => out.push_str("\\n"),
                    c => out.push(c),
                }
            }
            out.push('"');
        }
        let end = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(out, "{end} {value}");
    }
}

/// The most that counters said so far: who reads them takes one that falls for one that began anew.
#[derive(Debug, Default)]
pub struct Rising(HashMap<(&'static str, String), u64>);

impl Rising {
    /// The value, or what was told before if that is more.
    pub fn at_least(&mut self, name: &'static str, label: &str, value: u64) -> u64 {
        let most = self.0.entry((name, label.to_owned())).or_default();
        *most = value.max(*most);
        *most
    }
}
